//! The neutral families, which belong to no vendor.

use super::blocked;
use super::cluster;
use super::dot_operand;
use super::linear;
use super::samples;
use super::shared;
use super::slice;
use super::spelling;
use crate::{AttributeSyntax, Families, FamilyError, FamilySpec, Layout, Sample, SampleUse};

/// The neutral families.
#[derive(Debug, Clone, Copy, Default)]
pub struct Neutral;

const NAMES: [&str; 8] =
    ["blocked", "slice", "linear", "dot_operand", "dot_op", "swizzled_shared", "padded_shared", "shared_linear"];

impl Neutral {
    fn unknown(self, spec: &FamilySpec) -> FamilyError {
        FamilyError::Unknown { name: spec.name.clone(), known: self.names() }
    }
}

impl Families for Neutral {
    fn names(&self) -> Vec<String> {
        NAMES.iter().map(|&name| name.to_owned()).collect()
    }

    fn serves(&self, name: &str) -> bool {
        NAMES.contains(&name)
    }

    fn resolve(&self, spec: &FamilySpec, shape: &[u64], all: &dyn Families) -> Result<Layout, FamilyError> {
        cluster::check_shape(spec, shape)?;
        match spec.name.as_str() {
            "blocked" => blocked::resolve(spec, shape).map(Layout::Distributed),
            "slice" => slice::resolve(spec, shape, all),
            "linear" => linear::resolve(spec, shape).map(Layout::Distributed),
            // Operands belong to who serves the parent.
            "dot_operand" | "dot_op" => match spec.parent.as_deref() {
                Some(parent) if !NAMES.contains(&parent.name.as_str()) => Err(self.unknown(parent)),
                _ => dot_operand::resolve(spec, shape).map(Layout::Distributed),
            },
            "swizzled_shared" => shared::swizzled(spec, shape).map(Layout::Memory),
            "padded_shared" => shared::padded(spec, shape).map(Layout::Memory),
            "shared_linear" => shared::linear(spec, shape).map(Layout::Memory),
            _ => Err(self.unknown(spec)),
        }
    }

    fn samples(&self, use_case: SampleUse) -> Vec<Sample> {
        samples::typical(use_case)
    }

    fn spellings(&self) -> Vec<AttributeSyntax> {
        spelling::all()
    }
}

/// The same layout in the parameters that attribute text has words for, under their canonical names.
pub(crate) fn in_words(spec: FamilySpec) -> FamilySpec {
    match spec.name.as_str() {
        "padded_shared" => spelling::padded_in_words(spec),
        _ => spec,
    }
}
