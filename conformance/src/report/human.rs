//! A run for people: failures as they come, each with the line that runs it again, then a table.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

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
    slowest: usize,
}

/// Cases that take less are not called slow.
const SLOW: Duration = Duration::from_millis(500);
/// Statuses that have a column in every table; others have one where a case has them.
const USUAL: [Status; 7] =
    [Status::Pass, Status::Fail, Status::Quality, Status::Unsupported, Status::Skip, Status::Crash, Status::Timeout];

impl<W: Write> Human<W> {
    /// Colour and the bar are for terminals.
    pub(crate) fn new(to: W, colour: bool, bar: bool, cases: usize, slowest: usize) -> Self {
        let draw = if bar { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(cases as u64), draw);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        Self { to, colour, bar, failures: 0, slowest }
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
        self.slowest(report)?;
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
        let levels = Level::ALL.iter().filter_map(|level| Some((level, tally.levels.get(level)?)));
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
            // Zeros are what one hopes for in most columns: they stay plain.
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
        Status::Fail | Status::Crash | Status::Timeout | Status::XPass => Style::new().red(),
        Status::Quality | Status::Flake => Style::new().yellow(),
        Status::Unsupported | Status::Skip | Status::XFail => Style::new().cyan(),
    };
    style.force_styling(colour).apply_to(text)
}
