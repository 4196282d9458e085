//! The layout families of this vendor, by name.

use std::sync::OnceLock;

use super::mma;
use super::mma_scale;
use super::samples::{self, Products};
use super::shared;
use super::spelling;
use super::tensor_memory;
use super::tensor_memory_access;
use tilewright_layout::families::cluster::check_shape;
use tilewright_layout::{AttributeSyntax, Families, FamilyError, FamilySpec, Layout, Sample, SampleUse};

/// The families that this plugin serves: `nvidia_mma` (versions 2 and 3), `dot_operand`, also
/// spelled `dot_op`, of it, `mma_scale`, `nvmma_shared`, `tensor_memory` and `tensor_memory_scales`, each also
/// spelled with `_encoding` at its end, and `tmem_reg`, the registers that move to and from them.
///
/// All architectures have the same families; the samples are those of one.
#[derive(Debug, Clone, Default)]
pub struct NvidiaFamilies {
    architecture: String,
    /// The products of samples, found when the first one is asked for.
    products: OnceLock<Products>,
}

impl NvidiaFamilies {
    /// The families, with the samples of an architecture.
    #[must_use]
    pub fn of(architecture: &str) -> Self {
        Self { architecture: architecture.to_owned(), products: OnceLock::new() }
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

    fn samples(&self, use_case: SampleUse) -> Vec<Sample> {
        let products = self.products.get_or_init(|| Products::of(&self.architecture));
        samples::typical(&self.architecture, products, use_case)
    }

    fn spellings(&self) -> Vec<AttributeSyntax> {
        spelling::all()
    }

    fn resolve(&self, spec: &FamilySpec, shape: &[u64], all: &dyn Families) -> Result<Layout, FamilyError> {
        check_shape(spec, shape)?;
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
