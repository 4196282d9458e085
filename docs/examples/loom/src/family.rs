//! The layout family `loom_mma`: results of the matrix instruction, distributed over warps. Its parameter `warps` is
//! the number of warps along each of the two axes.

use tilewright_plugin::layout::families::cluster::{
    TileMode, check_family_shape, identity_modes, row_major_axis_order, tensor_layout_from_block_tile,
};
use tilewright_plugin::layout::{Dim, Families, FamilyError, FamilySpec, Layout, SampleLayout, SampleLayoutRequest};

use crate::instruction::NAME;

pub struct LoomFamilies;

impl Families for LoomFamilies {
    fn names(&self) -> Vec<String> {
        vec!["loom_mma".to_owned()]
    }

    /// Typical layouts, from which the conformance suite derives its cases.
    fn samples(&self, required: SampleLayoutRequest) -> Vec<SampleLayout> {
        if required.lanes != 16 {
            return Vec::new();
        }
        let tall = [i64::from(required.warps), 1];
        let result = SampleLayout::new("loom-mma", FamilySpec::new("loom_mma").with_parameter("warps", tall));
        vec![if required.element_bits == 32 { result.for_operand(NAME, "d") } else { result }]
    }

    fn resolve(&self, spec: &FamilySpec, shape: &[u64], _: &dyn Families) -> Result<Layout, FamilyError> {
        if spec.name != "loom_mma" {
            return Err(FamilyError::Unknown { name: spec.name.clone(), known: self.names() });
        }
        let read = spec.parameter_reader();
        let warps = read.powers_of_two(&["warps"], 2)?;
        read.check_all_read()?;
        check_family_shape(spec, shape)?;
        if shape.len() != 2 {
            let message = "a result has two axes".to_owned();
            return Err(FamilyError::Shape { family: spec.name.clone(), shape: shape.to_vec(), message });
        }
        // A tile of 8 x 8: four columns in registers, two columns and then eight rows over lanes; then the warps.
        let tile = [(Dim::REGISTER, 4, 1), (Dim::LANE, 2, 1), (Dim::LANE, 8, 0)].map(TileMode::from);
        let order = row_major_axis_order(2);
        let modes = tile.into_iter().chain(identity_modes(Dim::WARP, &warps, &order, None));
        Ok(Layout::Distributed(tensor_layout_from_block_tile(spec, modes, &order, &[], shape)?))
    }
}
