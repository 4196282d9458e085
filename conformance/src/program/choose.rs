//! Which targets, and which of their cases.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::arguments::{Arguments, Choice, Which};
use super::smoke::sample;
use super::stop::Stop;
use super::suite::Suite;
use crate::suggest::{did_you_mean, suggestion};
use crate::{Answers, Context, Filter, FilterError, Group, Targets, list};
use tilewright_target::nearest;

/// Names of the chosen cases, sorted, by target.
pub(super) type Chosen = BTreeMap<String, Vec<String>>;

impl From<FilterError> for Stop {
    fn from(error: FilterError) -> Self {
        Self::usage(error.to_string())
    }
}

impl Suite {
    /// The names of the cases to run, target by target.
    pub(super) fn chosen_cases(
        &self,
        targets: &dyn Targets,
        names: &[String],
        answers: &Answers,
        arguments: &Arguments,
    ) -> Result<(Chosen, usize), Stop> {
        let mut all = Chosen::new();
        for target in names {
            all.insert(target.clone(), self.names(targets, target, answers, &arguments.which)?);
        }
        narrowed(all, &arguments.choice, &self.groups)
    }

    /// The names of all cases of a target, sorted.
    pub(super) fn names(
        &self,
        targets: &dyn Targets,
        target: &str,
        answers: &Answers,
        which: &Which,
    ) -> Result<Vec<String>, Stop> {
        let context = context(targets, target, answers, which)?;
        let cases = list(&self.groups, &context).map_err(|error| Stop::harness(error.to_string()))?;
        Ok(cases.iter().map(|case| case.name().to_owned()).collect())
    }
}

/// Of all cases those that are chosen, and how many those are a sample of, where a sample is wanted.
pub(super) fn narrowed(mut all: Chosen, choice: &Choice, groups: &[Box<dyn Group>]) -> Result<(Chosen, usize), Stop> {
    let (filter, exclude) = (Filter::new(&choice.globs)?, Filter::new(&choice.exclude)?);
    // A mistyped name would otherwise be a run in which nothing failed.
    let every: Vec<_> = all.values().flatten().cloned().collect();
    if let Some(glob) = filter.idle(&every).next() {
        let near = did_you_mean(suggestion(glob, &every).as_deref());
        return Err(Stop::usage(format!("no case matches `{glob}`; `--list` shows what there is{near}")));
    }
    let listed = choice.case_list.as_deref().map(|file| Listed::read(file, &all)).transpose()?;
    let requested = |target: &str, name: &String| {
        let excluded = !choice.exclude.is_empty() && exclude.chooses(name);
        filter.chooses(name) && !excluded && listed.as_ref().is_none_or(|listed| listed.has(target, name))
    };
    let mut whole = 0;
    for (target, names) in &mut all {
        names.retain(|name| requested(target, name));
        whole += names.len();
        if choice.smoke {
            sample(names, groups);
        }
        if let Some(shard) = choice.shard {
            names.retain(|name| shard.holds(name));
        }
    }
    // A part of a run may be empty; a run may not.
    if choice.shard.is_none() && all.values().all(Vec::is_empty) {
        return Err(Stop::harness("there is no case to run".to_owned()));
    }
    Ok((all, whole))
}

/// The cases of a list: `NAME`, of any target that has it, or `TARGET NAME`.
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
        for (number, line) in (1..).zip(lines).filter(|(_, line)| !line.is_empty()) {
            let (target, name) = match line.split_once(char::is_whitespace) {
                Some((target, name)) => (Some(target.to_owned()), name.trim().to_owned()),
                None => (None, line.to_owned()),
            };
            let mut of = all.iter().filter(|(known, _)| target.as_ref().is_none_or(|target| *known == target));
            // A list of all targets may be given to a run of some.
            let elsewhere = target.as_ref().is_some_and(|target| !all.contains_key(target));
            if !elsewhere && !of.any(|(_, names)| names.binary_search(&name).is_ok()) {
                let place = format!("{}:{number}", file.display());
                let names: Vec<_> = all.values().flatten().cloned().collect();
                let near = did_you_mean(suggestion(&name, &names).as_deref());
                let message = format!("{place}: there is no case `{line}`; `--list` shows what there is{near}");
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

/// The context of a target, with what its plugin brings.
pub(super) fn context(targets: &dyn Targets, name: &str, answers: &Answers, which: &Which) -> Result<Context, Stop> {
    let target = targets.open(name)?;
    let mut answers = answers.clone();
    if let Some(file) = targets.answers(name) {
        answers.add(&file)?;
    }
    let context = Context::with_answers(target, Arc::new(answers)).with_thoroughness(which.thoroughness());
    let context = context.with_cases(&which.cases).with_seed(which.seed);
    Ok(match &which.device {
        Some(name) => context.with_device_named(name),
        None => context,
    })
}

/// The names of the targets that are asked for.
pub(super) fn chosen_targets(targets: &dyn Targets, requested: &[String]) -> Result<Vec<String>, Stop> {
    let known: Vec<_> = targets.list().iter().map(|target| target.name.clone()).collect();
    if requested.is_empty() {
        return Err(Stop::usage(format!("which target? `--target NAME`, one of {}, or `all`", known.join(", "))));
    }
    if requested.iter().any(|name| name == "all") {
        return Ok(known);
    }
    match requested.iter().find(|name| !known.contains(name)) {
        None => Ok(requested.to_vec()),
        Some(name) => {
            let near = did_you_mean(nearest(name, known.iter().map(String::as_str)));
            Err(Stop::usage(format!("unknown target `{name}`; known are {}{near}", known.join(", "))))
        }
    }
}
