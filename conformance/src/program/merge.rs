//! Merges the results of several runs, such as shards, into one report.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::arguments::Reporting;
use super::output::{Output, write};
use super::stop::Stop;
use crate::results::{Event, Lines, ResultsFileError};
use crate::{CaseResult, EarlierResults, ExitStatus, HarnessError};

impl From<ResultsFileError> for Stop {
    fn from(error: ResultsFileError) -> Self {
        Self::usage(error.to_string())
    }
}

/// Merges the results in the files, reports the totals, and returns the exit status that one run with all cases would.
pub(super) fn merge(files: &[PathBuf], results: Option<&Path>, reporting: &Reporting) -> Result<ExitStatus, Stop> {
    let mut kept = EarlierResults::merge(files)?;
    let missing = |(target, index)| HarnessError::Earlier(format!("part {index} of {target} is missing"));
    kept.errors.extend(kept.missing_shards().into_iter().map(missing));
    // The runs that were merged may have had different options. The target and the name suffice to repeat a case, if
    // the input files are the same.
    let repro = Box::new(|result: &CaseResult| format!("conformance --target {} {}", result.target, result.name));
    let mut output = Output::new(reporting, &kept.chosen, repro)?;
    if let Some(file) = results {
        write(file, &text(&kept)?)?;
    }
    for environment in &kept.environments {
        output.begin(environment, &kept.chosen)?;
    }
    kept.cases.into_values().try_for_each(|result| output.case(result))?;
    output.end(kept.errors, false, &kept.environments)
}

fn text(kept: &EarlierResults) -> Result<String, Stop> {
    let mut lines = Lines::new(Vec::new());
    for environment in &kept.environments {
        lines.write(&Event::Begin { environment: Cow::Borrowed(environment), chosen: Cow::Borrowed(&kept.chosen) })?;
    }
    for result in kept.cases.values() {
        lines.write(&Event::Case { result: Cow::Borrowed(result), repro: None })?;
    }
    for error in &kept.errors {
        lines.write(&Event::Error { message: error.to_string() })?;
    }
    String::from_utf8(lines.into_inner()).map_err(|error| Stop::harness(error.to_string()))
}
