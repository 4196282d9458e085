//! Stands where `families` and `instructions` have nothing yet: no families, no instructions.

use tilewright::layout::{Families, FamilyError, FamilySpec, Layout};
use tilewright::target::Instruction;

/// No families.
#[derive(Debug, Clone, Copy)]
pub struct VendorFamilies;

impl Families for VendorFamilies {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn resolve(&self, spec: &FamilySpec, _: &[u64], _: &dyn Families) -> Result<Layout, FamilyError> {
        Err(FamilyError::Unknown { name: spec.name.clone(), known: Vec::new() })
    }
}

/// No instructions.
#[must_use]
pub fn rows(_architecture: &str) -> Vec<Instruction> {
    Vec::new()
}
