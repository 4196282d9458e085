//! The targets of this vendor: GPUs, each with layout families, instructions and code generation.

use tilewright_intel_tables::{ARCHITECTURES, IntelTables};
use tilewright_kernel::Module;
use tilewright_plugin::{Artifact, CompileError, CompileOptions, Device, DeviceError, VendorBackend, VendorTarget};
use tilewright_target::{Instruction, TargetDescription};

tilewright_plugin::register_targets! { plugin: "intel", architectures: ARCHITECTURES, create: IntelTarget::create_boxed }

/// The compilation target of one Intel GPU model.
pub type IntelTarget = VendorTarget<IntelBackend>;

/// The vendor Intel, as type parameter of [`VendorTarget`].
#[derive(Debug)]
pub struct IntelBackend;

impl VendorBackend for IntelBackend {
    type Tables = IntelTables;

    fn compile(
        description: &TargetDescription,
        rows: &[Instruction],
        module: &Module,
        options: &CompileOptions,
    ) -> Result<Artifact, CompileError> {
        crate::compile::compile_module(description, rows, module, options)
    }

    fn devices(description: &TargetDescription, _: &[Instruction]) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        tilewright_intel_device::list_devices(&description.gpu_model)
    }
}
