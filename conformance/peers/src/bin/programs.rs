//! Compiles test cases of tile programs (`docs/tile-ir.md`) for a target and prints a line of JSON for each: the layout
//! conversions that remain, bytes of shared memory, and seconds by stage of the compiler.
//!
//! Assembly and kernel IR are written to a folder: `programs_beside_triton.py` counts instructions in the assembly, and
//! people can read both.
//!
//!     programs TARGET CASES FOLDER [--times N] [--only TEXT]
//!
//! Each case is compiled N times (once by default) in the same process. Interruptions only add to the time, so the
//! least time of each stage is printed.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use tilewright::{CompilationStageOutput, ProgramCompiler, ProgramError, ProgramOptions};
use tilewright_kernel::{Kernel, Module};
use tilewright_plan::movement::price_counts_in_wavefronts;
use tilewright_plugin::{CodeFormat, CompileOptions};
use tilewright_verify::case::ProgramCase;

type Failure = Box<dyn Error>;

/// Optimisation level of LLVM that Triton uses, for a fair comparison.
const OPTIMISATION: u8 = 3;

fn main() -> Result<(), Failure> {
    let Arguments { target, cases, folder, times, only } = requested()?;
    let target = tilewright_peers::open_target(&target)?;
    let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &*target };
    std::fs::create_dir_all(&folder)?;
    for file in programs(&cases, &only)? {
        let case = ProgramCase::read(&file.with_extension("json"))?;
        println!("{}", compiled(&compiler, &case, &folder, times)?);
    }
    Ok(())
}

struct Arguments {
    target: String,
    cases: PathBuf,
    folder: PathBuf,
    times: usize,
    only: String,
}

fn requested() -> Result<Arguments, Failure> {
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
    Ok(Arguments { target, cases: cases.into(), folder: folder.into(), times, only })
}

/// Returns the program files (`.ttir`) in a folder whose paths contain the text `only`, sorted by path.
fn programs(folder: &Path, only: &str) -> Result<Vec<PathBuf>, Failure> {
    let files =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, std::io::Error>>()?;
    let is_program = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "ttir");
    let mut files: Vec<PathBuf> =
        files.into_iter().filter(is_program).filter(|file| file.to_string_lossy().contains(only)).collect();
    files.sort();
    Ok(files)
}

/// Compiles a test case `times` times, writes its assembly and kernel IR to `folder`, and returns its line of JSON.
fn compiled(compiler: &ProgramCompiler<'_>, case: &ProgramCase, folder: &Path, times: usize) -> Result<Value, Failure> {
    let text = std::fs::read_to_string(&case.program)?;
    let options = ProgramOptions::default()
        .with_warps(case.warps)
        .with_stages(case.stages)
        .with_entry(&case.entry)
        .with_kept_assembly(true);
    let mut stages: Vec<(&'static str, f64)> = Vec::new();
    let mut line = Value::Null;
    for _ in 0..times {
        let mut watch = Watch { stages: &mut stages, last: Instant::now() };
        let compiled_case = compile_once(compiler, &text, &options, &mut watch);
        line = match compiled_case {
            Ok(compiled_case) => written(compiled_case, folder, case)?,
            Err(error) if error.is_unsupported() => {
                return Ok(json!({ "case": case.name, "unsupported": error.to_string() }));
            }
            Err(error) => return Err(format!("{}: {error}", case.name).into()),
        };
    }
    line["seconds"] = stages.into_iter().map(|(stage, least)| (stage.to_owned(), json!(least))).collect();
    Ok(line)
}

/// The code of a compiled test case and the numbers to be printed.
struct CompiledCase {
    conversions: Vec<Value>,
    /// Number of loads in loops that the compiler prefetches.
    prefetched_loads: usize,
    kernel: Kernel,
    assembly: Vec<u8>,
}

/// Measures the time between stages of the compiler.
struct Watch<'a> {
    stages: &'a mut Vec<(&'static str, f64)>,
    last: Instant,
}

impl Watch<'_> {
    fn record_stage(&mut self, stage: &'static str) {
        let seconds = self.last.elapsed().as_secs_f64();
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, least)) => *least = least.min(seconds),
            None => self.stages.push((stage, seconds)),
        }
        self.last = Instant::now();
    }
}

/// Compiles a test case once. Stage `llvm` is the time from kernel IR to optimised LLVM IR as text, stage `all` the
/// time from kernel IR to assembly.
fn compile_once(
    compiler: &ProgramCompiler<'_>,
    text: &str,
    options: &ProgramOptions,
    watch: &mut Watch<'_>,
) -> Result<CompiledCase, ProgramError> {
    let (mut conversions, mut prefetched_loads) = (Vec::new(), 0);
    let kernel = compiler.compile_kernel(text, options, &mut |stage| {
        watch.record_stage(stage.name());
        if let CompilationStageOutput::Layouts(assigned) = stage {
            conversions = assigned.report.costly_conversions().map(conversion).collect();
            let loops = assigned.report.functions.iter().flat_map(|function| &function.loops);
            prefetched_loads = loops.flat_map(|of| &of.loads).filter(|load| load.by.is_some()).count();
        }
        watch.last = Instant::now();
    })?;
    watch.record_stage("verify");
    let module = Module { kernels: vec![kernel] };
    let of = |emit: &[CodeFormat]| {
        compiler.target.compile(
            &module,
            &CompileOptions { emit: emit.to_vec(), optimisation: OPTIMISATION, ..CompileOptions::default() },
        )
    };
    watch.last = Instant::now();
    let intermediate = of(&[CodeFormat::Intermediate]);
    watch.record_stage("llvm");
    let artifact = of(&[CodeFormat::Intermediate, CodeFormat::Assembly]);
    watch.record_stage("all");
    let assembly = intermediate.and(artifact).map_err(|error| ProgramError::Entry(error.to_string()))?;
    let assembly = assembly.payload(CodeFormat::Assembly).map(|payload| payload.bytes.clone()).unwrap_or_default();
    let kernel = module.kernels.into_iter().next().ok_or_else(|| ProgramError::Entry("no kernel".to_owned()))?;
    Ok(CompiledCase { conversions, prefetched_loads, kernel, assembly })
}

fn conversion(conversion: &tilewright_assign::ConversionReport) -> Value {
    json!({
        "value": conversion.value,
        "operation": conversion.operation,
        "path": conversion.path.map(|path| path.to_string()),
        "slots": price_counts_in_wavefronts(&conversion.counts),
        "weight": conversion.weight,
        "wanted_by": conversion.required_by,
    })
}

fn written(compiled_case: CompiledCase, folder: &Path, case: &ProgramCase) -> Result<Value, Failure> {
    std::fs::write(folder.join(format!("{}.s", case.name)), &compiled_case.assembly)?;
    let kernel = Module { kernels: vec![compiled_case.kernel.clone()] };
    std::fs::write(folder.join(format!("{}.kernel", case.name)), kernel.to_string())?;
    Ok(json!({
        "case": case.name,
        "warps": compiled_case.kernel.launch.warps,
        "conversions": compiled_case.conversions,
        "ahead": compiled_case.prefetched_loads,
        "shared_bytes": compiled_case.kernel.shared_bytes(),
    }))
}
