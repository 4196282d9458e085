//! `tilewright compile`: code for a kernel around a conversion.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use tilewright::vendor::{CompileOptions, Emit};

use crate::convert::Conversion;
use crate::failure::Failure;
use crate::{Global, input};

/// What to compile to what.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    conversion: Conversion,
    /// The form of code.
    #[arg(long, value_enum, default_value_t = Form::Asm)]
    emit: Form,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Optimisation level of the code generator.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=3))]
    opt: u8,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// The kernel IR.
    Kernel,
    /// The code generator's intermediate form.
    Llvm,
    /// Assembly text.
    Asm,
    /// What a driver loads.
    Object,
}

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let question = options.conversion.question(&session)?;
    let name = &options.conversion.target;
    let module = session.conversion_module(name, &question.src, &question.dst, question.element_bits)?;
    let form = match options.emit {
        Form::Kernel => return write(options, module.to_string().as_bytes(), true),
        Form::Llvm => Emit::Intermediate,
        Form::Asm => Emit::Assembly,
        Form::Object => Emit::Object,
    };
    let wanted = CompileOptions { emit: vec![form], optimisation: options.opt };
    let artifact = session.compile(name, &module, &wanted)?;
    let payload = artifact.payload(form).ok_or_else(|| {
        Failure::Input(format!("target {name} has no such form of code; another value of --emit may do"))
    })?;
    write(options, &payload.bytes, std::str::from_utf8(&payload.bytes).is_ok())
}

fn write(options: &Options, bytes: &[u8], text: bool) -> Result<(), Failure> {
    match &options.output {
        Some(path) => std::fs::write(path, bytes)
            .map_err(|error| Failure::Input(format!("cannot write {}: {error}", path.display()))),
        None if !text && std::io::stdout().is_terminal() => {
            Err(Failure::Input("the code is binary: write it to a file with -o FILE, or to a pipe".to_owned()))
        }
        None => Ok(std::io::stdout().lock().write_all(bytes)?),
    }
}
