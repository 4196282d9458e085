//! Where what comes out goes: standard output, and the files that were asked for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use super::arguments::{MessageFormat, Reporting};
use super::stop::Stop;
use crate::expectations::{Expectations, blessed};
use crate::report::{self, Human, Progress, json};
use crate::results::{Event, Lines};
use crate::{CaseResult, Environment, Exit, HarnessError, Report};

/// Says how a result's case is run again.
pub(super) type Repro<'a> = Box<dyn Fn(&CaseResult) -> String + 'a>;

/// Takes results, and makes of them what was asked for.
pub(super) struct Output<'a> {
    told: Told,
    progress: Option<Progress>,
    requested: &'a Reporting,
    repro: Repro<'a>,
    expectations: Option<Expectations>,
    report: Report,
    /// As they came out, where lists are to be written.
    unjudged: Vec<CaseResult>,
}

enum Told {
    Human(Human<io::Stdout>),
    Json(Lines<io::Stdout>),
}

impl<'a> Output<'a> {
    /// For a run of so many cases, of each target.
    pub(super) fn new(
        requested: &'a Reporting,
        chosen: &BTreeMap<String, usize>,
        repro: Repro<'a>,
    ) -> Result<Self, Stop> {
        let told = match requested.message_format {
            MessageFormat::Json => Told::Json(Lines::new(io::stdout())),
            MessageFormat::Human => {
                let colour = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
                Told::Human(Human::new(io::stdout(), colour, requested.slowest))
            }
        };
        let report = Report::new(chosen.iter().map(|(target, &count)| (target.clone(), count)));
        Ok(Self {
            told,
            progress: None,
            requested,
            repro,
            expectations: lists(requested)?,
            report,
            unjudged: Vec::new(),
        })
    }

    /// What precedes all results.
    pub(super) fn begin(&mut self, environment: &Environment, chosen: &BTreeMap<String, usize>) -> io::Result<()> {
        match &mut self.told {
            Told::Human(_) => Ok(()),
            Told::Json(lines) => {
                let (environment, chosen) = (Cow::Borrowed(environment), Cow::Borrowed(chosen));
                lines.write(&Event::Begin { environment, chosen })
            }
        }
    }

    /// Takes a result, and tells it.
    pub(super) fn case(&mut self, result: CaseResult) -> io::Result<()> {
        if self.requested.bless {
            self.unjudged.push(result.clone());
        }
        let result = match &self.expectations {
            Some(lists) if !self.requested.bless => lists.judge(result),
            _ => result,
        };
        let repro = (self.repro)(&result);
        let told = &mut self.told;
        let mut tell = || match told {
            Told::Human(human) => human.case(&result, &repro),
            Told::Json(lines) => json::case(lines, &result, &repro),
        };
        let written = match &self.progress {
            Some(progress) => {
                progress.count(result.outcome.status.is_failure());
                progress.suspended(tell)
            }
            None => tell(),
        };
        self.report.add(result);
        written
    }

    /// From now on shows how far the run has come.
    pub(super) fn watch(&mut self, progress: Progress) {
        self.progress = Some(progress);
    }

    /// Tells what all adds up to, and writes the files; `interrupted` where the user ended the run.
    pub(super) fn end(
        mut self,
        errors: Vec<HarnessError>,
        interrupted: bool,
        environments: &[Environment],
    ) -> Result<Exit, Stop> {
        self.progress = None;
        self.report.add_errors(errors);
        if interrupted {
            self.report.interrupt();
        }
        match &mut self.told {
            Told::Human(human) => human.end(&self.report)?,
            Told::Json(lines) => json::end(lines, &self.report)?,
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
        let exit = self.report.exit();
        match (&self.requested.baseline, &self.expectations) {
            (Some(file), Some(lists)) if self.requested.bless => {
                write(file, &blessed(lists, &self.unjudged).map_err(Stop::harness)?)?;
                Ok(if exit == Exit::Failures { Exit::Ok } else { exit })
            }
            _ => Ok(exit),
        }
    }
}

/// The lists that were asked for. To write new ones there need be none.
fn lists(requested: &Reporting) -> Result<Option<Expectations>, Stop> {
    let Some(file) = &requested.baseline else { return Ok(None) };
    if requested.bless && !file.exists() {
        return Ok(Some(Expectations::default()));
    }
    Expectations::read(file).map(Some).map_err(|error| Stop::usage(error.to_string()))
}

/// Writes a file whole or not at all, so that what was there before is not lost.
pub(super) fn write(file: &Path, text: &str) -> Result<(), Stop> {
    let beside = file.with_added_extension("new");
    let written = std::fs::File::create(&beside)
        .and_then(|mut to| to.write_all(text.as_bytes()).and_then(|()| to.sync_all()))
        .and_then(|()| std::fs::rename(&beside, file));
    written.map_err(|error| Stop::harness(format!("cannot write {}: {error}", file.display())))
}
