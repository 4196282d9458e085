//! The lines of a results file, which a run of the suite writes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::RunMetadata;
use crate::{CaseResult, EvidenceLevel, Status};

/// The content of one line of a results file (JSON lines that a run writes).
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum Event<'a> {
    /// A run of the suite begins, or is resumed.
    Begin {
        environment: Cow<'a, RunMetadata>,
        /// For each target, the number of cases that were chosen to run.
        chosen: Cow<'a, BTreeMap<String, usize>>,
    },
    /// A case has ended with an outcome.
    Case {
        #[serde(flatten)]
        result: Cow<'a, CaseResult>,
        /// The command that repeats the case; `None` for a case that did not fail.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repro: Option<String>,
    },
    /// Totals of the cases of a target.
    Summary {
        target: Cow<'a, str>,
        chosen: usize,
        not_run: usize,
        statuses: BTreeMap<Status, usize>,
        levels: BTreeMap<EvidenceLevel, usize>,
    },
    /// The harness (the program that runs the cases) failed, so that some cases have no outcome.
    Error { message: String },
    /// The run has ended, with this exit status.
    End { exit: u8 },
}

/// Writes events to a results file or to standard output, as JSON lines.
pub(crate) struct Lines<W> {
    to: W,
}

impl<W: Write> Lines<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to }
    }

    /// Returns the writer that the lines were written to.
    pub(crate) fn into_inner(self) -> W {
        self.to
    }

    /// Writes one line by a single call of the writer, so that an interrupted run leaves only complete lines.
    pub(crate) fn write(&mut self, event: &Event<'_>) -> io::Result<()> {
        let mut line = serde_json::to_string(event)?;
        line.push('\n');
        self.to.write_all(line.as_bytes())?;
        self.to.flush()
    }
}
