//! The command `tilewright` as a library: it shows layouts, explains and compiles data movement and tile programs, and
//! answers batches of requests. Other programs answer single requests by [`answer_request`].
//!
//! Exit codes: 0 for success, 1 for an internal or plugin failure, 2 for bad input.

mod access;
mod alternatives;
mod batch;
mod compile;
mod convert;
mod copy;
mod dot;
mod draw;
mod emit;
mod explain;
mod failure;
mod gather;
mod global;
mod input;
mod instructions;
mod launch;
mod layout;
mod limits;
mod memory;
mod new_plugin;
mod notation;
mod operations;
mod optimizations;
mod program;
mod reduce;
mod run;
mod scan;
mod stats;
mod targets;
mod tensor;
mod text_table;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use batch::answer_request;
use failure::CommandError;
use global::GlobalOptions;

/// The section of `--help` on environment variables.
const ENVIRONMENT: &str = "\
Environment:
  TILEWRIGHT_PLUGIN_PATH     Directories of plugins, searched before the program's own
  TILEWRIGHT_PLUGIN_TIMEOUT  Seconds that a plugin may take for one answer; default 60
  TILEWRIGHT_PLUGIN_DEBUG    1: print each plugin found, and the reason if it is rejected
  TILEWRIGHT_TARGET_PATH     Directories of more target files";

/// Layouts, conversions and code for GPU targets.
#[derive(Debug, Parser)]
#[command(version, about, after_help = ENVIRONMENT)]
struct Arguments {
    #[command(flatten)]
    global: GlobalOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the targets.
    Targets(targets::Options),
    /// List the instructions of a target.
    Instructions(instructions::Options),
    /// List the operations of tile programs, or describe one.
    Operations(operations::Options),
    /// List the optimizations that `--disable` names.
    Optimizations,
    /// Show which lane and register holds each element of a layout.
    Layout(layout::Options),
    /// Draw a layout: to the terminal, or as SVG or HTML.
    #[command(subcommand)]
    Draw(draw::DrawCommand),
    /// Explain a conversion between two layouts on a target.
    Convert(convert::Options),
    /// Choose the layout of a tensor in shared memory.
    Memory(memory::Options),
    /// Explain a reduction along an axis, or compile it.
    Reduce(reduce::Options),
    /// Explain a scan along an axis, or compile it.
    Scan(scan::Options),
    /// Explain a gather along an axis, or compile it.
    Gather(gather::Options),
    /// Explain stores and loads between registers and memory, or compile them.
    Access(access::Options),
    /// Explain a copy of a tensor from global to shared memory, or compile it.
    Copy(copy::Options),
    /// Explain the matrix multiply (dot) of a target, or compile a kernel for it.
    Dot(dot::Options),
    /// Compile a tile program.
    Compile(compile::Options),
    /// Explain the layouts that the compiler assigned to a tile program.
    Explain(explain::Options),
    /// Run test cases on the emulator: tile programs with inputs and expected outputs.
    Run(run::Options),
    /// Answer requests, one JSON object a line.
    Batch(batch::Options),
    /// Start a plugin for GPUs that no plugin serves yet.
    NewPlugin(new_plugin::Options),
    /// Serve one plugin over standard input and output.
    #[command(hide = true)]
    PluginHost {
        /// Path of the plugin's library.
        library: PathBuf,
    },
}

/// Runs the command with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Targets(options) => targets::run(&arguments.global, options),
        Command::Instructions(options) => instructions::run(&arguments.global, options),
        Command::Operations(options) => operations::run(options),
        Command::Optimizations => optimizations::run(),
        Command::Layout(options) => layout::run(&arguments.global, options),
        Command::Draw(command) => draw::run(&arguments.global, command),
        Command::Convert(options) => convert::run(&arguments.global, options),
        Command::Memory(options) => memory::run(&arguments.global, options),
        Command::Reduce(options) => reduce::run(&arguments.global, options),
        Command::Scan(options) => scan::run(&arguments.global, options),
        Command::Gather(options) => gather::run(&arguments.global, options),
        Command::Access(options) => access::run(&arguments.global, options),
        Command::Copy(options) => copy::run(&arguments.global, options),
        Command::Dot(options) => dot::run(&arguments.global, options),
        Command::Compile(options) => compile::run(&arguments.global, options),
        Command::Explain(options) => explain::run(&arguments.global, options),
        Command::Run(options) => run::run(&arguments.global, options),
        Command::Batch(options) => batch::run(&arguments.global, options),
        Command::NewPlugin(options) => new_plugin::run(options),
        Command::PluginHost { library } => tilewright_plugin::serve_plugin(library).map_err(CommandError::from),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.print_and_exit_code(),
    }
}
