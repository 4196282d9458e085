//! Writes the outcomes of a run to standard output and to the requested report files.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use super::arguments::{MessageFormat, Reporting};
use super::stop::Stop;
use crate::expectations::{Expectations, bless};
use crate::report::{self, Human, Progress, json};
use crate::results::{Event, Lines};
use crate::{CaseResult, ExitStatus, HarnessError, Report, RunMetadata};

/// Function that formats the command that runs the case of a result again.
pub(super) type Repro<'a> = Box<dyn Fn(&CaseResult) -> String + 'a>;

/// Receives the results of a run and writes the requested reports.
pub(super) struct Output<'a> {
    reporter: Reporter,
    progress: Option<Progress>,
    requested: &'a Reporting,
    repro: Repro<'a>,
    expectations: Option<Expectations>,
    report: Report,
    /// The results before the lists of known deviations judged them, kept if new lists are to be written.
    unjudged: Vec<CaseResult>,
}

enum Reporter {
    Human(Human<io::Stdout>),
    Json(Lines<io::Stdout>),
}

impl<'a> Output<'a> {
    /// Creates the output of a run. `chosen` has the number of cases to run for each target; `repro` formats the
    /// command that repeats a case.
    pub(super) fn new(
        requested: &'a Reporting,
        chosen: &BTreeMap<String, usize>,
        repro: Repro<'a>,
    ) -> Result<Self, Stop> {
        let reporter = match requested.message_format {
            MessageFormat::Json => Reporter::Json(Lines::new(io::stdout())),
            MessageFormat::Human => {
                let colour = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
                Reporter::Human(Human::new(io::stdout(), colour, requested.slowest))
            }
        };
        let report = Report::new(chosen.iter().map(|(target, &count)| (target.clone(), count)));
        Ok(Self {
            reporter,
            progress: None,
            requested,
            repro,
            expectations: lists(requested)?,
            report,
            unjudged: Vec::new(),
        })
    }

    /// Writes the header of the output, before all results.
    pub(super) fn begin(&mut self, environment: &RunMetadata, chosen: &BTreeMap<String, usize>) -> io::Result<()> {
        match &mut self.reporter {
            Reporter::Human(_) => Ok(()),
            Reporter::Json(lines) => {
                let (environment, chosen) = (Cow::Borrowed(environment), Cow::Borrowed(chosen));
                lines.write(&Event::Begin { environment, chosen })
            }
        }
    }

    /// Records the result of a case and reports it.
    pub(super) fn case(&mut self, result: CaseResult) -> io::Result<()> {
        if self.requested.bless {
            self.unjudged.push(result.clone());
        }
        let result = match &self.expectations {
            Some(lists) if !self.requested.bless => lists.judge(result),
            _ => result,
        };
        let repro = (self.repro)(&result);
        let reporter = &mut self.reporter;
        let mut report_case = || match reporter {
            Reporter::Human(human) => human.case(&result, &repro),
            Reporter::Json(lines) => json::case(lines, &result, &repro),
        };
        let written = match &self.progress {
            Some(progress) => {
                progress.count(result.outcome.status.is_failure());
                progress.suspended(report_case)
            }
            None => report_case(),
        };
        self.report.add(result);
        written
    }

    /// Starts to show the progress of the run.
    pub(super) fn watch(&mut self, progress: Progress) {
        self.progress = Some(progress);
    }

    /// Reports the totals and the harness's `errors`, and writes the requested files; returns the exit status.
    /// `interrupted` is true if the user ended the run.
    pub(super) fn end(
        mut self,
        errors: Vec<HarnessError>,
        interrupted: bool,
        environments: &[RunMetadata],
    ) -> Result<ExitStatus, Stop> {
        self.progress = None;
        self.report.add_errors(errors);
        if interrupted {
            self.report.interrupt();
        }
        match &mut self.reporter {
            Reporter::Human(human) => human.end(&self.report)?,
            Reporter::Json(lines) => json::end(lines, &self.report)?,
        }
        if let Some(file) = &self.requested.junit {
            let text = report::junit(&self.report, &self.repro).map_err(Stop::harness)?;
            write(file, &text)?;
        }
        if let Some(file) = &self.requested.html {
            write(file, &report::html(&self.report, environments, &self.repro))?;
        }
        if let Some(file) = &self.requested.table {
            write(file, &report::table(&self.report))?;
        }
        let exit = self.report.exit_status();
        match (&self.requested.baseline, &self.expectations) {
            (Some(file), Some(lists)) if self.requested.bless => {
                write(file, &bless(lists, &self.unjudged).map_err(Stop::harness)?)?;
                Ok(if exit == ExitStatus::Failures { ExitStatus::Ok } else { exit })
            }
            _ => Ok(exit),
        }
    }
}

/// Returns the lists of known deviations in the file of `--baseline`; `None` without the option. With `--bless` the
/// file may be absent, and the lists are then empty.
fn lists(requested: &Reporting) -> Result<Option<Expectations>, Stop> {
    let Some(file) = &requested.baseline else { return Ok(None) };
    if requested.bless && !file.exists() {
        return Ok(Some(Expectations::default()));
    }
    Expectations::read(file).map(Some).map_err(|error| Stop::usage(error.to_string()))
}

/// Writes a file atomically, so that the previous contents survive a failure.
pub(super) fn write(file: &Path, text: &str) -> Result<(), Stop> {
    let beside = file.with_added_extension("new");
    let written = std::fs::File::create(&beside)
        .and_then(|mut to| to.write_all(text.as_bytes()).and_then(|()| to.sync_all()))
        .and_then(|()| std::fs::rename(&beside, file));
    written.map_err(|error| Stop::harness(format!("cannot write {}: {error}", file.display())))
}
