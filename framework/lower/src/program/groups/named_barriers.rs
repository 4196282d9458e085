//! Replaces block barriers, and indices of warps in the block, by those of a warp group, in the code of each group.

use super::Groups;
use crate::program::error::{LowerErrorReason, Lowered};
use tilewright_kernel::{Binary, CollectiveScope, Kernel, Op, Region, SpecialRegister, Value};

/// In the region of each warp group (the warps of one partition), replaces block barriers by named barriers of the
/// group, and counts warps from the group's first. Rejects a barrier of the cluster in such a region, because it would
/// need the warps of all groups at once.
pub(super) fn resolve(groups: &Groups, kernel: &mut Kernel) -> Lowered<()> {
    kernel.launch.warps = groups.all();
    let in_groups = kernel.body.statements.iter().flat_map(|statement| statement.op.regions());
    if in_groups.into_iter().any(has_cluster_barrier) {
        return Err(LowerErrorReason::unsupported(
            "the blocks of a cluster wait for each other, which partitions of warps cannot: expected one block to a \
             program, or no partitions",
        ));
    }
    let mut region = &mut kernel.body;
    for (number, condition) in groups.conditions.iter().enumerate() {
        let branches = region.statements.iter_mut().find_map(|statement| match &mut statement.op {
            Op::If { condition: found, then, otherwise } if found == condition => Some((then, otherwise)),
            _ => None,
        });
        let Some((then, otherwise)) = branches else { return Ok(()) };
        let (warps, first) = (groups.warps[number], groups.firsts[number]);
        PartitionBarriers { number: number as u32 + 1, warps, first, warp: groups.warp }.region(then);
        region = otherwise;
    }
    Ok(())
}

/// Whether a region contains a barrier of all warps of a cluster.
fn has_cluster_barrier(region: &Region) -> bool {
    region.statements.iter().any(|statement| match &statement.op {
        Op::Barrier { scope: CollectiveScope::Cluster, .. } => true,
        op => op.regions().into_iter().any(has_cluster_barrier),
    })
}

struct PartitionBarriers {
    number: u32,
    warps: u32,
    /// The index, in the block, of the first warp of the warp group; `warp` is the index of the current warp.
    first: Value,
    warp: Value,
}

impl PartitionBarriers {
    fn region(&self, region: &mut Region) {
        for statement in &mut region.statements {
            match &mut statement.op {
                op @ Op::Barrier { scope: CollectiveScope::Block, .. } if self.warps > 1 => {
                    *op = Op::NamedBarrier { number: self.number, warps: self.warps };
                }
                Op::Barrier { scope: scope @ CollectiveScope::Block, .. } => *scope = CollectiveScope::Warp,
                op @ Op::Special(SpecialRegister::Warp) => {
                    *op = Op::Binary { op: Binary::Sub, a: self.warp, b: self.first };
                }
                op => op.regions_mut().into_iter().for_each(|inner| self.region(inner)),
            }
        }
    }
}
