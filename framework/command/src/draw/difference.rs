//! `tilewright draw difference`: the elements that differ between two layouts of one tensor.

use clap::Args;
use tilewright_picture::view::{self, LayoutDrawingOptions};

use super::destination::PictureDestination;
use super::layout::PlaneOptions;
use super::request::{TensorOptions, caption_lines};
use crate::failure::CommandError;
use crate::{GlobalOptions, input};

/// Options of `tilewright draw difference`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// One layout: `#ttg.blocked<{...}>`, its JSON form, or a linear layout's JSON.
    a: String,
    /// The other layout of the same tensor, in one of the same forms.
    b: String,
    #[command(flatten)]
    request: TensorOptions,
    #[command(flatten)]
    plane: PlaneOptions,
    #[command(flatten)]
    destination: PictureDestination,
}

/// Runs `tilewright draw difference`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let a = options.request.parse_layout(&session, "A", &options.a)?;
    let b = options.request.parse_layout(&session, "B", &options.b)?;
    let title = format!("two layouts of a tensor of {}", options.request.shape);
    let how = LayoutDrawingOptions { plane: options.plane.dims, ..LayoutDrawingOptions::default() };
    let mut picture = view::draw_difference(&title, ("A", &a), ("B", &b), &how)?;
    let texts = [caption_lines("A", &options.a), caption_lines("B", &options.b)];
    picture.caption.splice(0..0, texts.concat());
    options.destination.draw(picture)
}
