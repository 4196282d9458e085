//! Tests of all operations of tile programs. Lines of `words.txt` are elementwise operations with all types that Triton
//! 3.9 allows; each file of `programs` has operations of another kind.
//!
//! Every program must compile to a kernel for four targets, and to code for one of them in rotation, or be rejected
//! because the target lacks a feature.
//!
//! `TILEWRIGHT_VOCABULARY=DIR` compiles the programs of a folder instead, for all targets, and reports each one that
//! does not compile; `TILEWRIGHT_VOCABULARY=all` generates code for all targets from the programs here.

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

/// Programs that a target rejects: target, program and words of the reason.
const REFUSED: [(&str, &str, &str); 1] = [("asm_packed", "max1550", "operation `assembly`")];

/// The result of compiling a program for a target.
struct CompileResult {
    program: String,
    target: String,
    /// The message if the program is rejected; else `None`.
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
    println!("{} of {} compiled", all.iter().filter(|result| result.error.is_none()).count(), all.len());
    for result in all.iter().filter(|result| result.seconds > 20.0) {
        println!("slow: {} {}: {:.0} s", result.program, result.target, result.seconds);
    }
    assert!(folder.is_some() || programs.len() >= 120, "{}", programs.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns a message if the program is rejected unexpectedly, or compiles although it is listed as rejected.
fn unexpected(result: &CompileResult) -> Option<String> {
    let CompileResult { program, target, error, .. } = result;
    let listed = REFUSED.iter().find(|(name, on, _)| name == program && on == target);
    match (error, listed) {
        (None, None) => None,
        (Some(error), Some((.., words))) if error.contains(words) => None,
        (Some(error), _) => Some(format!("{program} {target}: {error}")),
        (None, Some(_)) => Some(format!("{program} {target}: it compiles, and is listed as refused")),
    }
}

/// Returns the names and texts of the programs in a folder.
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

/// Compiles programs for each target; generates code for each target if `codes`, or else for one of them in rotation.
fn compiled(programs: &[(String, String)], codes: bool) -> Vec<CompileResult> {
    let targets = targets(&TARGETS);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some((program, text)) = programs.get(number) else { return own };
            for (index, target) in targets.iter().enumerate() {
                let start = Instant::now();
                let name = target.description().name.to_string();
                let is_listed = REFUSED.iter().any(|(listed, on, _)| listed == program && *on == name);
                let error = code(text, &**target, codes || is_listed || number % TARGETS.len() == index).err();
                own.push(CompileResult {
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
    let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target };
    let kernel =
        compiler.compile_kernel(text, &ProgramOptions::default(), &mut |_| {}).map_err(|error| error.to_string())?;
    if !codes {
        return Ok(());
    }
    let module = Module { kernels: vec![kernel] };
    target.compile(&module, &CompileOptions::default()).map(drop).map_err(|error| format!("code: {error}"))
}
