//! The targets of this vendor: GPUs, each with layout families, instructions and code generation.

use super::architectures::ARCHITECTURES;
use super::device;
use super::families::IntelFamilies;
use super::instructions::{INSTRUCTIONS, unused};
#[cfg(feature = "codegen")]
use tilewright_kernel::Module;
#[cfg(feature = "codegen")]
use tilewright_plugin::{Artifact, CompileError, CompileOptions};
use tilewright_plugin::{Device, DeviceError, InstructionGroup, VendorTarget};
use tilewright_target::{Instruction, TargetDescription, UnusedInstruction};

tilewright_plugin::register_targets! { plugin: "intel", architectures: ARCHITECTURES, create: IntelTarget::create }

/// The compilation target of one Intel GPU model.
pub type IntelTarget = VendorTarget<Intel>;

/// The vendor Intel, as type parameter of [`VendorTarget`].
#[derive(Debug)]
pub enum Intel {}

impl tilewright_plugin::Vendor for Intel {
    const ARCHITECTURES: &'static [&'static str] = ARCHITECTURES;
    const INSTRUCTIONS: &'static [InstructionGroup] = INSTRUCTIONS;
    type Families = IntelFamilies;

    fn families(architecture: &str) -> IntelFamilies {
        IntelFamilies::of(architecture)
    }

    fn unused_instructions(architecture: &str) -> Vec<UnusedInstruction> {
        unused(architecture)
    }

    #[cfg(feature = "codegen")]
    fn compile(
        description: &TargetDescription,
        rows: &[Instruction],
        module: &Module,
        options: &CompileOptions,
    ) -> Result<Artifact, CompileError> {
        crate::compile::compile(description, rows, module, options)
    }

    fn devices(description: &TargetDescription, _: &[Instruction]) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        device::devices(&description.gpu_model)
    }
}
