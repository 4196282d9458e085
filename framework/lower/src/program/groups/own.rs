//! Barriers and warps of groups as those of the block.

use tilewright_kernel::{Binary, Kernel, Op, Region, Scope, SpecialRegister, Value};

use super::Groups;

/// Makes barriers of the block in each group's region barriers of its warps, and counts warps from its first.
pub(super) fn resolve(groups: &Groups, kernel: &mut Kernel) {
    kernel.launch.warps = groups.all();
    let mut region = &mut kernel.body;
    for (number, condition) in groups.conditions.iter().enumerate() {
        let parts = region.statements.iter_mut().find_map(|statement| match &mut statement.op {
            Op::If { condition: own, then, otherwise } if own == condition => Some((then, otherwise)),
            _ => None,
        });
        let Some((then, otherwise)) = parts else { return };
        let (warps, first) = (groups.warps[number], groups.firsts[number]);
        Own { number: number as u32 + 1, warps, first, warp: groups.warp }.region(then);
        region = otherwise;
    }
}

struct Own {
    number: u32,
    warps: u32,
    /// The first of its warps, and the running one, among all.
    first: Value,
    warp: Value,
}

impl Own {
    fn region(&self, region: &mut Region) {
        for statement in &mut region.statements {
            match &mut statement.op {
                op @ Op::Barrier { scope: Scope::Block, .. } if self.warps > 1 => {
                    *op = Op::GroupBarrier { number: self.number, warps: self.warps };
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
