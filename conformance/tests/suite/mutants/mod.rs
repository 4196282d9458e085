//! Fuzzes the whole compiler: real programs with random changes are compiled for a target of each vendor.
//!
//! The result must be a valid kernel or an error; never a panic, a hang, or a stage that the next stage rejects.
//!
//! The test runs for some seconds. The environment variable `TILEWRIGHT_MUTANTS=N` creates N mutants,
//! `TILEWRIGHT_MUTANTS_FIRST=K` starts with the K-th, and `TILEWRIGHT_MUTANTS_KEEP=DIR` writes failing mutants to a
//! folder. If a number is given, the programs of the data outside of the repository are mutated too.

mod attributes;
mod change;
mod operations;
mod random;
use crate::served;
mod mutant_compiler;
mod text;
mod types;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tilewright_testkit::shared_data;
use tilewright_tile as tile;
use tilewright_tile::op::Dialects;
use tilewright_verify::case::ProgramCase;

use mutant_compiler::{MutantCompiler, Outcome};
use random::Random;
use served::targets;

const TARGETS: [&str; 4] = ["h100", "mi250", "max1550", "a100"];

/// Number of mutants if the environment gives none.
const USUAL: usize = 400;

/// Time limit of one mutant, after which the whole run is ended.
const STUCK: Duration = Duration::from_secs(180);

/// A program to mutate.
struct Program {
    name: String,
    text: String,
    module: tile::TileModule,
    /// The test case to run the program with; `None` if it is too large.
    case: Option<ProgramCase>,
}

#[test]
fn changed_programs_are_compiled_or_refused() {
    let dialects = tilewright_dialects::all_dialects();
    let imports = tilewright_dialects::read_import_tables();
    let programs = programs(&dialects);
    assert!(programs.len() >= 25, "{}", programs.len());
    let targets = targets(&TARGETS);
    let (count, first) = (number("TILEWRIGHT_MUTANTS", USUAL), number("TILEWRIGHT_MUTANTS_FIRST", 0));
    let tally = Tally::default();
    let next = AtomicUsize::new(first);
    let (tally, next, targets, programs) = (&tally, &next, &targets, &programs);
    let (dialects, imports) = (&dialects, &imports);
    std::thread::scope(|scope| {
        for worker in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let work = move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= first + count {
                        break;
                    }
                    let mut random = Random::new(number as u64);
                    let program = &programs[random.below(programs.len())];
                    let target = &targets[number % targets.len()];
                    let text = change::mutant(&program.text, &program.module, dialects, &mut random);
                    let mutant_compiler = MutantCompiler { dialects, imports, target: &**target };
                    tally.begins(worker, number, &text);
                    let outcome = mutant_compiler.outcome(&text, program.case.as_ref(), &mut random);
                    tally.record_end(
                        worker,
                        number,
                        &format!("{} {}", program.name, target.description().name),
                        &text,
                        outcome,
                    );
                }
                tally.rests(worker);
            };
            std::thread::Builder::new().stack_size(8 << 20).spawn_scoped(scope, work).expect("a thread starts");
        }
        scope.spawn(move || tally.watch());
    });
    let counts = tally.counts.lock().expect("nobody panicked").clone();
    println!("{counts}");
    assert_eq!(counts.broken, [""; 0], "{counts}");
    assert!(counts.compiled * 5 >= count, "too few mutants compile: {counts}");
    assert!(counts.refused > 0, "{counts}");
}

/// Counts of the outcomes so far.
#[derive(Default)]
struct Tally {
    counts: Mutex<OutcomeCounts>,
    running: Mutex<BTreeMap<usize, RunningMutant>>,
    resting: AtomicUsize,
}

/// The mutant that a worker compiles: its index, its start time, its text.
type RunningMutant = (usize, Instant, Arc<str>);

#[derive(Default, Clone)]
struct OutcomeCounts {
    compiled: usize,
    refused: usize,
    refused_in_lowering: BTreeMap<String, usize>,
    broken: Vec<String>,
}

impl std::fmt::Display for OutcomeCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} compiled, {} refused, {} broken", self.compiled, self.refused, self.broken.len())?;
        self.refused_in_lowering.iter().try_for_each(|(message, count)| writeln!(f, "{count} {message}"))?;
        self.broken.iter().try_for_each(|message| writeln!(f, "{message}"))
    }
}

impl Tally {
    fn begins(&self, worker: usize, number: usize, text: &str) {
        self.running.lock().expect("nobody panicked").insert(worker, (number, Instant::now(), text.into()));
    }

    fn record_end(&self, worker: usize, number: usize, which: &str, text: &str, outcome: Outcome) {
        let started = self.running.lock().expect("nobody panicked").remove(&worker);
        let taken = started.map_or(Duration::ZERO, |(_, start, _)| start.elapsed());
        if taken > Duration::from_secs(8) {
            eprintln!("mutant {number} ({which}) took {taken:?}");
            keep(&format!("slow-{number}"), text);
        }
        let mut counts = self.counts.lock().expect("nobody panicked");
        match outcome {
            Outcome::Compiled => counts.compiled += 1,
            Outcome::Refused(message) => {
                counts.refused += 1;
                if message.starts_with("in lowering: ") {
                    keep(&format!("lowering-{number}"), text);
                    *counts.refused_in_lowering.entry(message).or_insert(0) += 1;
                }
            }
            Outcome::Broken(message) => {
                keep(&number.to_string(), text);
                eprintln!("mutant {number} ({which}): {message}");
                counts.broken.push(format!("mutant {number} ({which}): {message}"));
            }
        }
    }

    fn rests(&self, worker: usize) {
        self.running.lock().expect("nobody panicked").remove(&worker);
        self.resting.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the process if a mutant exceeds the time limit, since nothing else can stop it.
    fn watch(&self) {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        while self.resting.load(Ordering::Relaxed) < workers {
            for (number, start, text) in self.running.lock().expect("nobody panicked").values() {
                if start.elapsed() > STUCK {
                    keep(&number.to_string(), text);
                    eprintln!("mutant {number} does not end:\n{text}");
                    std::process::exit(1);
                }
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Writes a mutant to the folder of `TILEWRIGHT_MUTANTS_KEEP`.
fn keep(name: &str, text: &str) {
    let Some(folder) = std::env::var_os("TILEWRIGHT_MUTANTS_KEEP") else { return };
    let file = Path::new(&folder).join(format!("{name}.ttir"));
    std::fs::write(&file, text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{variable}: {text}")))
}

/// Returns the suite's own programs and, for a long run, those of the data outside of the repository.
fn programs(dialects: &Dialects) -> Vec<Program> {
    let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("kernels")];
    let kernels = shared_data::path("kernels");
    if std::env::var_os("TILEWRIGHT_MUTANTS").is_some() && kernels.is_dir() {
        folders.extend(["cases", "ttgir"].map(|name| kernels.join(name)));
    }
    let mut programs = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
        files.sort();
        let is_program = |file: &&PathBuf| file.extension().is_some_and(|end| end == "ttir" || end == "ttgir");
        programs.extend(files.iter().filter(is_program).map(|file| program(file, dialects)));
    }
    programs
}

fn program(file: &Path, dialects: &Dialects) -> Program {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let module =
        tile::text::parse_module(&text, dialects).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let case = ProgramCase::read(&file.with_extension("json")).ok();
    Program { name: file.file_name().unwrap_or_default().to_string_lossy().into_owned(), text, module, case }
}
