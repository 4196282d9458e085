//! Lowers the turns of warp groups (*ping-pong*): named barriers let the MMAs of one warp group run while the others do
//! other work.
//!
//! A turn begins before the dot with the attribute [`TAKES_TURN`] and ends behind the dot with [`PASSES_TURN`], as soon as
//! its MMA is issued. Each warp group waits at a barrier of its own, at which the group before it arrives. The last
//! group arrives once more before the loop, so that the first group begins, and the first group waits once more behind
//! it, so that the barriers are empty again. If a turn lasts into the next iteration, the first one begins before the
//! loop, and the last one ends behind it.
//!
//! Turns change no result. They are left out if the kernel has a barrier of all these warps in such a loop: the warps
//! would wait for each other there.

use tilewright_kernel::{BarrierAction, Binary, Compare, Kernel, Op as KernelOp, Region, SpecialRegister, Value};
use tilewright_tile::op_attrs::{PASSES_TURN, TAKES_TURN};
use tilewright_tile::{Attribute, Op};

use super::lowering::Lowering;

/// The turns of a loop.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    groups: u32,
    /// Whether a turn lasts from one iteration into the next.
    lasts: bool,
}

impl Lowering<'_> {
    /// Returns the turns of the dots in the body of a loop; `None` if its warp groups take none.
    pub(super) fn find_turns(&self, op: Op) -> Option<Turns> {
        let body = self.body;
        let block = *body.blocks(*body.op(op).regions.first()?).first()?;
        let find = |name| body.ops(block).iter().position(|op| body.op(*op).attributes.get(name).is_some());
        let (first, last) = (find(TAKES_TURN)?, find(PASSES_TURN)?);
        let groups = self.turn_groups(body.ops(block)[first], TAKES_TURN)?;
        Some(Turns { groups, lasts: last < first })
    }

    fn turn_groups(&self, op: Op, name: &str) -> Option<u32> {
        let groups = u32::try_from(self.attribute(op, name).and_then(Attribute::as_integer)?).ok()?;
        (groups > 1 && self.has_groups() && self.config.warps.is_multiple_of(groups)).then_some(groups)
    }

    /// Emits the wait for the turn that begins with a dot, if one does.
    pub(super) fn take_turn(&mut self, dot: Op) {
        if let Some(groups) = self.turn_groups(dot, TAKES_TURN) {
            self.emit_turn(groups, BarrierAction::Sync, 0);
        }
    }

    /// Emits the end of the turn that ends with a dot, if one does.
    pub(super) fn pass_turn(&mut self, dot: Op) {
        if let Some(groups) = self.turn_groups(dot, PASSES_TURN) {
            self.emit_turn(groups, BarrierAction::Arrive, 1);
        }
    }

    /// Emits, before a loop, the arrival by which the first warp group gets its turn.
    pub(super) fn begin_turns(&mut self, turns: Turns) {
        self.emit_if_group(turns.groups, turns.groups - 1, BarrierAction::Arrive);
        if turns.lasts {
            self.emit_turn(turns.groups, BarrierAction::Sync, 0);
        }
    }

    /// Emits, behind a loop, the wait for the last arrival.
    pub(super) fn end_turns(&mut self, turns: Turns) {
        if turns.lasts {
            self.emit_turn(turns.groups, BarrierAction::Arrive, 1);
        }
        self.emit_if_group(turns.groups, 0, BarrierAction::Sync);
    }

    /// Emits an action at the barrier of the warp group `ahead` groups after that of the current warp.
    fn emit_turn(&mut self, groups: u32, action: BarrierAction, ahead: u32) {
        let (first, warps) = (self.first_turn_barrier(), 2 * self.config.warps / groups);
        let group = self.emit_group(groups);
        let builder = &mut self.builder;
        let ahead = builder.i32(ahead);
        let last = builder.i32(groups - 1);
        let next = builder.binary(Binary::Add, group, ahead);
        let next = builder.binary(Binary::And, next, last);
        let first = builder.i32(first);
        let number = builder.binary(Binary::Add, next, first);
        builder.indexed_barrier(action, number, warps);
    }

    /// Emits an action of the warp group with this index at the barrier of the first group.
    fn emit_if_group(&mut self, groups: u32, index: u32, action: BarrierAction) {
        let (first, warps) = (self.first_turn_barrier(), 2 * self.config.warps / groups);
        let group = self.emit_group(groups);
        let builder = &mut self.builder;
        let index = builder.i32(index);
        let is_group = builder.compare(Compare::Eq, group, index);
        let number = builder.i32(first);
        builder.if_then(Some(is_group), |builder| builder.indexed_barrier(action, number, warps));
    }

    /// Emits the index of the current warp's group among those that take turns.
    fn emit_group(&mut self, groups: u32) -> Value {
        let shift = (self.config.warps / groups).trailing_zeros();
        let builder = &mut self.builder;
        let warp = builder.special(SpecialRegister::Warp);
        builder.binary_const(Binary::ShrU, warp, shift)
    }

    /// The number of the first group's barrier: those of the partitions come before it.
    fn first_turn_barrier(&self) -> u32 {
        self.groups.warps.len() as u32 + 1
    }
}

/// Removes all turns from a kernel if a loop with turns has other barriers, at which the warp groups would wait for each
/// other.
pub(super) fn remove_blocked_turns(kernel: &mut Kernel) {
    if has_blocked_turns(&kernel.body) {
        remove(&mut kernel.body);
    }
}

fn has_blocked_turns(region: &Region) -> bool {
    let is_turn = |op: &KernelOp| matches!(op, KernelOp::IndexedBarrier { .. });
    let is_barrier = |op: &KernelOp| matches!(op, KernelOp::NamedBarrier { .. });
    region.statements.iter().any(|statement| match &statement.op {
        KernelOp::For { body, .. } | KernelOp::While { body, .. } => {
            contains(body, &is_turn) && contains(body, &is_barrier)
        }
        op => op.regions().into_iter().any(has_blocked_turns),
    })
}

fn contains(region: &Region, is: &dyn Fn(&KernelOp) -> bool) -> bool {
    let mut ops = region.statements.iter().map(|statement| &statement.op);
    ops.any(|op| is(op) || op.regions().into_iter().any(|inner| contains(inner, is)))
}

fn remove(region: &mut Region) {
    region.statements.retain(|statement| !matches!(statement.op, KernelOp::IndexedBarrier { .. }));
    region.statements.iter_mut().flat_map(|statement| statement.op.regions_mut()).for_each(remove);
}
