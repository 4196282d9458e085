//! Compiles cases (`docs/tile-ir.md`) for a target and says what became of each, a line of JSON a case: the conversions that
//! are left, bytes of shared memory, seconds by stage. Assembly and kernel IR go to a folder, so that
//! `programs_beside_triton.py` can count what is in the one, and people can read the other.
//!
//!     programs TARGET CASES FOLDER [--times N] [--only TEXT]
//!
//! Each case is compiled N times (once by default) in the same process. Whatever interrupts a compilation only adds to its
//! time, so the least of each stage counts.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use tilewright::{ProgramCompiler, ProgramError, ProgramOptions, Stage};
use tilewright_kernel::{Kernel, Module};
use tilewright_plugin::{CompileOptions, Emit};
use tilewright_verify::case::ProgramCase;

type Failure = Box<dyn Error>;

/// The level at which Triton optimises.
const OPTIMISATION: u8 = 3;

fn main() -> Result<(), Failure> {
    let Asked { target, cases, folder, times, only } = requested()?;
    let target = tilewright_peers::target(&target)?;
    let (dialects, imports) = (tilewright_dialects::all(), tilewright_dialects::imports());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &*target };
    std::fs::create_dir_all(&folder)?;
    for file in programs(&cases, &only)? {
        let case = ProgramCase::read(&file.with_extension("json"))?;
        println!("{}", compiled(&compiler, &case, &folder, times)?);
    }
    Ok(())
}

struct Asked {
    target: String,
    cases: PathBuf,
    folder: PathBuf,
    times: usize,
    only: String,
}

fn requested() -> Result<Asked, Failure> {
    const USAGE: &str = "usage: programs TARGET CASES FOLDER [--times N] [--only TEXT]";
    let (mut plain, mut times, mut only) = (Vec::new(), 1, String::new());
    let mut given = std::env::args().skip(1);
    while let Some(word) = given.next() {
        match word.as_str() {
            "--times" => times = given.next().ok_or(USAGE)?.parse::<usize>()?.max(1),
            "--only" => only = given.next().ok_or(USAGE)?,
            _ => plain.push(word),
        }
    }
    let [target, cases, folder] = <[String; 3]>::try_from(plain).map_err(|_| USAGE)?;
    Ok(Asked { target, cases: cases.into(), folder: folder.into(), times, only })
}

/// The files of programs whose names have the text, by name.
fn programs(folder: &Path, only: &str) -> Result<Vec<PathBuf>, Failure> {
    let files =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
    let is_program = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "ttir");
    let mut files: Vec<PathBuf> =
        files.into_iter().filter(is_program).filter(|file| file.to_string_lossy().contains(only)).collect();
    files.sort();
    Ok(files)
}

/// What became of a case.
fn compiled(compiler: &ProgramCompiler<'_>, case: &ProgramCase, folder: &Path, times: usize) -> Result<Value, Failure> {
    let text = std::fs::read_to_string(&case.program)?;
    let (warps, stages) = (Some(case.warps), case.stages);
    let options = ProgramOptions { warps, stages, entry: Some(case.entry.clone()), ..Default::default() };
    let mut stages: Vec<(&'static str, f64)> = Vec::new();
    let mut told = Value::Null;
    for _ in 0..times {
        let mut watch = Watch { stages: &mut stages, last: Instant::now() };
        let made = made(compiler, &text, &options, &mut watch);
        told = match made {
            Ok(made) => written(made, folder, case)?,
            Err(error) if error.is_unsupported() => {
                return Ok(json!({ "case": case.name, "unsupported": error.to_string() }));
            }
            Err(error) => return Err(format!("{}: {error}", case.name).into()),
        };
    }
    told["seconds"] = stages.into_iter().map(|(stage, least)| (stage.to_owned(), json!(least))).collect();
    Ok(told)
}

/// A compiled case.
struct Made {
    conversions: Vec<Value>,
    /// Loads of loops that go ahead of what uses them.
    ahead: usize,
    kernel: Kernel,
    assembly: Vec<u8>,
}

/// The time that passes between stages.
struct Watch<'a> {
    stages: &'a mut Vec<(&'static str, f64)>,
    last: Instant,
}

impl Watch<'_> {
    fn ended(&mut self, stage: &'static str) {
        let seconds = self.last.elapsed().as_secs_f64();
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, least)) => *least = least.min(seconds),
            None => self.stages.push((stage, seconds)),
        }
        self.last = Instant::now();
    }
}

/// Compiles once. `llvm` is from the kernel IR to optimised LLVM IR as text, `all` the same and assembly.
fn made(
    compiler: &ProgramCompiler<'_>,
    text: &str,
    options: &ProgramOptions,
    watch: &mut Watch<'_>,
) -> Result<Made, ProgramError> {
    let (mut conversions, mut ahead) = (Vec::new(), 0);
    let kernel = compiler.kernel(text, options, &mut |stage| {
        watch.ended(stage.name());
        if let Stage::Layouts(assigned) = stage {
            conversions = assigned.report.costly().map(conversion).collect();
            let loops = assigned.report.functions.iter().flat_map(|function| &function.loops);
            ahead = loops.flat_map(|of| &of.loads).filter(|load| load.by.is_some()).count();
        }
        watch.last = Instant::now();
    })?;
    watch.ended("verify");
    let module = Module { kernels: vec![kernel] };
    let of = |emit: &[Emit]| {
        compiler.target.compile(&module, &CompileOptions { emit: emit.to_vec(), optimisation: OPTIMISATION })
    };
    watch.last = Instant::now();
    let intermediate = of(&[Emit::Intermediate]);
    watch.ended("llvm");
    let artifact = of(&[Emit::Intermediate, Emit::Assembly]);
    watch.ended("all");
    let assembly = intermediate.and(artifact).map_err(|error| ProgramError::Entry(error.to_string()))?;
    let assembly = assembly.payload(Emit::Assembly).map(|payload| payload.bytes.clone()).unwrap_or_default();
    let kernel = module.kernels.into_iter().next().ok_or_else(|| ProgramError::Entry("no kernel".to_owned()))?;
    Ok(Made { conversions, ahead, kernel, assembly })
}

fn conversion(conversion: &tilewright_assign::ConversionReport) -> Value {
    json!({
        "value": conversion.value,
        "operation": conversion.operation,
        "path": conversion.path.map(|path| path.to_string()),
        "slots": conversion.slots,
        "weight": conversion.weight,
        "wanted_by": conversion.required_by,
    })
}

fn written(made: Made, folder: &Path, case: &ProgramCase) -> Result<Value, Failure> {
    std::fs::write(folder.join(format!("{}.s", case.name)), &made.assembly)?;
    let kernel = Module { kernels: vec![made.kernel.clone()] };
    std::fs::write(folder.join(format!("{}.kernel", case.name)), kernel.to_string())?;
    Ok(json!({
        "case": case.name,
        "warps": made.kernel.launch.warps,
        "conversions": made.conversions,
        "ahead": made.ahead,
        "shared_bytes": made.kernel.shared_bytes(),
    }))
}
