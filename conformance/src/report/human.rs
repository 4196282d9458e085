//! A run for people: failures as they come, each with the line that runs it again, then a table.

use std::io::{self, Write};

use console::{Style, StyledObject};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Report, Tally};
use crate::{CaseResult, Level, Status};

/// Cases named of each reason that has several.
const NAMED: usize = 3;

/// Writes for people.
pub(crate) struct Human<W> {
    to: W,
    colour: bool,
    bar: ProgressBar,
    failures: usize,
}

impl<W: Write> Human<W> {
    /// Colour and the bar are for terminals.
    pub(crate) fn new(to: W, colour: bool, bar: bool, cases: usize) -> Self {
        let draw = if bar { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(cases as u64), draw);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        Self { to, colour, bar, failures: 0 }
    }

    pub(crate) fn case(&mut self, result: &CaseResult, repro: &str) -> io::Result<()> {
        let outcome = &result.outcome;
        let mut written = Ok(());
        if outcome.status.is_failure() {
            self.failures += 1;
            let status = styled(self.colour, outcome.status, outcome.status.name());
            let (to, bar) = (&mut self.to, &self.bar);
            bar.suspend(|| {
                written = write_failure(to, &status, result, repro);
            });
            self.bar.set_message(format!("{} failed", self.failures));
        }
        self.bar.inc(1);
        written
    }

    pub(crate) fn end(&mut self, report: &Report) -> io::Result<()> {
        self.bar.finish_and_clear();
        for (target, tally) in &report.targets {
            self.table(target, tally)?;
            self.reasons(tally)?;
        }
        for error in &report.errors {
            writeln!(self.to, "{}: {error}", styled(self.colour, Status::Crash, "harness error"))?;
        }
        if report.not_run() > 0 {
            writeln!(self.to, "{} cases were chosen and not run", report.not_run())?;
        }
        self.to.flush()
    }

    fn table(&mut self, target: &str, tally: &Tally) -> io::Result<()> {
        let groups = tally.groups.keys().map(String::len);
        let width = groups.chain([target.len(), "not run".len()]).max().unwrap_or(0);
        write!(self.to, "{target:width$}")?;
        for status in Status::ALL {
            write!(self.to, "  {:>5}", status.name())?;
        }
        writeln!(self.to)?;
        for (group, counts) in &tally.groups {
            self.row(group, width, |status| counts.get(&status).copied().unwrap_or(0))?;
        }
        if tally.groups.len() > 1 {
            self.row("all", width, |status| tally.statuses.get(&status).copied().unwrap_or(0))?;
        }
        let levels = Level::ALL.iter().filter_map(|level| Some((level, tally.levels.get(level)?)));
        let levels: Vec<_> = levels.map(|(level, count)| format!("{count} {level}")).collect();
        let levels = if levels.is_empty() { "nothing".to_owned() } else { levels.join(", ") };
        writeln!(self.to, "shown at level: {levels}")
    }

    fn row(&mut self, name: &str, width: usize, count: impl Fn(Status) -> usize) -> io::Result<()> {
        write!(self.to, "{name:width$}")?;
        for status in Status::ALL {
            let count = count(status);
            let cell = format!("{count:>width$}", width = status.name().len().max(5));
            // Zeros are what one hopes for in most columns: they stay plain.
            write!(self.to, "  {}", styled(self.colour && count > 0, status, &cell))?;
        }
        writeln!(self.to)
    }

    fn reasons(&mut self, tally: &Tally) -> io::Result<()> {
        if let Some(count) = tally.statuses.get(&Status::Quality).filter(|count| **count > 0) {
            let means = "right, but above the bound that no plan can go below; --message-format json says why";
            writeln!(self.to, "{} ({count}): {means}", Status::Quality)?;
        }
        for ((status, reason), names) in &tally.reasons {
            let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            let more = if names.len() > NAMED { ", ..." } else { "" };
            writeln!(self.to, "{status} ({}): {reason}", names.len())?;
            writeln!(self.to, "    {named}{more}")?;
        }
        Ok(())
    }
}

fn write_failure(to: &mut impl Write, status: &StyledObject<&str>, result: &CaseResult, repro: &str) -> io::Result<()> {
    writeln!(to, "{status} {} {}", result.target, result.name)?;
    for line in result.outcome.detail.lines() {
        writeln!(to, "    {line}")?;
    }
    writeln!(to, "    again: {repro}")?;
    to.flush()
}

fn styled(colour: bool, status: Status, text: &str) -> StyledObject<&str> {
    let style = match status {
        Status::Pass => Style::new().green(),
        Status::Fail | Status::Crash | Status::Timeout => Style::new().red(),
        Status::Quality => Style::new().yellow(),
        Status::Unsupported | Status::Skip => Style::new().cyan(),
    };
    style.force_styling(colour).apply_to(text)
}
