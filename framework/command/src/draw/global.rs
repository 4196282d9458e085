//! `tilewright draw global`: the bytes, sectors and lines of global memory that a warp's accesses touch.

use clap::Args;
use tilewright_picture::view::{self, GlobalView};

use super::Destination;
use super::question::repeated;
use crate::failure::Failure;
use crate::{Global, input};

/// What to draw.
#[derive(Debug, Args)]
pub struct Options {
    /// The distributed layout by which the tensor is loaded or stored.
    layout: String,
    /// The tensor's shape, as 64x64.
    #[arg(long, value_name = "SHAPE")]
    shape: String,
    /// The element type: f16, i8, ... or a width in bits.
    #[arg(long, value_name = "TYPE")]
    element: String,
    /// The target.
    #[arg(long, value_name = "NAME")]
    target: String,
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
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let target = session.catalogue().get(&options.target)?;
    let shape = input::shape(&options.shape)?;
    let layout = input::distributed(&session, "LAYOUT", &options.layout, Some(&options.target), &shape)?;
    let order = match options.order.as_slice() {
        [] => (0..shape.len()).rev().collect(),
        given => given.to_vec(),
    };
    let view = GlobalView {
        name: &format!("{} {}", options.shape, options.element),
        layout: &layout,
        order: &order,
        element_bits: input::element_bits(&options.element)?,
        target,
        warp: options.warp,
        line_bytes: options.line,
    };
    let mut picture = view::global(&view)?;
    picture.caption.splice(0..0, repeated("", &options.layout));
    options.destination.draw(picture)
}
