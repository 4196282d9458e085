//! Layout conversions across the blocks of a cluster, for targets with clusters. The blocks split another axis after
//! the conversion, swap elements, gather parts of the tensor, or replicate it.

use tilewright_layout::{FamilyParameterValue, FamilySpec};

use super::super::{CaseTensorSpec, KernelConfig, NamedLayout};
use super::ConversionCase;
use crate::Context;

const SHAPE: [u64; 2] = [64, 128];

/// How the blocks of the source and the destination layout split the tensor. Each bit of the block index adds the
/// tensor coordinates that are listed for it.
struct Split {
    name: &'static str,
    source: &'static [[i64; 2]],
    target: &'static [[i64; 2]],
}

const SPLITS: [Split; 5] = [
    Split { name: "rows-to-cols-of-2", source: &[[1, 0]], target: &[[0, 1]] },
    Split { name: "rows-to-all-of-2", source: &[[1, 0]], target: &[[0, 0]] },
    Split { name: "all-to-cols-of-2", source: &[[0, 0]], target: &[[0, 1]] },
    Split { name: "rows-to-both-of-4", source: &[[1, 0], [2, 0]], target: &[[0, 1], [1, 0]] },
    Split { name: "places-of-4", source: &[[0, 1], [0, 2]], target: &[[0, 2], [0, 1]] },
];

pub(super) fn clusters(context: &Context) -> Vec<ConversionCase> {
    let most = context.target().description().limits.blocks_per_cluster;
    let splits = SPLITS.iter().filter(|split| 1 << split.source.len() <= most);
    let settings = KernelConfig::all(context);
    let all = splits.flat_map(|split| settings.iter().map(move |&setting| split.conversion(setting)));
    all.collect()
}

impl Split {
    fn conversion(&self, setting: KernelConfig) -> ConversionCase {
        let (lanes, warps) = (i64::from(setting.lanes), i64::from(setting.warps));
        let inner = lanes.min(8);
        let rows = blocked([1, 4], [lanes / inner, inner], [warps, 1], [1, 0], self.source);
        let cols = blocked([4, 1], [inner, lanes / inner], [1, warps], [0, 1], self.target);
        let endpoint = |name: &str, spec| NamedLayout { name: name.to_owned(), spec, axes: 2 };
        let tensor = CaseTensorSpec { shape: SHAPE.to_vec(), setting };
        let between = ConversionCase::between(endpoint("rows", rows), endpoint("cols", cols), tensor);
        ConversionCase { title: format!("blocks-{}", self.name), ..between }
    }
}

fn blocked(
    per_lane: [i64; 2],
    per_warp: [i64; 2],
    per_block: [i64; 2],
    order: [i64; 2],
    blocks: &[[i64; 2]],
) -> FamilySpec {
    let blocks = FamilyParameterValue::List(blocks.iter().copied().map(FamilyParameterValue::from).collect());
    FamilySpec::new("blocked")
        .with_parameter("size_per_thread", per_lane)
        .with_parameter("threads_per_warp", per_warp)
        .with_parameter("warps_per_cta", per_block)
        .with_parameter("order", order)
        .with_parameter("cga_layout", blocks)
}
