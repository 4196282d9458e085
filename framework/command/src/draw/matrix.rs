//! `tilewright draw matrix`: a layout's matrix over F2.

use clap::Args;
use tilewright_picture::view;

use super::destination::Destination;
use super::question::{Question, repeated};
use crate::failure::Failure;
use crate::{Global, input};

/// What to draw.
#[derive(Debug, Args)]
pub struct Options {
    /// The layout: `#ttg.blocked<{...}>`, its JSON form, or a linear layout's JSON.
    layout: String,
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    destination: Destination,
}

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let layout = options.question.layout(&session, "LAYOUT", &options.layout)?;
    let title = format!("matrix over F2, for a tensor of {}", options.question.shape);
    let mut picture = view::matrix(&title, layout.linear());
    picture.caption.splice(0..0, repeated("", &options.layout));
    options.destination.draw(picture)
}
