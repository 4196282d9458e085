//! `tilewright draw compose`: one layout after another, step by step.

use clap::Args;
use tilewright_layout::{LayoutError, LinearLayout};
use tilewright_picture::view;

use super::destination::Destination;
use super::request::{TensorOptions, repeated};
use crate::failure::CommandError;
use crate::{GlobalOptions, input};

/// What to draw.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The layout that is applied first.
    a: String,
    /// The layout that is applied to what the first one gives.
    b: String,
    /// Apply B backwards: from elements to the positions that B gives them.
    #[arg(long)]
    invert: bool,
    #[command(flatten)]
    request: TensorOptions,
    #[command(flatten)]
    destination: Destination,
}

/// Runs the command.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::session(global)?;
    let a = options.request.layout(&session, "A", &options.a)?;
    let b = options.request.layout(&session, "B", &options.b)?;
    let (name, b) = match options.invert {
        false => ("B", b.linear().clone()),
        true => ("B⁻¹", b.linear().pseudoinvert().map_err(|error| CommandError::Input(format!("B: {error}")))?),
    };
    if let Err(error @ LayoutError::DimsDiffer { .. }) = a.linear().compose(&b) {
        return Err(CommandError::Input(format!("{error}{}", remedy(options, a.linear(), &b))));
    }
    let title = format!("composition, for a tensor of {}", options.request.shape);
    let mut picture = view::composition(&title, ("A", a.linear()), (name, &b))?;
    let texts = [repeated("A", &options.a), repeated("B", &options.b)];
    picture.caption.splice(0..0, texts.concat());
    options.destination.draw(picture)
}

/// What to do where the dims between the two differ: layouts of one tensor meet at the tensor.
fn remedy(options: &Options, a: &LinearLayout, b: &LinearLayout) -> &'static str {
    let meets = a.outs().dims().all(|dim| b.outs().contains(dim));
    match meets && !options.invert {
        true => "; both lead to the tensor, and --invert applies B backwards",
        false => "; B must start from the dims that A leads to",
    }
}
