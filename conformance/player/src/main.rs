//! The command that runs a pack (a folder that `conformance pack` wrote) on this machine's GPU. It opens the vendors'
//! drivers at run time and links no code generator; see `docs/devices.md`.

use std::process::ExitCode;

use clap::Parser;
use conformance_pack::{OpenDevices, PackIndex, PlayCommand};
use {tilewright_amd_tables as amd, tilewright_intel_tables as intel, tilewright_nvidia_tables as nvidia};

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
    ExitCode::from(Arguments::parse().command.run(find_vendor))
}

/// Returns the function by which the vendor of a pack's target opens devices.
fn find_vendor(index: &PackIndex) -> Result<OpenDevices, String> {
    let target = index.target.clone();
    let serves = |architectures: &[&str]| architectures.contains(&target.architecture.as_str());
    if serves(nvidia::ARCHITECTURES) {
        let rows = nvidia::instructions::instructions_of(&target.architecture);
        return Ok(Box::new(move || tilewright_nvidia_device::open_devices(&target, &rows)));
    }
    if serves(amd::ARCHITECTURES) {
        return Ok(Box::new(move || tilewright_amd_device::open_devices(&target.architecture)));
    }
    if serves(intel::ARCHITECTURES) {
        return Ok(Box::new(move || tilewright_intel_device::list_devices(&target.gpu_model)));
    }
    let known = [nvidia::ARCHITECTURES, amd::ARCHITECTURES, intel::ARCHITECTURES].concat().join(", ");
    Err(format!("target `{}`: no driver for architecture `{}`; there are {known}", target.name, target.architecture))
}
