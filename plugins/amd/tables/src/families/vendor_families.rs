//! The layout families of this vendor, by name.

use super::attribute_syntax;
use super::mfma;
use super::rotating;
use super::samples;
use super::scales;
use super::wmma;
use tilewright_layout::families::cluster::check_family_shape;
use tilewright_layout::{
    AttributeSyntax, Families, FamilyError, FamilySpec, Layout, LinearLayout, SampleLayout, SampleLayoutRequest,
};

/// The layout families (named constructors of layouts) of this plugin: `amd_mfma` and `amd_wmma`, their operands
/// `dot_operand` (also `dot_op`), the scales of operands `mfma_scale` and `wmma_scale`, and the memory layout
/// `amd_rotating_shared`.
///
/// All architectures have the same families; the sample layouts for conformance suites depend on the architecture.
#[derive(Debug, Clone, Default)]
pub struct AmdFamilies {
    architecture: String,
}

impl AmdFamilies {
    /// Creates the families of this plugin; sample layouts are for `architecture`.
    #[must_use]
    pub fn for_architecture(architecture: &str) -> Self {
        Self { architecture: architecture.to_owned() }
    }
}

const NAMES: [&str; 7] =
    ["amd_mfma", "amd_wmma", "dot_operand", "dot_op", "mfma_scale", "wmma_scale", "amd_rotating_shared"];

impl Families for AmdFamilies {
    fn names(&self) -> Vec<String> {
        NAMES.iter().map(|&name| name.to_owned()).collect()
    }

    fn serves(&self, name: &str) -> bool {
        NAMES.contains(&name)
    }

    fn samples(&self, use_case: SampleLayoutRequest) -> Vec<SampleLayout> {
        samples::typical(&self.architecture, use_case)
    }

    fn attribute_syntaxes(&self) -> Vec<AttributeSyntax> {
        attribute_syntax::all()
    }

    fn resolve(&self, spec: &FamilySpec, shape: &[u64], _: &dyn Families) -> Result<Layout, FamilyError> {
        check_family_shape(spec, shape)?;
        if spec.name == "amd_rotating_shared" {
            return rotating::resolve(spec, shape).map(Layout::Memory);
        }
        if shape.len() < 2 {
            return Err(FamilyError::Shape {
                family: spec.name.clone(),
                shape: shape.to_vec(),
                message: "a matrix has at least two axes".to_owned(),
            });
        }
        match spec.name.as_str() {
            "amd_mfma" => mfma::result(spec, shape).map(Layout::Distributed),
            "amd_wmma" => wmma::result(spec, shape).map(Layout::Distributed),
            "mfma_scale" => scales::mfma(spec, shape).map(Layout::Distributed),
            "wmma_scale" => scales::wmma(spec, shape).map(Layout::Distributed),
            "dot_operand" | "dot_op" => operand(spec, shape).map(Layout::Distributed),
            _ => Err(FamilyError::Unknown { name: spec.name.clone(), known: self.names() }),
        }
    }
}

fn operand(spec: &FamilySpec, shape: &[u64]) -> Result<LinearLayout, FamilyError> {
    let read = spec.parameter_reader();
    let index = read.number(&["operand_index", "op_idx"])?;
    let k_width = read.power_of_two(&["k_width"])?;
    let parent = read.parent()?;
    read.check_all_read()?;
    if index > 1 {
        return Err(read.invalid_value_error("operand_index", &format!("{index} is neither 0 nor 1")));
    }
    match parent.name.as_str() {
        "amd_mfma" => mfma::operand(parent, index, k_width, shape),
        "amd_wmma" => wmma::operand(parent, index, k_width, shape),
        other => Err(read.invalid_value_error("parent", &format!("this plugin has no dot operands of `{other}`"))),
    }
}
