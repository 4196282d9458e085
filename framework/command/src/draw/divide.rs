//! `tilewright draw divide`: the left division of a layout by a tile.

use clap::Args;
use tilewright_picture::view;

use super::destination::PictureDestination;
use super::request::{TensorOptions, caption_lines};
use crate::failure::CommandError;
use crate::{GlobalOptions, input};

/// Options of `tilewright draw divide`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The layout that is divided.
    a: String,
    /// The tile by which A is divided on the left, that is, at the low bits of each dim of A.
    b: String,
    /// The shape of B's tensor, if it is not the shape of A's.
    #[arg(long, value_name = "SHAPE")]
    by_shape: Option<String>,
    #[command(flatten)]
    request: TensorOptions,
    #[command(flatten)]
    destination: PictureDestination,
}

/// Runs `tilewright draw divide`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let request = &options.request;
    let a = request.parse_layout(&session, "A", &options.a)?;
    let by_shape = options.by_shape.as_ref().unwrap_or(&request.shape);
    let b = request.parse_layout_of_shape(&session, "B", &options.b, by_shape)?;
    let title = format!("left division, {} by {by_shape}", request.shape);
    let mut picture = view::draw_left_division(&title, ("A", a.linear()), ("B", b.linear()))?;
    let texts = [caption_lines("A", &options.a), caption_lines("B", &options.b)];
    picture.caption.splice(0..0, texts.concat());
    options.destination.draw(picture)
}
