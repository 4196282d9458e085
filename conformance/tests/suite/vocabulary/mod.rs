//! The words of tile programs: the lines of `words.txt` are operations that work element by element, with all types that Triton 3.9
//! lets them have; each file of `programs` has operations of another kind. All of it becomes a kernel for four targets, and for one of
//! them, in turn, code, or is refused for a reason that is the target's.
//!
//! `TILEWRIGHT_VOCABULARY=DIR` compiles the programs of a folder instead, for all targets, and tells what became of each that did not
//! compile; `TILEWRIGHT_VOCABULARY=all` makes code for all targets of the programs here.

use crate::served;
mod words;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tilewright::{ProgramCompiler, ProgramOptions};
use tilewright_kernel::Module;
use tilewright_plugin::{CompileOptions, Target};

use served::targets;

const TARGETS: [&str; 4] = ["a100", "h100", "mi300x", "max1550"];

/// Programs that a target refuses, and words of the reason.
const REFUSED: [(&str, &str, &str); 2] =
    [("asm_packed", "max1550", "operation `assembly`"), ("asm_two", "max1550", "operation `assembly`")];

/// What became of a program for a target.
struct Told {
    program: String,
    target: String,
    /// The message where it is refused.
    error: Option<String>,
    seconds: f64,
}

#[test]
fn every_word_becomes_code() {
    let requested = std::env::var_os("TILEWRIGHT_VOCABULARY").map(PathBuf::from);
    let folder = requested.as_deref().filter(|requested| *requested != Path::new("all"));
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/vocabulary/programs");
    let mut programs = files(folder.unwrap_or(&own));
    if folder.is_none() {
        programs.extend(words::programs());
    }
    let all = compiled(&programs, requested.is_some());
    let wrong: Vec<String> = all.iter().filter_map(unexpected).collect();
    println!("{} of {} compiled", all.iter().filter(|told| told.error.is_none()).count(), all.len());
    for told in all.iter().filter(|told| told.seconds > 20.0) {
        println!("slow: {} {}: {:.0} s", told.program, told.target, told.seconds);
    }
    assert!(folder.is_some() || programs.len() >= 120, "{}", programs.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with it: it is refused, or is not although it is listed as such.
fn unexpected(told: &Told) -> Option<String> {
    let Told { program, target, error, .. } = told;
    let listed = REFUSED.iter().find(|(name, on, _)| name == program && on == target);
    match (error, listed) {
        (None, None) => None,
        (Some(error), Some((.., words))) if error.contains(words) => None,
        (Some(error), _) => Some(format!("{program} {target}: {error}")),
        (None, Some(_)) => Some(format!("{program} {target}: it compiles, and is listed as refused")),
    }
}

/// The names and texts of the programs of a folder.
fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it is read").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "ttir" || ending == "ttgir"));
    files.sort();
    let read = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        (file.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(), text)
    };
    files.iter().map(read).collect()
}

/// What becomes of programs for each target; code for each, or for one of them in turn.
fn compiled(programs: &[(String, String)], codes: bool) -> Vec<Told> {
    let targets = targets(&TARGETS);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some((program, text)) = programs.get(place) else { return own };
            for (turn, target) in targets.iter().enumerate() {
                let start = Instant::now();
                let name = target.description().name.to_string();
                let is_listed = REFUSED.iter().any(|(listed, on, _)| listed == program && *on == name);
                let error = code(text, &**target, codes || is_listed || place % TARGETS.len() == turn).err();
                own.push(Told {
                    program: program.clone(),
                    target: name,
                    error,
                    seconds: start.elapsed().as_secs_f64(),
                });
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let start = |_| std::thread::Builder::new().stack_size(8 << 20).spawn_scoped(scope, work).expect("it starts");
        let threads: Vec<_> = (0..workers).map(start).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("nothing panics")).collect()
    })
}

fn code(text: &str, target: &dyn Target, codes: bool) -> Result<(), String> {
    let (dialects, imports) = (tilewright_dialects::all(), tilewright_dialects::imports());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target };
    let kernel = compiler.kernel(text, &ProgramOptions::default(), &mut |_| {}).map_err(|error| error.to_string())?;
    if !codes {
        return Ok(());
    }
    let module = Module { kernels: vec![kernel] };
    target.compile(&module, &CompileOptions::default()).map(drop).map_err(|error| format!("code: {error}"))
}
