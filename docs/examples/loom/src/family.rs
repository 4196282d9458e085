//! The machine's layout family, `loom_mma`: results of its matrix instruction, spread over warps. Its parameter `warps` says how
//! many warps go along each axis of a tensor of two.

use tilewright_plugin::layout::families::cluster::{Part, check_shape, layout_of, row_major, spread};
use tilewright_plugin::layout::{Dim, Families, FamilyError, FamilySpec, Layout, Sample, SampleUse};

use crate::instruction::NAME;

pub struct LoomFamilies;

impl Families for LoomFamilies {
    fn names(&self) -> Vec<String> {
        vec!["loom_mma".to_owned()]
    }

    /// What a conformance suite builds its cases from.
    fn samples(&self, required: SampleUse) -> Vec<Sample> {
        if required.lanes != 16 {
            return Vec::new();
        }
        let tall = [i64::from(required.warps), 1];
        let result = Sample::new("loom-mma", FamilySpec::new("loom_mma").with("warps", tall));
        vec![if required.element_bits == 32 { result.feeding(NAME, "d") } else { result }]
    }

    fn resolve(&self, spec: &FamilySpec, shape: &[u64], _: &dyn Families) -> Result<Layout, FamilyError> {
        if spec.name != "loom_mma" {
            return Err(FamilyError::Unknown { name: spec.name.clone(), known: self.names() });
        }
        let read = spec.parameters();
        let warps = read.powers(&["warps"], 2)?;
        read.finish()?;
        check_shape(spec, shape)?;
        if shape.len() != 2 {
            let message = "a result has two axes".to_owned();
            return Err(FamilyError::Shape { family: spec.name.clone(), shape: shape.to_vec(), message });
        }
        // Of a tile of 8 x 8: four columns in registers, two and then the rows over lanes; then the warps.
        let tile = [(Dim::REGISTER, 4, 1), (Dim::LANE, 2, 1), (Dim::LANE, 8, 0)].map(Part::from);
        let order = row_major(2);
        let parts = tile.into_iter().chain(spread(Dim::WARP, &warps, &order, None));
        Ok(Layout::Distributed(layout_of(spec, parts, &order, &[], shape)?))
    }
}
