//! `tilewright draw conversion`: how the elements of a tensor move from one layout to another.

use clap::Args;

use super::destination::Destination;
use crate::convert::{self, Conversion};
use crate::failure::Failure;
use crate::{Global, input};

/// What to draw.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    conversion: Conversion,
    #[command(flatten)]
    destination: Destination,
}

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let asked = &options.conversion;
    let session = input::session(global)?;
    let question = asked.question(&session)?;
    let plan = session.convert(&asked.tensor.target, &question.src, &question.dst, question.element_bits)?;
    convert::draw(asked, &question, &plan, asked.tensor.target(&session)?, &options.destination)
}
