//! The layout families of this vendor, by name.

use super::attribute_syntax;
use super::block_read;
use super::dpas;
use super::samples;
use tilewright_layout::families::cluster::check_family_shape;
use tilewright_layout::{
    AttributeSyntax, Families, FamilyError, FamilySpec, Layout, SampleLayout, SampleLayoutRequest,
};

/// The layout families (named constructors of layouts) of this plugin: `dpas`, `dpas_scale`, and `dot_operand` (alias
/// `dot_op`), the operands of `dpas` and of `subgroup_2d_block`.
///
/// All architectures have the same families; the sample layouts for conformance suites depend on the architecture.
#[derive(Debug, Clone, Default)]
pub struct IntelFamilies {
    architecture: String,
}

impl IntelFamilies {
    /// Creates the families of this plugin; sample layouts are for `architecture`.
    #[must_use]
    pub fn for_architecture(architecture: &str) -> Self {
        Self { architecture: architecture.to_owned() }
    }
}

// Names of the families that this plugin serves. `subgroup_2d_block` is only a parent of operands, and no layout of its
// own.
const NAMES: [&str; 5] = ["dpas", "dpas_scale", "dot_operand", "dot_op", "subgroup_2d_block"];

impl Families for IntelFamilies {
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
        if shape.len() < 2 {
            return Err(FamilyError::Shape {
                family: spec.name.clone(),
                shape: shape.to_vec(),
                message: "a matrix has at least two axes".to_owned(),
            });
        }
        let linear = match spec.name.as_str() {
            "dpas" => dpas::result(spec, shape),
            "dpas_scale" => dpas::scale(spec, shape),
            "dot_operand" | "dot_op" => operand(spec, shape),
            "subgroup_2d_block" => {
                let message = "has a layout only as the parent of a `dot_operand`";
                return Err(spec.parameter_reader().invalid_value_error("kind", message));
            }
            _ => return Err(FamilyError::Unknown { name: spec.name.clone(), known: self.names() }),
        };
        linear.map(Layout::Distributed)
    }
}

fn operand(spec: &FamilySpec, shape: &[u64]) -> Result<tilewright_layout::LinearLayout, FamilyError> {
    let read = spec.parameter_reader();
    let index = read.number(&["operand_index", "op_idx"])?;
    // The number of elements that a lane packs is determined by the instruction, so `k_width` is ignored.
    let _ = read.number_or(&["k_width"], 0)?;
    let parent = read.parent()?;
    read.check_all_read()?;
    if index > 1 {
        return Err(read.invalid_value_error("operand_index", &format!("{index} is neither 0 nor 1")));
    }
    match parent.name.as_str() {
        "dpas" => dpas::operand(parent, index == 0, shape),
        "subgroup_2d_block" => block_read::operand(parent, index == 0, shape),
        other => Err(read.invalid_value_error("parent", &format!("this plugin has no dot operands of `{other}`"))),
    }
}
