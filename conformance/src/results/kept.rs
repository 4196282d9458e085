//! Reading results back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Environment, Event};
use crate::{CaseResult, HarnessError, Shard};

/// What files of results say.
#[derive(Debug, Default)]
pub struct Kept {
    /// Of each run whose results these are, where and how it ran.
    pub environments: Vec<Environment>,
    /// The outcomes, by target and name; of several of one case the last that was written to one file.
    pub cases: BTreeMap<(String, String), CaseResult>,
    /// How many cases of each target were to run.
    pub chosen: BTreeMap<String, usize>,
    /// What went wrong with the harness.
    pub errors: Vec<HarnessError>,
}

/// A file that holds no results.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeptError {
    /// It cannot be read.
    #[error("cannot read the results {}: {error}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A line is none that a run writes.
    #[error("{}:{line}: no result: {message}", file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, from 1 on.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// There is nothing that a run wrote.
    #[error("{} holds no results; `--results` writes them", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// Two runs cannot be taken for parts of one.
    #[error("{} cannot be put together with the results before it: {message}", file.display())]
    Disagree {
        /// The later file.
        file: PathBuf,
        /// What differs.
        message: String,
    },
}

impl Kept {
    /// The results of one file.
    ///
    /// # Errors
    /// [`KeptError`]. A last line that was cut off is no error: the run was.
    pub fn read(file: &Path) -> Result<Self, KeptError> {
        let unreadable = |error| KeptError::Read { file: file.to_owned(), error };
        let mut lines = BufReader::new(File::open(file).map_err(unreadable)?);
        let (mut kept, mut line, mut number) = (Self::default(), Vec::new(), 0);
        loop {
            line.clear();
            number += 1;
            if lines.read_until(b'\n', &mut line).map_err(unreadable)? == 0 {
                break;
            }
            match serde_json::from_slice(&line) {
                Ok(event) => kept.take(event),
                Err(_) if line.iter().all(u8::is_ascii_whitespace) || !line.ends_with(b"\n") => {}
                Err(_) if is_of_a_later_version(&line) => {}
                Err(error) => {
                    return Err(KeptError::Line { file: file.to_owned(), line: number, message: error.to_string() });
                }
            }
        }
        if kept.environments.is_empty() {
            return Err(KeptError::Empty { file: file.to_owned() });
        }
        Ok(kept)
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Begin { environment, chosen } => {
                // A run that went on was to run what it found there, too.
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

    /// The results of several files, such as those of all parts of a run. Where two have an outcome of one case that
    /// differ, the one that fails the run stands.
    ///
    /// # Errors
    /// [`KeptError`], also where the runs were of different plugins, suites or seeds.
    pub fn merge(files: &[PathBuf]) -> Result<Self, KeptError> {
        let mut all = Self::default();
        for file in files {
            let one = Self::read(file)?;
            for environment in &one.environments {
                let agrees = all.environments.iter().try_for_each(|before| before.agrees(environment));
                agrees.map_err(|message| KeptError::Disagree { file: file.clone(), message })?;
            }
            all.join(one);
        }
        Ok(all)
    }

    /// The parts of runs that are missing here: of a target of which only parts were run, those that nobody ran.
    #[must_use]
    pub fn missing_parts(&self) -> Vec<(String, Shard)> {
        let mut parts: BTreeMap<(&str, u32), BTreeSet<u32>> = BTreeMap::new();
        let mut whole = BTreeSet::new();
        for environment in &self.environments {
            for tested in &environment.targets {
                match environment.shard {
                    Some(shard) => drop(parts.entry((&tested.name, shard.of)).or_default().insert(shard.part)),
                    None => drop(whole.insert(&*tested.name)),
                }
            }
        }
        let of_parts = parts.iter().filter(|((target, _), _)| !whole.contains(target));
        let missing = of_parts.flat_map(|(&(target, of), there)| {
            let missing = (1..=of).filter(|part| !there.contains(part));
            missing.map(move |part| (target.to_owned(), Shard { part, of }))
        });
        missing.collect()
    }

    fn join(&mut self, other: Self) {
        for (target, count) in &other.chosen {
            let ran = other.cases.keys().filter(|(of, _)| of == target);
            let again = ran.filter(|key| self.cases.contains_key(key)).count();
            *self.chosen.entry(target.clone()).or_default() += count.saturating_sub(again);
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

/// Readers skip events that they do not know.
fn is_of_a_later_version(line: &[u8]) -> bool {
    const KNOWN: [&str; 5] = ["begin", "case", "summary", "error", "end"];
    let value: Result<serde_json::Value, _> = serde_json::from_slice(line);
    value.is_ok_and(|value| value["event"].as_str().is_some_and(|event| !KNOWN.contains(&event)))
}

/// The file, open at its end. A line that was cut off there is taken away: the case that it was about runs again.
pub(crate) fn append(file: &Path) -> io::Result<File> {
    let written = match std::fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let whole = written.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let open = OpenOptions::new().append(true).create(true).open(file)?;
    open.set_len(whole as u64)?;
    Ok(open)
}
