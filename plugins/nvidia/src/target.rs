//! The targets of this vendor: GPUs, each with layout families, instructions and code generation.

use tilewright_kernel::Module;
use tilewright_nvidia_tables::{ARCHITECTURES, NvidiaTables};
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, VendorBackend, VendorTarget};
use tilewright_target::{Instruction, TargetDescription};

tilewright_plugin::register_targets! { plugin: "nvidia", architectures: ARCHITECTURES, create: NvidiaTarget::create_boxed }

/// The compilation target of one NVIDIA GPU model.
pub type NvidiaTarget = VendorTarget<NvidiaBackend>;

/// The vendor NVIDIA, as type parameter of [`VendorTarget`].
#[derive(Debug)]
pub struct NvidiaBackend;

impl VendorBackend for NvidiaBackend {
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
        tilewright_nvidia_device::open_devices(description, rows)
    }
}
