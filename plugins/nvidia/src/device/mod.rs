//! Devices of this vendor: GPUs under CUDA, and the virtual device, which executes PTX on any machine.

#[cfg(feature = "drivers")]
mod cuda;

use tilewright_plugin::{Device, DeviceError};
use tilewright_target::{Instruction, TargetDescription};

use tilewright_virtual_ptx::VirtualDevice;

/// Returns the devices of a target: GPUs first, then the virtual device.
///
/// # Errors
/// [`DeviceError`] if a driver is present and fails.
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

/// Returns no GPU: this build of the plugin opens no driver.
#[cfg(not(feature = "drivers"))]
fn hardware(_target: &TargetDescription) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    Ok(Vec::new())
}
