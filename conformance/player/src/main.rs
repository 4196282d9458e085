//! Runs a folder that `conformance pack` wrote on this machine's GPU: the vendors' drivers, opened at run time, and
//! nothing that makes code; see `docs/gpu-machines.md`.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use conformance_pack::{PackIndex, PlayCommand};
use tilewright_plugin::Registry;
use tilewright_plugin::Target;
// Named, so that they are linked and their targets registered.
use {tilewright_amd as _, tilewright_intel as _, tilewright_nvidia as _};

/// Runs compiled cases on a GPU, compares what they leave, and times them.
#[derive(Debug, Parser)]
#[command(name = "conformance-run", version)]
#[command(
    after_help = "Exit status: 0 all are right; 1 some are not; 2 the command line or the pack is wrong; 3 there is \
                        no such device."
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
