//! `tilewright draw conversion`: how the elements of a tensor move from one layout to another.

use clap::Args;
use tilewright_picture::view::{self, ConversionView};

use super::Destination;
use super::question::repeated;
use crate::convert::Conversion;
use crate::failure::Failure;
use crate::{Global, input};

/// What to draw.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    conversion: Conversion,
    #[command(flatten)]
    destination: Destination,
}

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let asked = &options.conversion;
    let session = input::session(global)?;
    let question = asked.question(&session)?;
    let plan = session.convert(&asked.target, &question.src, &question.dst, question.element_bits)?;
    let view = ConversionView {
        name: &format!("conversion of {} {}", asked.shape, asked.element),
        src: &question.src,
        dst: &question.dst,
        element_bits: question.element_bits,
        target: session.catalogue().get(&asked.target)?,
        plan: &plan,
    };
    let mut picture = view::conversion(&view)?;
    let texts = [repeated("from", &asked.src), repeated("to", &asked.dst)];
    picture.caption.splice(0..0, texts.concat());
    options.destination.draw(picture)
}
