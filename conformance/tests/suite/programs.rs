//! Compiles tile programs of one block for a target, and runs them on the emulator.

use std::sync::Mutex;

use tilewright::run::{HostBuffer, KernelArgument, KernelLaunch, bind_arguments, run_emulated};
use tilewright::{ProgramCompiler, ProgramOptions};
use tilewright_emulator::{LanePrintRecord, RunLimits};
use tilewright_kernel::Counts;
use tilewright_kernel::Kernel;
use tilewright_plugin::Target;

/// Compiles a program with default options.
pub fn compile(target: &dyn Target, text: &str) -> Kernel {
    let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target };
    compiler.compile_kernel(text, &ProgramOptions::default(), &mut |_| {}).expect("it compiles")
}

/// Runs a program of one block on words, and returns their values afterwards and the printed lines.
pub fn run(target: &dyn Target, text: &str, given: &[(&str, KernelArgument)], words: &[Vec<u32>]) -> Ran {
    let kernel = compile(target, text);
    let bytes: Vec<Vec<u8>> =
        words.iter().map(|words| words.iter().flat_map(|word| word.to_le_bytes()).collect()).collect();
    let sizes: Vec<u64> = bytes.iter().map(|bytes| bytes.len() as u64).collect();
    let arguments = bind_arguments(&kernel, given, &sizes).expect("the arguments fit");
    let buffers = bytes.iter().map(|bytes| HostBuffer::new(bytes)).collect();
    let launch = KernelLaunch { grid: [1, 1, 1], arguments: &arguments, buffers };
    let limits = RunLimits { global_races: true, ..RunLimits::default() };
    let printed = Mutex::new(Vec::new());
    let keep = |line: LanePrintRecord| printed.lock().expect("nothing panics").push(line.to_string());
    let ran = run_emulated(&kernel, target, &launch, &limits, Some(&keep));
    let ran = ran.unwrap_or_else(|error| panic!("{}: {error}", target.description().name));
    let after = ran.changed.into_iter().zip(bytes).map(|(changed, before)| changed.unwrap_or(before));
    let to_words = |bytes: Vec<u8>| {
        bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().expect("it has four bytes"))).collect()
    };
    Ran {
        words: after.map(to_words).collect(),
        printed: printed.into_inner().expect("nothing panics"),
        counts: ran.report.counts,
    }
}

/// Words after a run, printed lines, and counts of all warps.
pub struct Ran {
    pub words: Vec<Vec<u32>>,
    pub printed: Vec<String>,
    pub counts: Counts,
}
