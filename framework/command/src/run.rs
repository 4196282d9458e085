//! `tilewright run`: runs test cases on the emulator and compares the outputs with the expected ones.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use clap::Args;
use serde_json::json;

use tilewright::ProgramCompiler;
use tilewright_emulator::{FaultKind, RunLimits};
use tilewright_verify::CheckFailure;
use tilewright_verify::case::{CaseRunError, ProgramCase};

use crate::failure::CommandError;
use crate::limits::{MAX_BUFFER_BYTES, MAX_TEXT_BYTES, read_limited, read_text};
use crate::program::CompilationArguments;
use crate::{GlobalOptions, input};

/// Options of `tilewright run`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Test cases: files `NAME.json`, or folders of them.
    #[arg(required = true, value_name = "CASE")]
    cases: Vec<PathBuf>,
    /// Name of the target that is emulated, e.g. `h100`. Default: the first known one.
    #[arg(long)]
    target: Option<String>,
    #[command(flatten)]
    compiling: CompilationArguments,
    /// Max test cases that run at the same time. Default: the number of processors.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Max operations that all warps of a test case execute; more are most likely an endless loop.
    #[arg(long, alias = "steps", value_name = "NUMBER", default_value_t = 100_000_000)]
    max_steps: u64,
    /// Print one JSON object for each test case.
    #[arg(long)]
    json: bool,
}

/// The outcome of a test case.
enum Outcome {
    Pass { steps: u64 },
    Fail(String),
    Unsupported(String),
}

/// Runs `tilewright run`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let first = session.catalogue().iter().next().map(|target| target.name.clone());
    let name = options.target.clone().or(first).ok_or_else(|| CommandError::Input("no target is known".to_owned()))?;
    let target = session.target(&name)?;
    let files = files(&options.cases)?;
    let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &*target };
    let next = AtomicUsize::new(0);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = options.jobs.map_or(processors, usize::from).min(files.len().max(1));
    let [pass, fail, unsupported] = std::thread::scope(|scope| {
        let (sender, outcomes) = mpsc::channel();
        for _ in 0..jobs {
            let (sender, next, files, compiler) = (sender.clone(), &next, &files, &compiler);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(index) else { break };
                    // Sending fails if the output was closed, since the receiver is dropped then.
                    if sender.send((index, one(file, compiler, options))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        report_outcomes(&mut std::io::stdout(), outcomes, &files, options.json)
    })?;
    if !options.json {
        writeln!(std::io::stdout(), "{name}: {pass} pass, {fail} fail, {unsupported} unsupported")?;
    }
    match fail {
        0 => Ok(()),
        _ => Err(CommandError::Broken(format!("{fail} of {} cases fail", files.len()))),
    }
}

/// Returns the files of the given test cases; the files of a folder are sorted by name.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, CommandError> {
    let mut files = Vec::new();
    for path in named {
        match path.is_dir() {
            true => files
                .extend(ProgramCase::list_case_files(path).map_err(|error| CommandError::Input(error.to_string()))?),
            false => files.push(path.clone()),
        }
    }
    if files.is_empty() {
        return Err(CommandError::Input("there is no case: expected files `NAME.json`, or folders of them".to_owned()));
    }
    Ok(files)
}

fn one(file: &Path, compiler: &ProgramCompiler<'_>, options: &Options) -> Outcome {
    let open =
        |text_file: &Path| read_limited(text_file, if text_file == file { MAX_TEXT_BYTES } else { MAX_BUFFER_BYTES });
    let case = match ProgramCase::read_from(file, &open) {
        Ok(case) => case,
        Err(error) => return Outcome::Fail(error.to_string()),
    };
    let text = match read_text(&case.program) {
        Ok(text) => text,
        Err(error) => return Outcome::Fail(format!("{}: {error}", case.program.display())),
    };
    let limits = RunLimits { steps: options.max_steps, ..RunLimits::default() };
    // The emulator executes functions, no assembly.
    let program_options = options.compiling.to_program_options(None).with_kept_assembly(false);
    match case.compile_and_run_variant(compiler, &text, &program_options, &limits) {
        Ok((_, execution)) if execution.differences.is_empty() => Outcome::Pass { steps: execution.report.steps },
        Ok((_, execution)) => {
            let differences: Vec<_> = execution.differences.iter().map(ToString::to_string).collect();
            Outcome::Fail(differences.join("; "))
        }
        Err(error) if error.is_unsupported() => Outcome::Unsupported(error.to_string()),
        Err(error) => Outcome::Fail(format!("{error}{}", remedy(&error))),
    }
}

/// Returns a remedy for an emulator run that ended with an error.
fn remedy(error: &CaseRunError) -> &'static str {
    match error {
        CaseRunError::Launch(CheckFailure::Fault(fault)) if matches!(fault.kind, FaultKind::StepLimit { .. }) => {
            "; if it does end, allow it more by --max-steps"
        }
        _ => "",
    }
}

/// Prints the outcomes in the order of the test cases, each as soon as all earlier ones are known; returns the numbers
/// of test cases that passed, failed, and are unsupported.
fn report_outcomes(
    out: &mut impl Write,
    outcomes: impl IntoIterator<Item = (usize, Outcome)>,
    files: &[PathBuf],
    json: bool,
) -> std::io::Result<[usize; 3]> {
    let (mut waiting, mut next, mut counts) = (BTreeMap::new(), 0, [0; 3]);
    for (index, outcome) in outcomes {
        waiting.insert(index, outcome);
        while let Some(outcome) = waiting.remove(&next) {
            let name = files[next].file_stem().unwrap_or_default().to_string_lossy();
            let (at, word, detail) = match outcome {
                Outcome::Pass { steps } => (0, "pass", format!("{steps} operations")),
                Outcome::Fail(detail) => (1, "fail", detail),
                Outcome::Unsupported(detail) => (2, "unsupported", detail),
            };
            counts[at] += 1;
            match json {
                true => writeln!(out, "{}", json!({"name": name, "status": word, "detail": detail}))?,
                false => writeln!(out, "{word:<11}  {name}: {detail}")?,
            }
            next += 1;
        }
    }
    Ok(counts)
}
