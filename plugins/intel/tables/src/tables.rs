//! The tables of this vendor's targets.

use super::architectures::ARCHITECTURES;
use super::families::IntelFamilies;
use super::instructions::{INSTRUCTIONS, omitted_instructions_of};
use tilewright_plugin::{InstructionGroup, VendorTables};
use tilewright_target::OmittedInstruction;

/// The layout families and instructions of Intel GPUs.
#[derive(Debug)]
pub struct IntelTables;

impl VendorTables for IntelTables {
    const ARCHITECTURES: &'static [&'static str] = ARCHITECTURES;
    const INSTRUCTIONS: &'static [InstructionGroup] = INSTRUCTIONS;
    type Families = IntelFamilies;

    fn families(architecture: &str) -> IntelFamilies {
        IntelFamilies::for_architecture(architecture)
    }

    fn omitted_instructions(architecture: &str) -> Vec<OmittedInstruction> {
        omitted_instructions_of(architecture)
    }
}
