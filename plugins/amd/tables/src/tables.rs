//! The tables of this vendor's targets.

use super::architectures::ARCHITECTURES;
use super::families::AmdFamilies;
use super::instructions::{INSTRUCTIONS, omitted_instructions_of};
use tilewright_plugin::{InstructionGroup, VendorTables};
use tilewright_target::OmittedInstruction;

/// The layout families and instructions of AMD GPUs.
#[derive(Debug)]
pub struct AmdTables;

impl VendorTables for AmdTables {
    const ARCHITECTURES: &'static [&'static str] = ARCHITECTURES;
    const INSTRUCTIONS: &'static [InstructionGroup] = INSTRUCTIONS;
    type Families = AmdFamilies;

    fn families(architecture: &str) -> AmdFamilies {
        AmdFamilies::for_architecture(architecture)
    }

    fn omitted_instructions(architecture: &str) -> Vec<OmittedInstruction> {
        omitted_instructions_of(architecture)
    }
}
