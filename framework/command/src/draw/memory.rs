//! `tilewright draw memory`: a memory layout in the banks of a target, and the conflicts of accesses.

use clap::Args;
use tilewright_picture::view::{self, MemoryPictureSpec};

use super::destination::PictureDestination;
use super::request::caption_lines;
use crate::failure::CommandError;
use crate::tensor::TensorArguments;
use crate::{GlobalOptions, input};

/// Options of `tilewright draw memory`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The memory layout: `#ttg.swizzled_shared<{...}>`, ..., its JSON form, or a linear layout's JSON.
    layout: String,
    #[command(flatten)]
    tensor: TensorArguments,
    /// The distributed layout of registers that are stored to the memory and loaded from it.
    #[arg(long, value_name = "LAYOUT", conflicts_with_all = ["store", "load"])]
    access: Option<String>,
    /// The distributed layout of registers that are stored to the memory.
    #[arg(long, value_name = "LAYOUT")]
    store: Option<String>,
    /// The distributed layout of registers that are loaded from the memory.
    #[arg(long, value_name = "LAYOUT")]
    load: Option<String>,
    #[command(flatten)]
    destination: PictureDestination,
}

/// Runs `tilewright draw memory`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let (tensor, target) = (&options.tensor, options.tensor.find_target(&session)?);
    let memory = tensor.parse_memory_layout(&session, "LAYOUT", &options.layout)?;
    let accessed = |name: &str, text: &Option<String>| {
        let text = text.as_ref().or(options.access.as_ref());
        text.map(|text| tensor.parse_distributed_layout(&session, name, text)).transpose()
    };
    let (store, load) = (accessed("--store", &options.store)?, accessed("--load", &options.load)?);
    let name = format!("{} {}", tensor.shape, tensor.element);
    let view = MemoryPictureSpec::new(&name, &memory, tensor.parse_element_bits()?, target)
        .with_store(store.as_ref())
        .with_load(load.as_ref());
    let mut picture = view::draw_memory(&view)?;
    picture.caption.splice(0..0, caption_lines("", &options.layout));
    options.destination.draw(picture)
}
