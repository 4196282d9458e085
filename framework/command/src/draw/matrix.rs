//! `tilewright draw matrix`: a layout's matrix over F2.

use clap::Args;
use tilewright_picture::view;

use super::Destination;
use crate::failure::Failure;
use crate::{Global, input};

/// What to draw.
#[derive(Debug, Args)]
pub struct Options {
    /// The layout: `#ttg.blocked<{...}>`, its JSON form, or a linear layout's JSON.
    layout: String,
    /// The tensor's shape, as 16x16.
    #[arg(long, value_name = "SHAPE")]
    shape: String,
    /// Resolve families through this target's plugin only.
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    #[command(flatten)]
    destination: Destination,
}

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let shape = input::shape(&options.shape)?;
    let layout = input::layout(&session, "LAYOUT", &options.layout, options.target.as_deref(), &shape)?;
    let title = super::title(&options.layout, &options.shape);
    options.destination.draw(view::matrix(&title, layout.linear()))
}
