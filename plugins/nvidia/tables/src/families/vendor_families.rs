//! The layout families of this vendor, by name.

use std::sync::OnceLock;

use super::attribute_syntax;
use super::mma;
use super::mma_scale;
use super::samples::{self, LargestMmas};
use super::shared;
use super::tensor_memory;
use super::tensor_memory_access;
use tilewright_layout::families::cluster::check_family_shape;
use tilewright_layout::{
    AttributeSyntax, Families, FamilyError, FamilySpec, Layout, SampleLayout, SampleLayoutRequest,
};

/// The layout families (named constructors of layouts) of this plugin: `nvidia_mma` (versions 2 and 3), its operands
/// `dot_operand` (or `dot_op`), `mma_scale`, `nvmma_shared`, `tensor_memory`, `tensor_memory_scales` (also with the
/// suffix `_encoding`), and `tmem_reg`, the registers of loads and stores of tensor memory.
///
/// All architectures have the same families; the sample layouts for conformance suites depend on the architecture.
#[derive(Debug, Clone, Default)]
pub struct NvidiaFamilies {
    architecture: String,
    /// The architecture's largest MMAs, from which the sample layouts are built; computed at first use.
    largest_mmas: OnceLock<LargestMmas>,
}

impl NvidiaFamilies {
    /// Creates the families of this plugin; sample layouts are for `architecture`.
    #[must_use]
    pub fn for_architecture(architecture: &str) -> Self {
        Self { architecture: architecture.to_owned(), largest_mmas: OnceLock::new() }
    }
}

const NAMES: [&str; 10] = [
    "nvidia_mma",
    "dot_operand",
    "dot_op",
    "mma_scale",
    "nvmma_shared",
    "tensor_memory",
    "tensor_memory_encoding",
    "tensor_memory_scales",
    "tensor_memory_scales_encoding",
    "tmem_reg",
];

impl Families for NvidiaFamilies {
    fn names(&self) -> Vec<String> {
        NAMES.iter().map(|&name| name.to_owned()).collect()
    }

    fn serves(&self, name: &str) -> bool {
        NAMES.contains(&name)
    }

    fn samples(&self, use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
        let largest_mmas = self.largest_mmas.get_or_init(|| LargestMmas::of(&self.architecture));
        samples::sample_layouts(&self.architecture, largest_mmas, use_case)
    }

    fn attribute_syntaxes(&self) -> Vec<AttributeSyntax> {
        attribute_syntax::all()
    }

    fn resolve(&self, spec: &FamilySpec, shape: &[u64], all: &dyn Families) -> Result<Layout, FamilyError> {
        check_family_shape(spec, shape)?;
        match spec.name.as_str() {
            "nvidia_mma" => mma::result(spec, shape).map(Layout::Distributed),
            "dot_operand" | "dot_op" => mma::operand(spec, shape).map(Layout::Distributed),
            "mma_scale" => mma_scale::registers(spec, shape).map(Layout::Distributed),
            "nvmma_shared" => shared::swizzled(spec, shape).map(Layout::Memory),
            "tensor_memory" | "tensor_memory_encoding" => tensor_memory::values(spec, shape).map(Layout::TensorMemory),
            "tensor_memory_scales" | "tensor_memory_scales_encoding" => {
                tensor_memory::scales(spec, shape).map(Layout::TensorMemory)
            }
            "tmem_reg" => tensor_memory_access::registers(spec, shape, all).map(Layout::Distributed),
            _ => Err(FamilyError::Unknown { name: spec.name.clone(), known: self.names() }),
        }
    }
}
