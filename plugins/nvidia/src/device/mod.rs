//! Devices of this vendor: GPUs under CUDA, and one that runs on any machine, which says so by its name.
//!
//! May import the crate's root, and nothing of `compile`: what a device is handed comes from outside.

#[cfg(feature = "drivers")]
mod cuda;
pub mod virtual_device;

use tilewright_plugin::{Device, DeviceError};
use tilewright_target::{Instruction, TargetDescription};

use virtual_device::VirtualDevice;

/// The devices of a target's product: hardware before what stands for it.
///
/// # Errors
/// A driver that is there and fails.
pub(crate) fn devices(
    target: &TargetDescription,
    instructions: &[Instruction],
) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    let mut devices = match hardware(target) {
        Err(DeviceError::NoRuntime(_)) => Vec::new(),
        found => found?,
    };
    devices.push(Box::new(VirtualDevice::new(target.clone(), instructions.to_vec())));
    Ok(devices)
}

#[cfg(feature = "drivers")]
use cuda::devices as hardware;

/// No GPU: this build of the plugin opens no driver.
#[cfg(not(feature = "drivers"))]
fn hardware(_target: &TargetDescription) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    Ok(Vec::new())
}
