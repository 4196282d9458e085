//! The targets of this vendor: GPUs, each with layout families, instructions and code generation.

use tilewright_kernel::Module;
use tilewright_nvidia_tables::{ARCHITECTURES, NvidiaTables};
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, Vendor, VendorTarget};
use tilewright_target::{Instruction, TargetDescription};

tilewright_plugin::register_targets! { plugin: "nvidia", architectures: ARCHITECTURES, create: NvidiaTarget::create }

/// The compilation target of one NVIDIA GPU model.
pub type NvidiaTarget = VendorTarget<Nvidia>;

/// The vendor NVIDIA, as type parameter of [`VendorTarget`].
#[derive(Debug)]
pub enum Nvidia {}

impl Vendor for Nvidia {
    type Tables = NvidiaTables;

    fn compile(
        description: &TargetDescription,
        rows: &[Instruction],
        module: &Module,
        options: &CompileOptions,
    ) -> Result<Artifact, CompileError> {
        crate::compile::compile(description, rows, module, options)
    }

    fn devices(description: &TargetDescription, rows: &[Instruction]) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        tilewright_nvidia_device::devices(description, rows)
    }
}
