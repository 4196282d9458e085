//! Reports a run as JSON lines on standard output, in the format of results files.

use std::borrow::Cow;
use std::io::{self, Write};

use super::{Report, Tally};
use crate::results::{Event, Lines};
use crate::{CaseResult, Status};

/// Writes the line with the result of a case.
pub(crate) fn case(to: &mut Lines<impl Write>, result: &CaseResult, repro: &str) -> io::Result<()> {
    let repro = result.outcome.status.is_failure().then(|| repro.to_owned());
    to.write(&Event::Case { result: Cow::Borrowed(result), repro })
}

/// Writes the lines that follow all cases: totals, errors and the exit status.
pub(crate) fn end(to: &mut Lines<impl Write>, report: &Report) -> io::Result<()> {
    for (target, tally) in &report.targets {
        to.write(&summary(target, tally))?;
    }
    for error in &report.errors {
        to.write(&Event::Error { message: error.to_string() })?;
    }
    to.write(&Event::End { exit: report.exit_status() as u8 })
}

fn summary<'a>(target: &'a str, tally: &Tally) -> Event<'a> {
    let statuses = Status::ALL.iter().map(|status| (*status, tally.statuses.get(status).copied().unwrap_or(0)));
    Event::Summary {
        target: Cow::Borrowed(target),
        chosen: tally.chosen,
        not_run: tally.not_run(),
        statuses: statuses.collect(),
        levels: tally.levels.clone(),
    }
}
