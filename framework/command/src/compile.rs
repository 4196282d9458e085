//! `tilewright compile`: code for a kernel around a conversion.

use clap::Args;

use tilewright::lower::conversion_kernel;
use tilewright::pipeline::PipelineError;

use crate::convert::Conversion;
use crate::emit::{Code, Form, emit};
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
    let target = &options.conversion.tensor.target;
    let plan = session.convert(target, &question.src, &question.dst, question.element_bits)?;
    let kernel = conversion_kernel("convert", &question.src, &question.dst, question.element_bits, &plan);
    emit(&session, target, vec![kernel.map_err(PipelineError::from)?], options.emit, &options.code)
}
