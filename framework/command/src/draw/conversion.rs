//! `tilewright draw conversion`: how the elements of a tensor move from one layout to another.

use clap::Args;

use super::destination::PictureDestination;
use crate::convert::{self, ConversionOptions};
use crate::failure::CommandError;
use crate::{GlobalOptions, input};

/// Options of `tilewright draw conversion`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    conversion: ConversionOptions,
    #[command(flatten)]
    destination: PictureDestination,
}

/// Runs `tilewright draw conversion`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let requested = &options.conversion;
    let session = input::open_session(global)?;
    let request = requested.parse_request(&session)?;
    let plan = session.plan_conversion(&requested.tensor.target, &request.src, &request.dst, request.element_bits)?;
    convert::draw_plan(requested, &request, &plan, requested.tensor.find_target(&session)?, &options.destination)
}
