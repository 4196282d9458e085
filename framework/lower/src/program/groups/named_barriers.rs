//! Replaces block barriers and warp indices in the code of each warp group by those of the group.

use tilewright_kernel::{Binary, Kernel, Op, Region, Scope, SpecialRegister, Value};

use super::Groups;

/// In each group's region, replaces block barriers by named barriers of the group, and counts warps from the group's
/// first.
pub(super) fn resolve(groups: &Groups, kernel: &mut Kernel) {
    kernel.launch.warps = groups.all();
    let mut region = &mut kernel.body;
    for (number, condition) in groups.conditions.iter().enumerate() {
        let branches = region.statements.iter_mut().find_map(|statement| match &mut statement.op {
            Op::If { condition: found, then, otherwise } if found == condition => Some((then, otherwise)),
            _ => None,
        });
        let Some((then, otherwise)) = branches else { return };
        let (warps, first) = (groups.warps[number], groups.firsts[number]);
        PartitionBarriers { number: number as u32 + 1, warps, first, warp: groups.warp }.region(then);
        region = otherwise;
    }
}

struct PartitionBarriers {
    number: u32,
    warps: u32,
    /// The index in the block of the group's first warp, and (`warp`) of the current warp.
    first: Value,
    warp: Value,
}

impl PartitionBarriers {
    fn region(&self, region: &mut Region) {
        for statement in &mut region.statements {
            match &mut statement.op {
                op @ Op::Barrier { scope: Scope::Block, .. } if self.warps > 1 => {
                    *op = Op::NamedBarrier { number: self.number, warps: self.warps };
                }
                Op::Barrier { scope: scope @ Scope::Block, .. } => *scope = Scope::Warp,
                op @ Op::Special(SpecialRegister::Warp) => {
                    *op = Op::Binary { op: Binary::Sub, a: self.warp, b: self.first };
                }
                op => op.regions_mut().into_iter().for_each(|inner| self.region(inner)),
            }
        }
    }
}
