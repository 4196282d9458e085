//! `tilewright draw layout`: who holds each element, and what each lane holds.

use clap::{Args, ValueEnum};
use tilewright::layout::Dim;
use tilewright_picture::view::{self, ColourBy, LayoutOptions};

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
    /// What the hues of a distributed layout tell apart.
    #[arg(long, visible_alias = "color", value_enum, default_value_t = Colour::Lane)]
    colour: Colour,
    /// The two axes that are rows and columns, as dim0,dim1; the others are slices.
    #[arg(long, value_name = "ROWS,COLUMNS", value_parser = plane)]
    dims: Option<(Dim, Dim)>,
    #[command(flatten)]
    destination: Destination,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Colour {
    Lane,
    Warp,
    Register,
}

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let shape = input::shape(&options.shape)?;
    let layout = input::layout(&session, "LAYOUT", &options.layout, options.target.as_deref(), &shape)?;
    let colour = match options.colour {
        Colour::Lane => ColourBy::Lane,
        Colour::Warp => ColourBy::Warp,
        Colour::Register => ColourBy::Register,
    };
    let how = LayoutOptions { colour, plane: options.dims };
    let title = super::title(&options.layout, &options.shape);
    options.destination.draw(view::layout(&title, &layout, &how)?)
}

fn plane(text: &str) -> Result<(Dim, Dim), String> {
    let (rows, columns) = text.split_once(',').ok_or("two axes are written dim0,dim1")?;
    Ok((Dim::named(rows.trim()), Dim::named(columns.trim())))
}
