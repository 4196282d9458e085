//! The neutral families, which belong to no vendor.

use super::attribute_syntax;
use super::blocked;
use super::cluster;
use super::dot_operand;
use super::linear;
use super::samples;
use super::shared;
use super::slice;
use crate::{AttributeSyntax, Families, FamilyError, FamilySpec, Layout, SampleLayout, SampleLayoutRequest};

/// The provider of the neutral families, such as `blocked` and `slice`, which belong to no vendor.
#[derive(Debug, Clone, Copy, Default)]
pub struct NeutralFamilies;

const NAMES: [&str; 10] = [
    "blocked",
    "slice",
    "linear",
    "generic_linear",
    "dot_operand",
    "dot_op",
    "swizzled_shared",
    "padded_shared",
    "shared_linear",
    "partitioned_shared",
];

impl NeutralFamilies {
    fn unknown(self, spec: &FamilySpec) -> FamilyError {
        FamilyError::Unknown { name: spec.name.clone(), known: self.names() }
    }
}

impl Families for NeutralFamilies {
    fn names(&self) -> Vec<String> {
        NAMES.iter().map(|&name| name.to_owned()).collect()
    }

    fn serves(&self, name: &str) -> bool {
        NAMES.contains(&name)
    }

    fn resolve(&self, spec: &FamilySpec, shape: &[u64], all: &dyn Families) -> Result<Layout, FamilyError> {
        cluster::check_family_shape(spec, shape)?;
        match spec.name.as_str() {
            "blocked" => blocked::resolve(spec, shape).map(Layout::Distributed),
            "slice" => slice::resolve(spec, shape, all),
            "linear" | "generic_linear" => linear::resolve(spec, shape).map(Layout::Distributed),
            // Operands of a parent layout that belongs to a vendor are served by that vendor's provider.
            "dot_operand" | "dot_op" => match spec.parent.as_deref() {
                Some(parent) if !NAMES.contains(&parent.name.as_str()) => Err(self.unknown(parent)),
                _ => dot_operand::resolve(spec, shape).map(Layout::Distributed),
            },
            "swizzled_shared" => shared::swizzled(spec, shape).map(Layout::Memory),
            "padded_shared" => shared::padded(spec, shape).map(Layout::Memory),
            "shared_linear" => shared::linear(spec, shape).map(Layout::Memory),
            "partitioned_shared" => shared::partitioned(spec, shape, all).map(Layout::Memory),
            _ => Err(self.unknown(spec)),
        }
    }

    fn samples(&self, use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
        samples::typical(use_case)
    }

    fn attribute_syntaxes(&self) -> Vec<AttributeSyntax> {
        attribute_syntax::all()
    }
}

/// The same spec with the parameters that its attribute text has keywords for, under their canonical names.
pub(crate) fn to_attribute_form(spec: FamilySpec) -> FamilySpec {
    match spec.name.as_str() {
        "padded_shared" => attribute_syntax::padded_to_attribute_form(spec),
        _ => spec,
    }
}
