//! Compiles long programs to assembly, and measures the CPU seconds of each stage and the peak memory of the process,
//! for several lengths (numbers of operations). Each length is compiled in a process of its own, since peak memory is
//! counted per process.

#![allow(missing_docs)]

use tilewright_testkit::long_program;

use std::error::Error;
use std::process::Command;

use tilewright::{ProgramCompiler, ProgramOptions};
use tilewright_kernel::Module;
use tilewright_plugin::{CodeFormat, CompileOptions};

/// Environment variable with the number of operations to compile; set only for child processes.
const COUNT: &str = "TILEWRIGHT_LONG_PROGRAM";
const TARGET: &str = "h100";

fn main() -> Result<(), Box<dyn Error>> {
    if let Ok(count) = std::env::var(COUNT) {
        return compiled(count.parse()?);
    }
    println!("| operations | read | import | shape | layouts | kernel | math | LLVM IR | LLVM IR and assembly | MiB |");
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for count in [1000, 2000, 5000, 10_000] {
        let done = Command::new(std::env::current_exe()?).env(COUNT, count.to_string()).status()?;
        if !done.success() {
            return Err(format!("{count} operations: {done}").into());
        }
    }
    Ok(())
}

fn compiled(count: usize) -> Result<(), Box<dyn Error>> {
    let target = tilewright_peers::open_target(TARGET)?;
    let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &*target };
    let text = long_program::text(count);
    let (mut cells, mut last) = (vec![count.to_string()], processor_seconds());
    let mut record_time = |cells: &mut Vec<String>| {
        let now = processor_seconds();
        cells.push(format!("{:.2}", now - last));
        last = now;
    };
    let kernel = compiler.compile_kernel(&text, &ProgramOptions::default(), &mut |_| record_time(&mut cells))?;
    let module = Module { kernels: vec![kernel] };
    for form in [CodeFormat::Intermediate, CodeFormat::Assembly] {
        target.compile(&module, &CompileOptions { emit: vec![form], optimisation: 3, ..CompileOptions::default() })?;
        record_time(&mut cells);
    }
    cells.push(most_memory().map_or_else(|| "-".to_owned(), |kib| format!("{}", kib / 1024)));
    println!("| {} |", cells.join(" | "));
    Ok(())
}

/// CPU seconds of this process in user mode; zero if the system does not report them.
fn processor_seconds() -> f64 {
    const TICKS_IN_A_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may contain spaces, so fields are counted after its end.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: Option<f64> = fields.split_whitespace().nth(11).and_then(|ticks| ticks.parse().ok());
    ticks.unwrap_or(0.0) / TICKS_IN_A_SECOND
}

/// Peak memory of this process in KiB; `None` if the system does not report it.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
