//! The targets of this vendor: GPUs, each with layout families, instructions and code generation.

use tilewright_amd_tables::{ARCHITECTURES, AmdTables};
use tilewright_kernel::Module;
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, VendorBackend, VendorTarget};
use tilewright_target::{Instruction, TargetDescription};

tilewright_plugin::register_targets! { plugin: "amd", architectures: ARCHITECTURES, create: AmdTarget::create_boxed }

/// The compilation target of one AMD GPU model.
pub type AmdTarget = VendorTarget<AmdBackend>;

/// The vendor AMD, as type parameter of [`VendorTarget`].
#[derive(Debug)]
pub struct AmdBackend;

impl VendorBackend for AmdBackend {
    type Tables = AmdTables;

    fn compile(
        description: &TargetDescription,
        rows: &[Instruction],
        module: &Module,
        options: &CompileOptions,
    ) -> Result<Artifact, CompileError> {
        crate::compile::compile(description, rows, module, options)
    }

    fn devices(description: &TargetDescription, _: &[Instruction]) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        tilewright_amd_device::open_devices(&description.architecture)
    }
}
