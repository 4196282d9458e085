//! The targets of this vendor: GPUs, each with layout families, instructions and code generation.

use super::architectures::ARCHITECTURES;
use super::device;
use super::families::NvidiaFamilies;
use super::instructions::{INSTRUCTIONS, unused};
#[cfg(feature = "codegen")]
use tilewright_kernel::Module;
#[cfg(feature = "codegen")]
use tilewright_plugin::{Artifact, CompileError, CompileOptions};
use tilewright_plugin::{Device, DeviceError, InstructionGroup, VendorTarget};
use tilewright_target::{Instruction, TargetDescription, UnusedInstruction};

tilewright_plugin::register_targets! { plugin: "nvidia", architectures: ARCHITECTURES, create: NvidiaTarget::create }

/// The compilation target of one NVIDIA GPU model.
pub type NvidiaTarget = VendorTarget<Nvidia>;

/// The vendor NVIDIA, as type parameter of [`VendorTarget`].
#[derive(Debug)]
pub enum Nvidia {}

impl tilewright_plugin::Vendor for Nvidia {
    const ARCHITECTURES: &'static [&'static str] = ARCHITECTURES;
    const INSTRUCTIONS: &'static [InstructionGroup] = INSTRUCTIONS;
    type Families = NvidiaFamilies;

    fn families(architecture: &str) -> NvidiaFamilies {
        NvidiaFamilies::of(architecture)
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

    fn devices(description: &TargetDescription, rows: &[Instruction]) -> Result<Vec<Box<dyn Device>>, DeviceError> {
        device::devices(description, rows)
    }
}
