//! `tilewright draw global`: the bytes, sectors and lines of global memory that a warp's accesses touch.

use clap::Args;
use tilewright_picture::view::{self, GlobalView};

use super::destination::Destination;
use super::request::repeated;
use crate::failure::CommandError;
use crate::tensor::TensorArguments;
use crate::{GlobalOptions, input};

/// What to draw.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The distributed layout by which the tensor is loaded or stored.
    layout: String,
    #[command(flatten)]
    tensor: TensorArguments,
    /// The tensor's axes in memory, the fastest first, as 1,0; row-major where nothing is said.
    #[arg(long, value_name = "AXES", value_delimiter = ',')]
    order: Vec<usize>,
    /// The warp.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    warp: u64,
    /// Bytes of a line.
    #[arg(long, value_name = "BYTES", default_value_t = 128)]
    line: u64,
    #[command(flatten)]
    destination: Destination,
}

/// Runs the command.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::session(global)?;
    let (tensor, target) = (&options.tensor, options.tensor.target(&session)?);
    let layout = tensor.distributed(&session, "LAYOUT", &options.layout)?;
    let order = match options.order.as_slice() {
        [] => (0..input::shape(&tensor.shape)?.len()).rev().collect(),
        given => given.to_vec(),
    };
    let view = GlobalView {
        name: &format!("{} {}", tensor.shape, tensor.element),
        layout: &layout,
        order: &order,
        element_bits: tensor.element_bits()?,
        target,
        warp: options.warp,
        line_bytes: options.line,
    };
    let mut picture = view::global(&view)?;
    picture.caption.splice(0..0, repeated("", &options.layout));
    options.destination.draw(picture)
}
