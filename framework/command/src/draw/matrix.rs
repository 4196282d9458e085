//! `tilewright draw matrix`: a layout's matrix over F2.

use clap::Args;
use tilewright_picture::view;

use super::destination::PictureDestination;
use super::request::{TensorOptions, caption_lines};
use crate::failure::CommandError;
use crate::{GlobalOptions, input};

/// Options of `tilewright draw matrix`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The layout: `#ttg.blocked<{...}>`, its JSON form, or a linear layout's JSON.
    layout: String,
    #[command(flatten)]
    request: TensorOptions,
    #[command(flatten)]
    destination: PictureDestination,
}

/// Runs `tilewright draw matrix`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let layout = options.request.parse_layout(&session, "LAYOUT", &options.layout)?;
    let title = format!("matrix over F2, for a tensor of {}", options.request.shape);
    let mut picture = view::draw_f2_matrix(&title, layout.linear());
    picture.caption.splice(0..0, caption_lines("", &options.layout));
    options.destination.draw(picture)
}
