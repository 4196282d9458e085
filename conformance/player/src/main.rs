//! The command that runs a pack (a folder that `conformance pack` wrote) on this machine's GPU. It opens the vendors'
//! drivers at run time and links no code generator; see `docs/gpu-machines.md`.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use conformance_pack::{PackIndex, PlayCommand};
use tilewright_plugin::Registry;
use tilewright_plugin::Target;
// Imported so that the linker keeps the plugins and their targets are registered.
use {tilewright_amd as _, tilewright_intel as _, tilewright_nvidia as _};

/// Runs the compiled cases of a pack on a GPU, compares their results, and times them.
#[derive(Debug, Parser)]
#[command(name = "conformance-run", version)]
#[command(
    after_help = "Exit status: 0 all passed; 1 some failed; 2 the command line or the pack is invalid; 3 there is no \
        such device."
)]
struct Arguments {
    #[command(flatten)]
    command: PlayCommand,
}

fn main() -> ExitCode {
    let registry = Registry::new();
    let status = Arguments::parse().command.run(|index: &PackIndex| -> Result<Arc<dyn Target>, String> {
        registry.target(&index.target).map_err(|error| error.to_string())
    });
    ExitCode::from(status)
}
