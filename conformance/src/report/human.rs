//! Reports a run as text for people: failures as they occur, each with the command that repeats it, then a table.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use console::{Style, StyledObject};

use super::reasons::reasons;
use super::{Report, Tally};
use crate::{CaseResult, EvidenceLevel, Status};

/// Writes the report of a run as text for people.
pub(crate) struct Human<W> {
    to: W,
    colour: bool,
    slowest: usize,
}

/// Min duration of a case that is listed as slow.
const SLOW: Duration = Duration::from_millis(500);
/// Statuses with a column in every table; other statuses have a column only if a case has them.
const USUAL: [Status; 7] =
    [Status::Pass, Status::Fail, Status::Quality, Status::Unsupported, Status::Skip, Status::Crash, Status::Timeout];

impl<W: Write> Human<W> {
    /// Creates the report, which lists the `slowest` slowest cases. `colour` is for terminals.
    pub(crate) fn new(to: W, colour: bool, slowest: usize) -> Self {
        Self { to, colour, slowest }
    }

    pub(crate) fn case(&mut self, result: &CaseResult, repro: &str) -> io::Result<()> {
        let outcome = &result.outcome;
        if !outcome.status.is_failure() {
            return Ok(());
        }
        let status = styled(self.colour, outcome.status, outcome.status.name());
        write_failure(&mut self.to, &status, result, repro)
    }

    pub(crate) fn end(&mut self, report: &Report) -> io::Result<()> {
        for (target, tally) in &report.targets {
            self.table(target, tally)?;
            self.reasons(tally)?;
        }
        self.slowest(report)?;
        for error in &report.errors {
            writeln!(self.to, "{}: {error}", styled(self.colour, Status::Crash, "harness error"))?;
        }
        if report.count_not_run() > 0 {
            writeln!(self.to, "{} cases were chosen and not run", report.count_not_run())?;
        }
        self.to.flush()
    }

    fn table(&mut self, target: &str, tally: &Tally) -> io::Result<()> {
        let groups = tally.groups.keys().map(String::len);
        let width = groups.chain([target.len(), "not run".len()]).max().unwrap_or(0);
        write!(self.to, "{target:width$}")?;
        let columns: Vec<_> = Status::ALL
            .into_iter()
            .filter(|status| USUAL.contains(status) || tally.statuses.contains_key(status))
            .collect();
        for status in &columns {
            write!(self.to, "  {:>5}", status.name())?;
        }
        writeln!(self.to)?;
        for (group, counts) in &tally.groups {
            self.row(group, width, &columns, counts)?;
        }
        if tally.groups.len() > 1 {
            self.row("all", width, &columns, &tally.statuses)?;
        }
        let levels = EvidenceLevel::ALL.iter().filter_map(|level| Some((level, tally.levels.get(level)?)));
        let levels: Vec<_> = levels.map(|(level, count)| format!("{count} {level}")).collect();
        let levels = if levels.is_empty() { "nothing".to_owned() } else { levels.join(", ") };
        writeln!(self.to, "shown at level: {levels}")
    }

    fn row(
        &mut self,
        name: &str,
        width: usize,
        columns: &[Status],
        counts: &BTreeMap<Status, usize>,
    ) -> io::Result<()> {
        write!(self.to, "{name:width$}")?;
        for &status in columns {
            let count = counts.get(&status).copied().unwrap_or(0);
            let cell = format!("{count:>width$}", width = status.name().len().max(5));
            // Zeros are the desired values in most columns, so they are not coloured.
            write!(self.to, "  {}", styled(self.colour && count > 0, status, &cell))?;
        }
        writeln!(self.to)
    }

    fn slowest(&mut self, report: &Report) -> io::Result<()> {
        let slow = report.slowest(self.slowest, SLOW);
        if !slow.is_empty() {
            writeln!(self.to, "slowest:")?;
        }
        for result in slow {
            let seconds = result.outcome.duration.as_secs_f64();
            writeln!(self.to, "    {seconds:>6.1} s  {} {}", result.target, result.name)?;
        }
        Ok(())
    }

    fn reasons(&mut self, tally: &Tally) -> io::Result<()> {
        if let Some(count) = tally.statuses.get(&Status::Quality).filter(|count| **count > 0) {
            let plan_context = "passes above the lower bound of any plan; --message-format json prints the reasons";
            writeln!(self.to, "{} ({count}): {plan_context}", Status::Quality)?;
        }
        for reason in reasons(tally) {
            let example = reason.names.first().unwrap_or(&"");
            let text = reason.text.replace('\n', "; ");
            writeln!(self.to, "{} ({}): {text}; for example {example}", reason.status, reason.names.len())?;
        }
        Ok(())
    }
}

fn write_failure(to: &mut impl Write, status: &StyledObject<&str>, result: &CaseResult, repro: &str) -> io::Result<()> {
    writeln!(to, "{status} {} {}", result.target, result.name)?;
    for line in result.outcome.detail.lines() {
        writeln!(to, "    {line}")?;
    }
    writeln!(to, "    rerun: {repro}")?;
    to.flush()
}

fn styled(colour: bool, status: Status, text: &str) -> StyledObject<&str> {
    let style = match status {
        Status::Pass => Style::new().green(),
        Status::Fail | Status::Crash | Status::Timeout | Status::XPass => Style::new().red(),
        Status::Quality | Status::Flake => Style::new().yellow(),
        Status::Unsupported | Status::Skip | Status::XFail => Style::new().cyan(),
    };
    style.force_styling(colour).apply_to(text)
}
