//! `tilewright draw divide`: the left division of a layout by a tile.

use clap::Args;
use tilewright_picture::view;

use super::destination::Destination;
use super::request::{TensorOptions, repeated};
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
    destination: Destination,
}

/// Runs `tilewright draw divide`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::session(global)?;
    let request = &options.request;
    let a = request.layout(&session, "A", &options.a)?;
    let by_shape = options.by_shape.as_ref().unwrap_or(&request.shape);
    let b = request.layout_of(&session, "B", &options.b, by_shape)?;
    let title = format!("left division, {} by {by_shape}", request.shape);
    let mut picture = view::division(&title, ("A", a.linear()), ("B", b.linear()))?;
    let texts = [repeated("A", &options.a), repeated("B", &options.b)];
    picture.caption.splice(0..0, texts.concat());
    options.destination.draw(picture)
}
