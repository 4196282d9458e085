//! Reads results files that earlier runs of the suite wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Event, RunMetadata};
use crate::{CaseResult, HarnessError, Shard};

/// The results of earlier runs, read from results files.
#[derive(Debug, Default)]
pub struct EarlierResults {
    /// The environments of all runs that the results are from.
    pub environments: Vec<RunMetadata>,
    /// The outcomes, by target and case name. If a file has several for one case, the last one counts.
    pub cases: BTreeMap<(String, String), CaseResult>,
    /// For each target, the number of cases that were chosen to run.
    pub chosen: BTreeMap<String, usize>,
    /// Failures of the harness (the program that runs the cases) that the files record.
    pub errors: Vec<HarnessError>,
}

/// The reason why a results file cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResultsFileError {
    /// The file cannot be read.
    #[error("cannot read the results {}: {error}", file.display())]
    Read {
        /// The path of the unreadable file.
        file: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A line of the file is not an event that a run writes.
    #[error("{}:{line}: no result: {message}", file.display())]
    Line {
        /// The path of the file with the invalid line.
        file: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The rule that the line violates.
        message: String,
    },
    /// The file has no line that a run of the suite wrote.
    #[error("{} has no results; `--results` writes them", file.display())]
    Empty {
        /// The path of the file without results.
        file: PathBuf,
    },
    /// The results of two runs cannot be merged.
    #[error("{} cannot be put together with the results before it: {message}", file.display())]
    Disagree {
        /// The path of the later one of the two files.
        file: PathBuf,
        /// The difference between the runs, such as another plugin.
        message: String,
    },
}

impl EarlierResults {
    /// Reads the results of one file of an earlier run.
    ///
    /// # Errors
    /// [`ResultsFileError`] if the file cannot be read, has an invalid line, or has no results. A truncated last line
    /// is not an error, since an interrupted run may leave one.
    pub fn read(file: &Path) -> Result<Self, ResultsFileError> {
        let unreadable = |error| ResultsFileError::Read { file: file.to_owned(), error };
        let mut lines = BufReader::new(File::open(file).map_err(unreadable)?);
        let (mut kept, mut line, mut line_number) = (Self::default(), Vec::new(), 0);
        loop {
            line.clear();
            line_number += 1;
            if lines.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
                break;
            }
            match serde_json::from_slice(&line) {
                Ok(event) => kept.take(event),
                Err(_) if line.iter().all(u8::is_ascii_whitespace) || !line.ends_with(b"\n") => {}
                Err(_) if is_of_a_later_version(&line) => {}
                Err(error) => {
                    return Err(ResultsFileError::Line {
                        file: file.to_owned(),
                        line: line_number,
                        message: error.to_string(),
                    });
                }
            }
        }
        if kept.environments.is_empty() {
            return Err(ResultsFileError::Empty { file: file.to_owned() });
        }
        Ok(kept)
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Begin { environment, chosen } => {
                // A file has one `Begin` for each resumption; each counts all chosen cases, with or without results.
                for (target, count) in chosen.into_owned() {
                    let before = self.chosen.entry(target).or_default();
                    *before = count.max(*before);
                }
                self.environments.push(environment.into_owned());
                self.errors.clear();
            }
            Event::Case { result, .. } => {
                let result = result.into_owned();
                self.cases.insert((result.target.clone(), result.name.clone()), result);
            }
            Event::Error { message } => self.errors.push(HarnessError::Earlier(message)),
            Event::Summary { .. } | Event::End { .. } => {}
        }
    }

    /// Merges the results of several files, such as those of the shards of a run. If a case has different outcomes, an
    /// outcome that fails the run is kept, so that no failure is lost.
    ///
    /// # Errors
    /// [`ResultsFileError`] if a file cannot be read, has an invalid line or has no results, or if the runs used
    /// different suites, targets, plugins or seeds.
    pub fn merge(files: &[PathBuf]) -> Result<Self, ResultsFileError> {
        let mut all = Self::default();
        for file in files {
            let one = Self::read(file)?;
            for environment in &one.environments {
                let agrees = all.environments.iter().try_for_each(|before| before.agrees(environment));
                agrees.map_err(|message| ResultsFileError::Disagree { file: file.clone(), message })?;
            }
            all.join(one);
        }
        Ok(all)
    }

    /// Returns, for each target, the shards (parts of a run) without results in any file.
    #[must_use]
    pub fn missing_shards(&self) -> Vec<(String, Shard)> {
        let mut shards: BTreeMap<(&str, u32), BTreeSet<u32>> = BTreeMap::new();
        let mut unsharded = BTreeSet::new();
        for environment in &self.environments {
            for tested in &environment.targets {
                match environment.shard {
                    Some(shard) => drop(shards.entry((&tested.name, shard.of)).or_default().insert(shard.index)),
                    None => drop(unsharded.insert(&*tested.name)),
                }
            }
        }
        let of_shards = shards.iter().filter(|((target, _), _)| !unsharded.contains(target));
        let missing = of_shards.flat_map(|(&(target, of), there)| {
            let missing = (1..=of).filter(|index| !there.contains(index));
            missing.map(move |index| (target.to_owned(), Shard { index, of }))
        });
        missing.collect()
    }

    fn join(&mut self, other: Self) {
        for (target, count) in &other.chosen {
            let ran = other.cases.keys().filter(|(of, _)| of == target);
            let duplicates = ran.filter(|key| self.cases.contains_key(key)).count();
            *self.chosen.entry(target.clone()).or_default() += count.saturating_sub(duplicates);
        }
        for (key, result) in other.cases {
            let worse = |before: &CaseResult| before.outcome.status.is_failure() && !result.outcome.status.is_failure();
            if !self.cases.get(&key).is_some_and(worse) {
                self.cases.insert(key, result);
            }
        }
        self.environments.extend(other.environments);
        self.errors.extend(other.errors);
    }
}

/// Whether the line is an event of a later version, which readers skip.
fn is_of_a_later_version(line: &[u8]) -> bool {
    const KNOWN: [&str; 5] = ["begin", "case", "summary", "error", "end"];
    let value: Result<serde_json::Value, _> = serde_json::from_slice(line);
    value.is_ok_and(|value| value["event"].as_str().is_some_and(|event| !KNOWN.contains(&event)))
}

/// Opens a results file for appending. Removes a truncated last line, so that its case runs again.
pub(crate) fn append(file: &Path) -> io::Result<File> {
    let written = match std::fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let complete = written.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let open = OpenOptions::new().append(true).create(true).open(file)?;
    open.set_len(complete as u64)?;
    Ok(open)
}
