//! Selects the targets of a run and the cases to run on each.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::arguments::{Arguments, Choice, Which};
use super::smoke::sample;
use super::stop::Stop;
use super::suite::Suite;
use crate::suggest::{did_you_mean, suggestion};
use crate::{CaseFilter, CaseGroup, Context, FilterError, KnownAnswers, TestableTargets, list_cases};
use tilewright_target::TargetCatalogueError;

/// For each target, the names of the chosen cases, sorted.
pub(super) type Chosen = BTreeMap<String, Vec<String>>;

impl From<FilterError> for Stop {
    fn from(error: FilterError) -> Self {
        Self::usage(error.to_string())
    }
}

impl Suite {
    /// Returns the names of the cases to run, for each target in `names`, and the number of chosen cases before they
    /// were reduced to a smoke sample or a shard.
    pub(super) fn chosen_cases(
        &self,
        targets: &dyn TestableTargets,
        names: &[String],
        answers: &KnownAnswers,
        arguments: &Arguments,
    ) -> Result<(Chosen, usize), Stop> {
        let mut all = Chosen::new();
        for target in names {
            all.insert(target.clone(), self.names(targets, target, answers, &arguments.which)?);
        }
        narrow_choice(all, &arguments.choice, &self.groups)
    }

    /// Returns the names of all cases of a target, sorted by name.
    pub(super) fn names(
        &self,
        targets: &dyn TestableTargets,
        target: &str,
        answers: &KnownAnswers,
        which: &Which,
    ) -> Result<Vec<String>, Stop> {
        let context = context(targets, target, answers, which)?;
        let cases = list_cases(&self.groups, &context).map_err(|error| Stop::harness(error.to_string()))?;
        Ok(cases.iter().map(|case| case.name().to_owned()).collect())
    }
}

/// Reduces `all` to the cases that `choice` selects. Also returns their number before they were reduced to a smoke
/// sample or a shard.
pub(super) fn narrow_choice(
    mut all: Chosen,
    choice: &Choice,
    groups: &[Box<dyn CaseGroup>],
) -> Result<(Chosen, usize), Stop> {
    let (filter, exclude) = (CaseFilter::new(&choice.globs)?, CaseFilter::new(&choice.exclude)?);
    // A mistyped name would otherwise look like a run without failures.
    let every: Vec<_> = all.values().flatten().cloned().collect();
    if let Some(glob) = filter.unmatched_globs(&every).next() {
        let near = did_you_mean(suggestion(glob, &every).as_deref());
        return Err(Stop::usage(format!("no case matches `{glob}`; `--list` shows all cases{near}")));
    }
    let listed = choice.case_list.as_deref().map(|file| Listed::read(file, &all)).transpose()?;
    let requested = |target: &str, name: &String| {
        let excluded = !choice.exclude.is_empty() && exclude.matches(name);
        filter.matches(name) && !excluded && listed.as_ref().is_none_or(|listed| listed.has(target, name))
    };
    let mut total = 0;
    for (target, names) in &mut all {
        names.retain(|name| requested(target, name));
        total += names.len();
        if choice.smoke {
            sample(names, groups);
        }
        if let Some(shard) = choice.shard {
            names.retain(|name| shard.contains(name));
        }
    }
    // A shard may be empty, since names decide its cases; a whole run may not.
    if choice.shard.is_none() && all.values().all(Vec::is_empty) {
        return Err(Stop::harness("there is no case to run".to_owned()));
    }
    Ok((all, total))
}

/// The cases named in a list file: `NAME` for any target that has the case, or `TARGET NAME`.
struct Listed(BTreeSet<(Option<String>, String)>);

impl Listed {
    fn read(file: &Path, all: &Chosen) -> Result<Self, Stop> {
        let text = if file == Path::new("-") {
            let mut text = String::new();
            io::stdin().lock().read_to_string(&mut text).map(|_| text)
        } else {
            std::fs::read_to_string(file)
        };
        let text = text.map_err(|error| Stop::usage(format!("cannot read the list {}: {error}", file.display())))?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let mut listed = BTreeSet::new();
        for (line_number, line) in (1..).zip(lines).filter(|(_, line)| !line.is_empty()) {
            let (target, name) = match line.split_once(char::is_whitespace) {
                Some((target, name)) => (Some(target.to_owned()), name.trim().to_owned()),
                None => (None, line.to_owned()),
            };
            let mut of = all.iter().filter(|(known, _)| target.as_ref().is_none_or(|target| *known == target));
            // A list may name cases of all targets although the run is for some of them only.
            let elsewhere = target.as_ref().is_some_and(|target| !all.contains_key(target));
            if !elsewhere && !of.any(|(_, names)| names.binary_search(&name).is_ok()) {
                let location = format!("{}:{line_number}", file.display());
                let names: Vec<_> = all.values().flatten().cloned().collect();
                let near = did_you_mean(suggestion(&name, &names).as_deref());
                let message = format!("{location}: there is no case `{line}`; `--list` shows all cases{near}");
                return Err(Stop::usage(message));
            }
            listed.insert((target, name));
        }
        Ok(Self(listed))
    }

    fn has(&self, target: &str, name: &str) -> bool {
        self.0.contains(&(None, name.to_owned())) || self.0.contains(&(Some(target.to_owned()), name.to_owned()))
    }
}

/// Opens a target. Returns the context of its cases, with the given answers and those that its plugin brings.
pub(super) fn context(
    targets: &dyn TestableTargets,
    name: &str,
    answers: &KnownAnswers,
    which: &Which,
) -> Result<Context, Stop> {
    let target = targets.open(name)?;
    let mut answers = answers.clone();
    if let Some(file) = targets.answers(name) {
        answers.add_files(&file)?;
    }
    let context = Context::with_answers(target, Arc::new(answers)).with_thoroughness(which.thoroughness());
    let context = context.with_case_folders(&which.cases).with_seed(which.seed);
    Ok(match &which.device {
        Some(name) => context.with_device_named(name),
        None => context,
    })
}

/// Returns the names of the requested targets; all known targets if `all` is among them.
pub(super) fn chosen_targets(targets: &dyn TestableTargets, requested: &[String]) -> Result<Vec<String>, Stop> {
    let known: Vec<_> = targets.list().iter().map(|target| target.name.clone()).collect();
    if requested.is_empty() {
        return Err(Stop::usage(format!("which target? `--target NAME`, one of {}, or `all`", known.join(", "))));
    }
    if requested.iter().any(|name| name == "all") {
        return Ok(known);
    }
    match requested.iter().find(|name| !known.contains(name)) {
        None => Ok(requested.to_vec()),
        Some(name) => Err(Stop::usage(TargetCatalogueError::Unknown { name: name.clone(), known }.to_string())),
    }
}
