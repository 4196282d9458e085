//! `tilewright compile`: code for a kernel around a conversion.

use clap::Args;

use crate::code::{Code, Form};
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
    #[command(flatten)]
    code: Code,
}

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let question = options.conversion.question(&session)?;
    let name = &options.conversion.target;
    let module = session.conversion_module(name, &question.src, &question.dst, question.element_bits)?;
    options.code.write(&session, name, &module, options.emit)
}
