//! Executes chosen cases, reports their outcomes and stores them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::arguments::Arguments;
use super::choose::Chosen;
use super::interrupt::{resume_command, save, stop_flag};
use super::output::Output;
use super::repro::repro;
use super::stop::Stop;
use super::suite::Suite;
use crate::report::Progress;
use crate::results::{Event, Lines, append, now};
use crate::{
    CaseBatch, CaseResult, EarlierResults, ExitStatus, HostMachine, LazyDevice, RunMetadata, Runner, TestableTargets,
    TestedTargetRecord, WorkerCommand,
};

/// Max number of cases of one worker process: few enough that all workers are busy until the end, many enough that
/// starting processes costs little.
const BATCH: usize = 192;

impl Suite {
    /// Runs the cases, which are a part of `total` cases unless `total` is zero. The arguments were parsed from `args`.
    pub(super) fn execute(
        &self,
        targets: &dyn TestableTargets,
        cases: &Chosen,
        total: usize,
        arguments: &Arguments,
        args: &[OsString],
    ) -> Result<ExitStatus, Stop> {
        let stop = stop_flag().map_err(|error| Stop::harness(format!("cannot listen to signals: {error}")))?;
        let runner = self.runner(arguments, Arc::clone(&stop))?;
        let title = title(cases, total, arguments);
        eprintln!("{title}, {} at a time", runner.jobs);
        let environment = environment(targets, cases, arguments);
        let chosen: BTreeMap<_, _> = cases.iter().map(|(target, names)| (target.clone(), names.len())).collect();
        let (before, keep) = match &arguments.results {
            Some(file) => {
                let (before, keep) = kept(file, arguments.resume, &environment)?;
                (before, Some(keep))
            }
            None => (EarlierResults::default(), None),
        };
        let mut keep = keep.map(Lines::new);
        let repro_command = Box::new(|result: &CaseResult| repro(&result.target, &result.name, &arguments.which));
        let mut output = Output::new(&arguments.reporting, &chosen, repro_command)?;
        output.begin(&environment, &chosen)?;
        if let Some(keep) = &mut keep {
            let (environment, chosen) = (Cow::Borrowed(&environment), Cow::Borrowed(&chosen));
            keep.write(&Event::Begin { environment, chosen })?;
        }
        let (done, left) = split(cases, before);
        done.into_iter().try_for_each(|result| output.case(result))?;
        output.watch(Progress::begin(left.values().map(Vec::len).sum()));
        let (mut written, mut unkept) = (Ok(()), Vec::new());
        let errors = runner.run(batches(&left, runner.jobs), |result| {
            // Only the first error is reported. The run goes on, since its exit status still matters.
            let now = match &mut keep {
                Some(keep) => keep.write(&Event::Case { result: Cow::Borrowed(&result), repro: None }),
                None => {
                    unkept.push(result.clone());
                    Ok(())
                }
            };
            let printed = output.case(result);
            if written.is_ok() {
                written = now.and(printed);
            }
        });
        if let Some(keep) = &mut keep {
            for error in &errors {
                keep.write(&Event::Error { message: error.to_string() })?;
            }
        }
        written?;
        let exit = output.end(errors, stop.load(Ordering::Relaxed), std::slice::from_ref(&environment))?;
        if arguments.choice.smoke {
            eprintln!("{title}: run without --smoke for the complete suite");
        }
        if exit == ExitStatus::Interrupted {
            let saved = arguments.results.is_none().then(|| save(&environment, &chosen, &unkept)).transpose()?;
            let line = resume_command(args, saved.as_deref().map(Path::as_os_str));
            eprintln!("interrupted; resume with:\n    {line}");
        }
        if let Some(keep) = &mut keep {
            keep.write(&Event::End { exit: exit as u8 })?;
        }
        Ok(exit)
    }

    fn runner(&self, arguments: &Arguments, stop: Arc<AtomicBool>) -> Result<Runner, Stop> {
        let program = std::env::current_exe()
            .map_err(|error| Stop::harness(format!("cannot find this program to start workers: {error}")))?;
        let mut worker = self.prefix.clone();
        worker.push("run-batch".into());
        worker.extend(arguments.which.to_command_line());
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = arguments.jobs.map_or(processors, usize::from);
        let (timeout, retries) = (arguments.timeout, arguments.retries);
        Ok(Runner { worker: WorkerCommand::new(program, worker), jobs, timeout, retries, stop })
    }
}

/// Returns a line that summarises what a run executes.
fn title(cases: &Chosen, total: usize, arguments: &Arguments) -> String {
    let count: usize = cases.values().map(Vec::len).sum();
    let targets = match &cases.keys().collect::<Vec<_>>()[..] {
        [target] => (*target).clone(),
        targets => format!("{} targets", targets.len()),
    };
    if !arguments.choice.smoke {
        return format!("{count} cases of {targets}");
    }
    let percent = 100.0 * count as f64 / total.max(1) as f64;
    format!("a sample of {count} of {total} cases ({percent:.0} %) of {targets}")
}

fn environment(targets: &dyn TestableTargets, cases: &Chosen, arguments: &Arguments) -> RunMetadata {
    let which = &arguments.which;
    let tested = |name: &String| {
        let of_name = targets.list().into_iter().find(|target| target.name == *name);
        let device = |expected| LazyDevice::select_named(expected).name(&*targets.open(name).ok()?).ok();
        TestedTargetRecord {
            name: name.clone(),
            architecture: of_name.map(|target| target.architecture.clone()).unwrap_or_default(),
            plugin: targets.plugin(name),
            device: which.device.as_deref().and_then(device),
        }
    };
    RunMetadata {
        suite: env!("CARGO_PKG_VERSION").to_owned(),
        started: now(),
        host: HostMachine::describe_this_machine(),
        targets: cases.keys().map(tested).collect(),
        seed: which.seed,
        thorough: which.thorough,
        device: which.device.is_some(),
        shard: arguments.choice.shard,
    }
}

/// Reads the results of an earlier run from `file`, and opens the file for appending. Without `resume`, a nonempty file
/// is an error, so that no results are overwritten.
fn kept(file: &Path, resume: bool, environment: &RunMetadata) -> Result<(EarlierResults, File), Stop> {
    let cannot = |error: io::Error| Stop::usage(format!("cannot write results to {}: {error}", file.display()));
    let is_nonempty = std::fs::metadata(file).is_ok_and(|metadata| metadata.len() > 0);
    let before = match (is_nonempty, resume) {
        (false, _) => EarlierResults::default(),
        (true, false) => {
            let file = file.display();
            return Err(Stop::usage(format!("{file} exists: resume it by `--resume`, or name another file")));
        }
        (true, true) => EarlierResults::read(file)?,
    };
    for earlier in &before.environments {
        let same = earlier.agrees(environment);
        same.map_err(|what| Stop::usage(format!("{} cannot be resumed: {what}", file.display())))?;
    }
    Ok((before, append(file).map_err(cannot)?))
}

/// Splits the chosen cases by earlier results: returns the results of those that earlier runs executed, and the names
/// of the others by target.
fn split(cases: &Chosen, before: EarlierResults) -> (Vec<CaseResult>, Chosen) {
    let chosen: BTreeSet<_> =
        cases.iter().flat_map(|(target, names)| names.iter().map(move |name| (target, name))).collect();
    let done: BTreeMap<_, _> =
        before.cases.into_iter().filter(|((target, name), _)| chosen.contains(&(target, name))).collect();
    let left = |(target, names): (&String, &Vec<String>)| {
        let left = names.iter().filter(|name| !done.contains_key(&(target.clone(), (*name).clone())));
        (target.clone(), left.cloned().collect())
    };
    let left = cases.iter().map(left).collect();
    (done.into_values().collect(), left)
}

fn batches(cases: &Chosen, jobs: usize) -> Vec<CaseBatch> {
    let count: usize = cases.values().map(Vec::len).sum();
    let size = count.div_ceil(jobs * 4).clamp(1, BATCH);
    cases.iter().flat_map(|(target, names)| CaseBatch::split_cases(target, names, size)).collect()
}
