//! Executes the PTX of test cases (`docs/tile-ir.md`) on the virtual device and prints a line of JSON for each: the
//! instructions issued by class, and counts of memory accesses. Every buffer must have the expected contents.
//!
//!     executed TARGET CASES [FOLDER] [--contents FOLDER]
//!     executed TARGET CASES --emit FOLDER [--disable NAME]... [--changed-from FOLDER] [--contents FOLDER]
//!
//! Without a folder, the cases are compiled here; `--emit` names one for their PTX, and `--disable` optimizations
//! (`tilewright optimizations`) that they are compiled without; `--changed-from` leaves out cases with the same PTX as in a
//! folder. `--contents` names a folder for the contents of all buffers after the run: a file `CASE.BUFFER.bin` for each.
//!
//! The first folder without an option has the PTX of another compiler in `NAME.ptx`, and facts that the PTX does not
//! state in `NAME.launch.json`: `warps`, `shared_bytes`, and `scratch_bytes`: for each scratch buffer that follows the
//! arguments, its number of bytes per program of the grid (`machine_code_beside_triton.py` writes both files).
//!
//! `sectors_stored` are those of `sectors` that stores touch. `issued_by_line` has the executions of the instructions of
//! each line of the PTX that executes.
//!
//! `issue_cycles` and `pipe_cycles` are the cost model's (`docs/cost-model.md`) for one compute unit that executes all
//! blocks: the issue slots of the PTX instructions, and the cycles of all other resources. Latency does not count.

use std::error::Error;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use tilewright::ProgramCompiler;
use tilewright::target::{Optimization, OptimizationSet};
use tilewright_kernel::Counts;
use tilewright_plan::cost::{GlobalWork, WarpTime, WarpWork};
use tilewright_plugin::{Artifact, CodeFormat, CodePayload, CompileOptions, DeviceError, KernelMetadata, Target};

use tilewright_verify::case::{CaseBuffer, CaseElement, CaseValue, ExpectedContents, ProgramCase};
use tilewright_verify::{CheckFailure, TestLaunch, check_loaded};
use tilewright_virtual_ptx::{LaunchReport, VirtualDevice};

type Failure = Box<dyn Error>;

/// Optimisation level of LLVM that Triton uses, for a fair comparison.
const OPTIMISATION: u8 = 3;

fn main() -> Result<(), Failure> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let given = Arguments::parse(&given).ok_or(USAGE)?;
    let target = tilewright_peers::open_target(given.target)?;
    let disabled = given.disabled.iter().map(|name| name.parse::<Optimization>()).collect::<Result<_, _>>()?;
    for file in ProgramCase::list_case_files(given.cases)? {
        let case = ProgramCase::read(&file)?;
        let built = match given.folder {
            None => compile(&case, &*target, disabled),
            Some(folder) if !ptx_file(folder, &case).exists() => continue,
            Some(folder) => read(&case, folder),
        };
        if let Ok(built) = &built {
            let ptx = &built.artifact.payloads[0].bytes;
            if given.unchanged.is_some_and(|folder| std::fs::read(ptx_file(folder, &case)).is_ok_and(|own| own == *ptx))
            {
                continue;
            }
            if let Some(folder) = given.emitted {
                std::fs::write(ptx_file(folder, &case), ptx)?;
            }
        }
        let line = built.and_then(|built| execute(&built, &*target, given.contents.map(|folder| (folder, &case))));
        println!("{}", line.unwrap_or_else(failed).with_case(&case));
    }
    Ok(())
}

const USAGE: &str = "usage: executed TARGET CASES [FOLDER | --emit FOLDER [--disable NAME]... [--changed-from FOLDER]] \
                     [--contents FOLDER]";

/// The arguments of the command line.
struct Arguments<'a> {
    target: &'a str,
    cases: &'a Path,
    /// The folder with the PTX of another compiler.
    folder: Option<&'a Path>,
    /// The folder to which the PTX of this compiler is written.
    emitted: Option<&'a Path>,
    /// The names of optimizations to disable.
    disabled: Vec<&'a str>,
    /// The folder with PTX of an earlier run; cases whose PTX is the same are left out.
    unchanged: Option<&'a Path>,
    /// The folder to which the contents of all buffers after the run are written.
    contents: Option<&'a Path>,
}

impl<'a> Arguments<'a> {
    /// Returns the arguments; `None` if they break the usage.
    fn parse(given: &'a [String]) -> Option<Self> {
        let [target, cases, rest @ ..] = given else { return None };
        let mut arguments = Self {
            target,
            cases: Path::new(cases),
            folder: None,
            emitted: None,
            disabled: Vec::new(),
            unchanged: None,
            contents: None,
        };
        let options = match rest {
            [folder, options @ ..] if !folder.starts_with("--") => {
                arguments.folder = Some(Path::new(folder));
                options
            }
            options => options,
        };
        for option in options.chunks(2) {
            let [option, value] = option else { return None };
            match option.as_str() {
                "--contents" => arguments.contents = Some(Path::new(value)),
                _ if arguments.folder.is_some() => return None,
                "--emit" => arguments.emitted = Some(Path::new(value)),
                "--disable" => arguments.disabled.push(value),
                "--changed-from" => arguments.unchanged = Some(Path::new(value)),
                _ => return None,
            }
        }
        Some(arguments)
    }
}

/// A launch with the code that the virtual device executes for it.
struct BuiltCase {
    launch: TestLaunch,
    artifact: Artifact,
    /// Whether another compiler made the code.
    is_foreign: bool,
}

/// Compiles a case with this project's compiler.
fn compile(case: &ProgramCase, target: &dyn Target, disabled: OptimizationSet) -> Result<BuiltCase, Failure> {
    let text = std::fs::read_to_string(&case.program)?;
    let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target };
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: OPTIMISATION, disabled };
    let (launch, artifact) = case.compile_variant_launch(&compiler, &text, &options)?;
    Ok(BuiltCase { launch, artifact, is_foreign: false })
}

/// The parts of a launch that the PTX of another compiler does not state.
#[derive(Deserialize)]
struct ForeignLaunch {
    warps: u32,
    shared_bytes: u64,
    /// For each scratch buffer that the kernel takes after the arguments of the function: its number of bytes per
    /// program of the grid.
    scratch_bytes: Vec<u64>,
}

fn ptx_file(folder: &Path, case: &ProgramCase) -> PathBuf {
    folder.join(format!("{}.ptx", case.name))
}

/// Reads the PTX of another compiler, and its launch parameters from the file next to it.
fn read(case: &ProgramCase, folder: &Path) -> Result<BuiltCase, Failure> {
    let file = ptx_file(folder, case);
    let given: ForeignLaunch = serde_json::from_slice(&std::fs::read(file.with_extension("launch.json"))?)?;
    let metadata = KernelMetadata {
        name: case.entry.clone(),
        lanes: 32,
        warps: given.warps,
        blocks: 1,
        shared_bytes: given.shared_bytes,
        registers: 0,
        maps: Vec::new(),
        parameters: None,
    };
    let payload = CodePayload {
        form: CodeFormat::Assembly,
        format: "ptx".to_owned(),
        bytes: std::fs::read(file)?,
        may_differ: false,
    };
    let artifact = Artifact { payloads: vec![payload], kernels: vec![metadata], accepted_by: None };
    Ok(BuiltCase { launch: foreign_launch(case, &given.scratch_bytes), artifact, is_foreign: true })
}

/// Returns the launch of a kernel that takes the case's arguments and then pointers to scratch buffers.
fn foreign_launch(case: &ProgramCase, scratch_bytes: &[u64]) -> TestLaunch {
    let programs: u64 = case.grid.iter().copied().map(u64::from).product();
    let mut arguments: Vec<CaseValue> = case.arguments.iter().map(|argument| argument.value).collect();
    let mut buffers = case.buffers.clone();
    for (index, bytes) in scratch_bytes.iter().map(|bytes| bytes * programs).enumerate() {
        arguments.push(CaseValue::Buffer(buffers.len()));
        buffers.push(CaseBuffer {
            name: format!("scratch{index}"),
            element: CaseElement::Unsigned(8),
            shape: vec![bytes],
            before: vec![0; bytes as usize],
            after: ExpectedContents::Anything,
        });
    }
    TestLaunch {
        kernel: case.entry.clone(),
        grid: case.grid,
        arguments,
        buffers: buffers.into_iter().map(Into::into).collect(),
        counts: None,
        predicted: None,
    }
}

/// The line of JSON that is printed for a case.
struct Line(Value);

impl Line {
    fn with_case(mut self, case: &ProgramCase) -> Value {
        self.0["case"] = json!(case.name);
        self.0
    }
}

/// Executes a case on the virtual device, and writes the contents of its buffers to the folder `contents`, if there is
/// one. Wrong results are reported as an error, like a launch that fails.
fn execute(built: &BuiltCase, target: &dyn Target, contents: Option<(&Path, &ProgramCase)>) -> Result<Line, Failure> {
    let device = VirtualDevice::new(target.description().clone(), target.instructions().to_vec());
    // Triton stores replicated values from all warps that hold them, which the device would otherwise report as an
    // error.
    let mut device = if built.is_foreign { device.with_replicated_stores() } else { device };
    let checked = match built.launch.load(&built.artifact, &mut device).map_err(CheckFailure::from) {
        Ok(mut loaded) => {
            let checked = check_loaded(&built.launch, &mut loaded);
            if let Some((folder, case)) = contents {
                write_contents(folder, case, &loaded.read()?)?;
            }
            checked
        }
        Err(failure) => Err(failure),
    };
    Ok(match checked {
        Ok(_) => {
            let report = device.report();
            let mut counts = json!(report.metrics());
            let cycles = model_cycles(report, target);
            counts["sectors_stored"] = json!(report.transactions_stored);
            counts["issued_by_line"] = json!(report.issued_by_line);
            counts["issue_cycles"] = json!(cycles.issue);
            counts["pipe_cycles"] = json!(cycles.throughput_cycles() - cycles.issue);
            Line(json!({ "executed": counts }))
        }
        Err(CheckFailure::Device(DeviceError::Unsupported(message))) => Line(json!({ "unsupported": message })),
        Err(error) => Line(json!({ "wrong": error.to_string() })),
    })
}

/// Writes the contents `left` of a case's buffers.
fn write_contents(folder: &Path, case: &ProgramCase, left: &[Vec<u8>]) -> std::io::Result<()> {
    // Scratch buffers of another compiler follow the case's buffers; they have no name of the case.
    for (buffer, left) in case.buffers.iter().zip(left) {
        std::fs::write(folder.join(format!("{}.{}.bin", case.name, buffer.name)), left)?;
    }
    Ok(())
}

/// Returns the cycles of a compute unit that executes all warps of a launch, by the cost model without latency.
fn model_cycles(report: &LaunchReport, target: &dyn Target) -> WarpTime {
    let (metrics, description) = (report.metrics(), target.description());
    let counts = Counts {
        // `redux.sync` takes the cycles of two shuffles (measured: docs/results/gpus.md).
        shuffles: metrics["shuffle"] + 2 * metrics["redux"],
        barriers: report.totals.barriers,
        wavefronts_stored: report.totals.wavefronts_stored,
        wavefronts_loaded: report.totals.wavefronts_loaded,
        ..Counts::default()
    };
    let global = GlobalWork {
        accesses: metrics["global"] as f64,
        address_cycles: 0.0,
        lines: 0.0,
        loaded_sectors: report.transactions_loaded as f64,
        stored_sectors: report.transactions_stored as f64,
    };
    let pipes = description.matrix.as_ref().map_or(1.0, |matrix| f64::from(matrix.pipes));
    let matrix_cycles = |(opcode, times): (&String, &u64)| {
        let name = opcode.replace(".satfinite", "");
        let row = target.instructions().iter().find(|row| row.name.starts_with(&name))?;
        Some(description.issue_cycles(row)?.cycles * *times as f64 / pipes)
    };
    let matrix_cycles = report.issued.iter().filter_map(matrix_cycles).sum();
    let mut work = WarpWork { counts, global, matrix_cycles, ..WarpWork::default() };
    // The model adds the instructions that compute addresses, which are issued ones here.
    work.instructions = metrics["issued"] as f64 - work.issued_instructions();
    work.predict_time(1, description)
}

fn failed(error: Failure) -> Line {
    Line(json!({ "unsupported": error.to_string() }))
}
