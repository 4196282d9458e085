//! `tilewright draw global`: the bytes, sectors and lines of global memory that a warp's accesses touch.

use clap::Args;
use tilewright_picture::view::{self, GlobalAccessPictureSpec};

use super::destination::PictureDestination;
use super::request::caption_lines;
use crate::failure::CommandError;
use crate::tensor::TensorArguments;
use crate::{GlobalOptions, input};

/// Options of `tilewright draw global`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The distributed layout by which the tensor is loaded or stored.
    layout: String,
    #[command(flatten)]
    tensor: TensorArguments,
    /// The tensor's axes in memory, the fastest first, as 1,0. Default: row-major.
    #[arg(long, value_name = "AXES", value_delimiter = ',')]
    order: Vec<usize>,
    /// Index of the warp whose accesses are drawn, from 0.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    warp: u64,
    /// Size of a cache line, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 128)]
    line: u64,
    #[command(flatten)]
    destination: PictureDestination,
}

/// Runs `tilewright draw global`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let (tensor, target) = (&options.tensor, options.tensor.find_target(&session)?);
    let layout = tensor.parse_distributed_layout(&session, "LAYOUT", &options.layout)?;
    let order = match options.order.as_slice() {
        [] => (0..input::parse_shape(&tensor.shape)?.len()).rev().collect(),
        given => given.to_vec(),
    };
    let name = format!("{} {}", tensor.shape, tensor.element);
    let view = GlobalAccessPictureSpec::new(&name, &layout, &order, tensor.parse_element_bits()?, target)
        .with_warp(options.warp)
        .with_line_bytes(options.line);
    let mut picture = view::draw_global_accesses(&view)?;
    picture.caption.splice(0..0, caption_lines("", &options.layout));
    options.destination.draw(picture)
}
