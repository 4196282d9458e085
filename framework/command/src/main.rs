//! The `tilewright` command: shows layouts, explains conversions, compiles them, and answers
//! questions in batches.
//!
//! Exit codes: 0 for an answer, 1 where something failed that should not, 2 for bad input.

mod access;
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
mod layout;
mod limits;
mod memory;
mod new_plugin;
mod notation;
mod program;
mod reduce;
mod run;
mod scan;
mod stats;
mod targets;
mod tensor;
mod text_table;
mod ways;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::CommandError;
use global::GlobalOptions;

/// What `--help` says of environment variables.
const ENVIRONMENT: &str = "\
Environment:
  TILEWRIGHT_PLUGIN_PATH     Directories of plugins, asked before the program's own
  TILEWRIGHT_PLUGIN_TIMEOUT  Seconds that a plugin may take for one answer; 60 where it is not set
  TILEWRIGHT_PLUGIN_DEBUG    1: print each plugin that is found, and why it was refused
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
    /// Explain how registers are stored to memory and loaded from it, or compile that.
    Access(access::Options),
    /// Explain how a tensor is copied from global to shared memory, or compile that.
    Copy(copy::Options),
    /// Explain how a target multiplies two matrices, or compile a kernel that does.
    Dot(dot::Options),
    /// Compile a tile program.
    Compile(compile::Options),
    /// Explain how the layouts of a tile program were found.
    Explain(explain::Options),
    /// Run cases: tile programs with what they must do, on the emulator.
    Run(run::Options),
    /// Answer questions, one JSON object a line.
    Batch(batch::Options),
    /// Begin a plugin for GPUs that nobody serves yet.
    NewPlugin(new_plugin::Options),
    /// Serve one plugin over standard input and output.
    #[command(hide = true)]
    PluginHost {
        /// The plugin's library.
        library: PathBuf,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Command::Targets(options) => targets::run(&arguments.global, options),
        Command::Instructions(options) => instructions::run(&arguments.global, options),
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
        Command::PluginHost { library } => tilewright_plugin::serve(library).map_err(CommandError::from),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
