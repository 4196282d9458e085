//! `tilewright draw compose`: the composition of two layouts, step by step.

use clap::Args;
use tilewright_layout::{LayoutError, LinearLayout};
use tilewright_picture::view;

use super::destination::PictureDestination;
use super::request::{TensorOptions, caption_lines};
use crate::failure::CommandError;
use crate::{GlobalOptions, input};

/// Options of `tilewright draw compose`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The layout that is applied first.
    a: String,
    /// The layout that is applied to the result of A.
    b: String,
    /// Apply the inverse of B, which maps elements to positions.
    #[arg(long)]
    invert: bool,
    #[command(flatten)]
    request: TensorOptions,
    #[command(flatten)]
    destination: PictureDestination,
}

/// Runs `tilewright draw compose`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let a = options.request.parse_layout(&session, "A", &options.a)?;
    let b = options.request.parse_layout(&session, "B", &options.b)?;
    let (name, b) = match options.invert {
        false => ("B", b.linear().clone()),
        true => ("B⁻¹", b.linear().pseudoinvert().map_err(|error| CommandError::Input(format!("B: {error}")))?),
    };
    if let Err(error @ LayoutError::DimsDiffer { .. }) = a.linear().compose(&b) {
        return Err(CommandError::Input(format!("{error}{}", remedy(options, a.linear(), &b))));
    }
    let title = format!("composition, for a tensor of {}", options.request.shape);
    let mut picture = view::draw_composition(&title, ("A", a.linear()), (name, &b))?;
    let texts = [caption_lines("A", &options.a), caption_lines("B", &options.b)];
    picture.caption.splice(0..0, texts.concat());
    options.destination.draw(picture)
}

/// Returns a remedy for layouts that cannot be composed since their dims differ; the layouts of one tensor can be
/// composed through the tensor.
fn remedy(options: &Options, a: &LinearLayout, b: &LinearLayout) -> &'static str {
    let share_tensor = a.outs().dims().all(|dim| b.outs().contains(dim));
    match share_tensor && !options.invert {
        true => "; both lead to the tensor, and --invert applies B backwards",
        false => "; B must start from the dims that A leads to",
    }
}
