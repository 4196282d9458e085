//! Devices of this vendor. There is no driver in this build; what it has runs on any machine, and says so by its name.

use tilewright::target::{Instruction, TargetDescription};
use tilewright::vendor::Device;

use crate::virtual_device::VirtualDevice;

/// The devices that this build can drive: hardware before what stands for it.
pub(crate) fn devices(target: &TargetDescription, instructions: &[Instruction]) -> Vec<Box<dyn Device>> {
    vec![Box::new(VirtualDevice::new(target.clone(), instructions.to_vec()))]
}
