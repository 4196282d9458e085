//! `tilewright run`: cases on the emulator, each held against what it must leave.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use serde_json::{Value as Json, json};

use tilewright::ProgramCompiler;
use tilewright_emulator::{FaultKind, Limits};
use tilewright_verify::CheckFailure;
use tilewright_verify::case::{Case, RunError};

use crate::failure::Failure;
use crate::limits::{MOST_CONTENTS, MOST_TEXT, read, read_text};
use crate::program::Compiling;
use crate::{Global, input};

/// What to run.
#[derive(Debug, Args)]
pub struct Options {
    /// Cases: files `NAME.json`, or folders of them.
    #[arg(required = true, value_name = "CASE")]
    cases: Vec<PathBuf>,
    /// The target; the first one that is known where not given.
    #[arg(long)]
    target: Option<String>,
    #[command(flatten)]
    compiling: Compiling,
    /// How many cases run at a time; as many as there are processors where not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Operations of all warps that one case may take: more are most likely a loop without end.
    #[arg(long, alias = "steps", value_name = "NUMBER", default_value_t = 100_000_000)]
    max_steps: u64,
    /// Print one JSON object a case.
    #[arg(long)]
    json: bool,
}

/// What came out of a case.
enum Outcome {
    Pass { steps: u64 },
    Fail(String),
    Unsupported(String),
}

impl Outcome {
    fn word(&self) -> &'static str {
        match self {
            Self::Pass { .. } => "pass",
            Self::Fail(_) => "fail",
            Self::Unsupported(_) => "unsupported",
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::Pass { steps } => format!("{steps} operations"),
            Self::Fail(detail) | Self::Unsupported(detail) => detail.clone(),
        }
    }
}

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let first = session.catalogue().iter().next().map(|target| target.name.clone());
    let name = options.target.clone().or(first).ok_or_else(|| Failure::Input("no target is known".to_owned()))?;
    let target = session.target(&name)?;
    let files = files(&options.cases)?;
    let (dialects, imports) = (tilewright_dialects::all(), tilewright_dialects::imports());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &*target };
    let outcomes = Outcomes::new(options.json, files.len());
    let next = AtomicUsize::new(0);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = options.jobs.map_or(processors, usize::from).min(files.len().max(1));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(place) else { break };
                    outcomes.add(place, file, one(file, &compiler, options));
                }
            });
        }
    });
    outcomes.end(&name)
}

/// The files of the cases that are named, those of a folder by name.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in named {
        match path.is_dir() {
            true => files.extend(Case::files(path).map_err(|error| Failure::Input(error.to_string()))?),
            false => files.push(path.clone()),
        }
    }
    if files.is_empty() {
        return Err(Failure::Input("there is no case: expected files `NAME.json`, or folders of them".to_owned()));
    }
    Ok(files)
}

fn one(file: &Path, compiler: &ProgramCompiler<'_>, options: &Options) -> Outcome {
    let open = |part: &Path| read(part, if part == file { MOST_TEXT } else { MOST_CONTENTS });
    let case = match Case::read_from(file, &open) {
        Ok(case) => case,
        Err(error) => return Outcome::Fail(error.to_string()),
    };
    let text = match read_text(&case.program) {
        Ok(text) => text,
        Err(error) => return Outcome::Fail(format!("{}: {error}", case.program.display())),
    };
    let limits = Limits { steps: options.max_steps, ..Limits::default() };
    match case.compile_and_run(compiler, &text, &options.compiling.options(None), &limits) {
        Ok((_, ended)) if ended.differences.is_empty() => Outcome::Pass { steps: ended.report.steps },
        Ok((_, ended)) => {
            let differences: Vec<_> = ended.differences.iter().map(ToString::to_string).collect();
            Outcome::Fail(differences.join("; "))
        }
        Err(error) if error.is_unsupported() => Outcome::Unsupported(error.to_string()),
        Err(error) => Outcome::Fail(format!("{error}{}", remedy(&error))),
    }
}

/// What helps against an error of a run that was cut off.
fn remedy(error: &RunError) -> &'static str {
    match error {
        RunError::Launch(CheckFailure::Fault(fault)) if matches!(fault.kind, FaultKind::StepLimit { .. }) => {
            "; if it does end, allow it more by --max-steps"
        }
        _ => "",
    }
}

/// What came out so far; told in the order of the cases.
struct Outcomes {
    json: bool,
    told: Mutex<Told>,
}

struct Told {
    waiting: Vec<Option<(String, Outcome)>>,
    next: usize,
    counts: [usize; 3],
    written: std::io::Result<()>,
}

impl Outcomes {
    fn new(json: bool, cases: usize) -> Self {
        let waiting = (0..cases).map(|_| None).collect();
        Self { json, told: Mutex::new(Told { waiting, next: 0, counts: [0; 3], written: Ok(()) }) }
    }

    fn add(&self, place: usize, file: &Path, outcome: Outcome) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut told = self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        told.waiting[place] = Some((name, outcome));
        while let Some((name, outcome)) = told.take() {
            told.counts[match outcome {
                Outcome::Pass { .. } => 0,
                Outcome::Fail(_) => 1,
                Outcome::Unsupported(_) => 2,
            }] += 1;
            if told.written.is_ok() {
                told.written = self.tell(&name, &outcome);
            }
        }
    }

    fn tell(&self, name: &str, outcome: &Outcome) -> std::io::Result<()> {
        let (word, detail) = (outcome.word(), outcome.detail());
        let mut out = std::io::stdout().lock();
        if self.json {
            let answer: Json = json!({"name": name, "status": word, "detail": detail});
            return writeln!(out, "{answer}");
        }
        writeln!(out, "{word:<11}  {name}: {detail}")
    }

    fn end(self, target: &str) -> Result<(), Failure> {
        let told = self.told.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        told.written?;
        let [pass, fail, unsupported] = told.counts;
        if !self.json {
            writeln!(std::io::stdout(), "{target}: {pass} pass, {fail} fail, {unsupported} unsupported")?;
        }
        match fail {
            0 => Ok(()),
            _ => Err(Failure::Broken(format!("{fail} of {} cases fail", pass + fail + unsupported))),
        }
    }
}

impl Told {
    /// The next outcome in order, where it is there.
    fn take(&mut self) -> Option<(String, Outcome)> {
        let outcome = self.waiting.get_mut(self.next)?.take()?;
        self.next += 1;
        Some(outcome)
    }
}
