//! A run as JSON lines: one `case` a line as soon as it has ended, then one `summary` for each
//! target, `error`s of the harness, and one `end`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::{Report, Tally};
use crate::{CaseResult, Level, Status};

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event<'a> {
    Case {
        #[serde(flatten)]
        result: &'a CaseResult,
        /// Absent for cases that nobody needs to run again.
        #[serde(skip_serializing_if = "Option::is_none")]
        repro: Option<String>,
    },
    Summary {
        target: &'a str,
        chosen: usize,
        not_run: usize,
        statuses: BTreeMap<Status, usize>,
        levels: BTreeMap<Level, usize>,
    },
    Error {
        message: String,
    },
    End {
        exit: u8,
    },
}

/// Writes JSON lines.
pub(crate) struct Lines<W> {
    to: W,
}

impl<W: Write> Lines<W> {
    pub(crate) fn new(to: W) -> Self {
        Self { to }
    }

    pub(crate) fn case(&mut self, result: &CaseResult, repro: &str) -> io::Result<()> {
        let repro = result.outcome.status.is_failure().then(|| repro.to_owned());
        self.write(&Event::Case { result, repro })
    }

    pub(crate) fn end(&mut self, report: &Report) -> io::Result<()> {
        for (target, tally) in &report.targets {
            self.write(&summary(target, tally))?;
        }
        for error in &report.errors {
            self.write(&Event::Error { message: error.to_string() })?;
        }
        self.write(&Event::End { exit: report.exit() as u8 })
    }

    fn write(&mut self, event: &Event<'_>) -> io::Result<()> {
        writeln!(self.to, "{}", serde_json::to_string(event)?)?;
        self.to.flush()
    }
}

fn summary<'a>(target: &'a str, tally: &Tally) -> Event<'a> {
    let statuses = Status::ALL.iter().map(|status| (*status, tally.statuses.get(status).copied().unwrap_or(0)));
    Event::Summary {
        target,
        chosen: tally.chosen,
        not_run: tally.not_run(),
        statuses: statuses.collect(),
        levels: tally.levels.clone(),
    }
}
