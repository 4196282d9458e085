//! The devices of a target.

use tilewright_plugin::{Device, DeviceError};
use tilewright_target::{Instruction, TargetDescription};
use tilewright_virtual_ptx::VirtualDevice;

use super::cuda;

/// Returns the devices of a target: GPUs first, then the virtual device, which needs the target's instruction table.
///
/// # Errors
/// [`DeviceError::Driver`] if a driver is installed and a call of it fails.
pub fn open_devices(
    target: &TargetDescription,
    instructions: &[Instruction],
) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    let mut devices = match cuda::devices(target) {
        Err(DeviceError::NoRuntime(_)) => Vec::new(),
        found => found?,
    };
    devices.push(Box::new(VirtualDevice::new(target.clone(), instructions.to_vec())));
    Ok(devices)
}
