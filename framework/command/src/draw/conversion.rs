//! `tilewright draw conversion`: how the elements of a tensor move from one layout to another.

use clap::Args;

use super::destination::Destination;
use crate::convert::{self, ConversionOptions};
use crate::failure::CommandError;
use crate::{GlobalOptions, input};

/// Options of `tilewright draw conversion`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    conversion: ConversionOptions,
    #[command(flatten)]
    destination: Destination,
}

/// Runs `tilewright draw conversion`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let requested = &options.conversion;
    let session = input::session(global)?;
    let request = requested.request(&session)?;
    let plan = session.plan_conversion(&requested.tensor.target, &request.src, &request.dst, request.element_bits)?;
    convert::draw(requested, &request, &plan, requested.tensor.target(&session)?, &options.destination)
}
