//! The tables of this vendor's targets.

use super::architectures::ARCHITECTURES;
use super::families::NvidiaFamilies;
use super::instructions::{INSTRUCTIONS, omitted_instructions_of};
use tilewright_plugin::{InstructionGroup, VendorTables};
use tilewright_target::OmittedInstruction;

/// The layout families and instructions of NVIDIA GPUs.
#[derive(Debug)]
pub struct NvidiaTables;

impl VendorTables for NvidiaTables {
    const ARCHITECTURES: &'static [&'static str] = ARCHITECTURES;
    const INSTRUCTIONS: &'static [InstructionGroup] = INSTRUCTIONS;
    type Families = NvidiaFamilies;

    fn families(architecture: &str) -> NvidiaFamilies {
        NvidiaFamilies::for_architecture(architecture)
    }

    fn omitted_instructions(architecture: &str) -> Vec<OmittedInstruction> {
        omitted_instructions_of(architecture)
    }
}
