//! The lines.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::Environment;
use crate::{CaseResult, Level, Status};

/// What a line says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub(crate) enum Event<'a> {
    /// A run begins.
    Begin {
        environment: Cow<'a, Environment>,
        /// How many cases of each target it is to run.
        chosen: Cow<'a, BTreeMap<String, usize>>,
    },
    /// A case has an outcome.
    Case {
        #[serde(flatten)]
        result: Cow<'a, CaseResult>,
        /// Absent for cases that nobody needs to run again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repro: Option<String>,
    },
    /// What a target's cases add up to.
    Summary {
        target: Cow<'a, str>,
        chosen: usize,
        not_run: usize,
        statuses: BTreeMap<Status, usize>,
        levels: BTreeMap<Level, usize>,
    },
    /// The harness failed.
    Error { message: String },
    /// The run has ended, with this exit status.
    End { exit: u8 },
}

/// Writes lines.
pub(crate) struct Lines<W> {
    to: W,
}

impl<W: Write> Lines<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to }
    }

    /// What was written to.
    pub(crate) fn into_inner(self) -> W {
        self.to
    }

    /// Writes one line, in one piece.
    pub(crate) fn write(&mut self, event: &Event<'_>) -> io::Result<()> {
        let mut line = serde_json::to_string(event)?;
        line.push('\n');
        self.to.write_all(line.as_bytes())?;
        self.to.flush()
    }
}
