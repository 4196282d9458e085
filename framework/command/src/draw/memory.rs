//! `tilewright draw memory`: a memory layout in the banks of a target, and the conflicts of accesses.

use clap::Args;
use tilewright::layout::{Layout, MemoryLayout};
use tilewright_picture::view::{self, MemoryView};

use super::Destination;
use super::question::repeated;
use crate::failure::Failure;
use crate::{Global, input};

/// What to draw.
#[derive(Debug, Args)]
pub struct Options {
    /// The memory layout: `#ttg.swizzled_shared<{...}>`, ..., its JSON form, or a linear layout's JSON.
    layout: String,
    /// The tensor's shape, as 32x64.
    #[arg(long, value_name = "SHAPE")]
    shape: String,
    /// The element type: f16, i8, ... or a width in bits.
    #[arg(long, value_name = "TYPE")]
    element: String,
    /// The target whose banks serve it.
    #[arg(long, value_name = "NAME")]
    target: String,
    /// The distributed layout that is stored to it and loaded from it.
    #[arg(long, value_name = "LAYOUT", conflicts_with_all = ["store", "load"])]
    access: Option<String>,
    /// The distributed layout that is stored to it.
    #[arg(long, value_name = "LAYOUT")]
    store: Option<String>,
    /// The distributed layout that is loaded from it.
    #[arg(long, value_name = "LAYOUT")]
    load: Option<String>,
    #[command(flatten)]
    destination: Destination,
}

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let target = session.catalogue().get(&options.target)?;
    let shape = input::shape(&options.shape)?;
    let named = Some(options.target.as_str());
    let memory = match input::layout(&session, "LAYOUT", &options.layout, named, &shape)? {
        Layout::Memory(memory) => memory,
        Layout::Distributed(linear) if linear.ins().contains(tilewright::layout::Dim::OFFSET) => {
            MemoryLayout::linear(linear)
        }
        Layout::Distributed(_) | Layout::TensorMemory(_) => {
            let message = "LAYOUT: no layout of shared memory; `draw layout` draws layouts of every kind";
            return Err(Failure::Input(message.to_owned()));
        }
    };
    let accessed = |name: &str, text: &Option<String>| {
        let text = text.as_ref().or(options.access.as_ref());
        text.map(|text| input::distributed(&session, name, text, named, &shape)).transpose()
    };
    let (store, load) = (accessed("--store", &options.store)?, accessed("--load", &options.load)?);
    let view = MemoryView {
        name: &format!("{} {}", options.shape, options.element),
        memory: &memory,
        element_bits: input::element_bits(&options.element)?,
        target,
        store: store.as_ref(),
        load: load.as_ref(),
    };
    let mut picture = view::memory(&view)?;
    picture.caption.splice(0..0, repeated("", &options.layout));
    options.destination.draw(picture)
}
