//! Layout families of this vendor: results and operands of its matrix instructions, in registers and
//! in shared memory.
//!
//! Parameters have the names of Triton's layouts; the spellings of its attributes in text are
//! taken as well.

mod mma;
mod samples;
mod shared;

use tilewright::layout::families::cluster::check_shape;
use tilewright::layout::{Families, FamilyError, FamilySpec, Layout, Sample, SampleUse};

/// The families that this plugin serves: `nvidia_mma` (versions 2 and 3), `dot_operand`, also
/// spelled `dot_op`, of it, and `nvmma_shared`.
///
/// All architectures have the same families; the samples are those of one.
#[derive(Debug, Clone, Default)]
pub struct VendorFamilies {
    architecture: String,
}

impl VendorFamilies {
    /// The families, with the samples of an architecture.
    #[must_use]
    pub fn of(architecture: &str) -> Self {
        Self { architecture: architecture.to_owned() }
    }
}

const NAMES: [&str; 4] = ["nvidia_mma", "dot_operand", "dot_op", "nvmma_shared"];

impl Families for VendorFamilies {
    fn names(&self) -> Vec<String> {
        NAMES.iter().map(|&name| name.to_owned()).collect()
    }

    fn samples(&self, use_case: SampleUse) -> Vec<Sample> {
        samples::typical(&self.architecture, use_case)
    }

    fn resolve(&self, spec: &FamilySpec, shape: &[u64], _: &dyn Families) -> Result<Layout, FamilyError> {
        check_shape(spec, shape)?;
        match spec.name.as_str() {
            "nvidia_mma" => mma::result(spec, shape).map(Layout::Distributed),
            "dot_operand" | "dot_op" => mma::operand(spec, shape).map(Layout::Distributed),
            "nvmma_shared" => shared::swizzled(spec, shape).map(Layout::Memory),
            _ => Err(FamilyError::Unknown { name: spec.name.clone(), known: self.names() }),
        }
    }
}
