//! Lowers the exclusive sections of warp groups (*ping-pong*): named barriers let the MMAs of one warp group run while
//! the others do other work.
//!
//! An exclusive section begins before the dot with the attribute [`BEGINS_EXCLUSIVE`] and ends behind the dot with
//! [`ENDS_EXCLUSIVE`], as soon as its MMA is issued. Each warp group waits at a barrier of its own, at which the group
//! before it arrives. The last group arrives once more before the loop, so that the first group begins, and the first
//! group waits once more behind it, so that the barriers are empty again. If an exclusive section lasts into the next
//! iteration, the first one begins before the loop, and the last one ends behind it.
//!
//! Ping-pong changes no result. It is left out if the kernel has a barrier of all these warps in such a loop: the warps
//! would wait for each other there.

use tilewright_kernel::{BarrierAction, Binary, Compare, Kernel, Op as KernelOp, Region, SpecialRegister, Value};
use tilewright_tile::op_attrs::{BEGINS_EXCLUSIVE, ENDS_EXCLUSIVE};
use tilewright_tile::{Attribute, Op};

use super::lowering::Lowering;

/// The exclusive sections of a loop.
#[derive(Clone, Copy)]
pub(super) struct PingPong {
    groups: u32,
    /// Whether an exclusive section lasts from one iteration into the next.
    lasts: bool,
}

impl Lowering<'_> {
    /// Returns the exclusive sections of the dots in the body of a loop; `None` if there are none.
    pub(super) fn find_ping_pong(&self, op: Op) -> Option<PingPong> {
        let body = self.body;
        let block = *body.blocks(*body.op(op).regions.first()?).first()?;
        let find = |name| body.ops(block).iter().position(|op| body.op(*op).attributes.get(name).is_some());
        let (first, last) = (find(BEGINS_EXCLUSIVE)?, find(ENDS_EXCLUSIVE)?);
        let groups = self.ping_pong_groups(body.ops(block)[first], BEGINS_EXCLUSIVE)?;
        Some(PingPong { groups, lasts: last < first })
    }

    fn ping_pong_groups(&self, op: Op, name: &str) -> Option<u32> {
        let groups = u32::try_from(self.attribute(op, name).and_then(Attribute::as_integer)?).ok()?;
        (groups > 1 && self.has_groups() && self.config.warps.is_multiple_of(groups)).then_some(groups)
    }

    /// Emits the wait for the exclusive section that begins with a dot, if one does.
    pub(super) fn begin_exclusive(&mut self, dot: Op) {
        if let Some(groups) = self.ping_pong_groups(dot, BEGINS_EXCLUSIVE) {
            self.emit_hand_over(groups, BarrierAction::Sync, 0);
        }
    }

    /// Emits the end of the exclusive section that ends with a dot, if one does.
    pub(super) fn end_exclusive(&mut self, dot: Op) {
        if let Some(groups) = self.ping_pong_groups(dot, ENDS_EXCLUSIVE) {
            self.emit_hand_over(groups, BarrierAction::Arrive, 1);
        }
    }

    /// Emits, before a loop, the arrival by which the first warp group gets its exclusive section.
    pub(super) fn begin_ping_pong(&mut self, ping_pong: PingPong) {
        self.emit_if_group(ping_pong.groups, ping_pong.groups - 1, BarrierAction::Arrive);
        if ping_pong.lasts {
            self.emit_hand_over(ping_pong.groups, BarrierAction::Sync, 0);
        }
    }

    /// Emits, behind a loop, the wait for the last arrival.
    pub(super) fn end_ping_pong(&mut self, ping_pong: PingPong) {
        if ping_pong.lasts {
            self.emit_hand_over(ping_pong.groups, BarrierAction::Arrive, 1);
        }
        self.emit_if_group(ping_pong.groups, 0, BarrierAction::Sync);
    }

    /// Emits an action at the barrier of the warp group that comes `ahead` groups after the current warp's.
    fn emit_hand_over(&mut self, groups: u32, action: BarrierAction, ahead: u32) {
        let (first, warps) = (self.first_ping_pong_barrier(), 2 * self.config.warps / groups);
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
        let (first, warps) = (self.first_ping_pong_barrier(), 2 * self.config.warps / groups);
        let group = self.emit_group(groups);
        let builder = &mut self.builder;
        let index = builder.i32(index);
        let is_group = builder.compare(Compare::Eq, group, index);
        let number = builder.i32(first);
        builder.if_then(Some(is_group), |builder| builder.indexed_barrier(action, number, warps));
    }

    /// Emits the index of the current warp's group among those that alternate.
    fn emit_group(&mut self, groups: u32) -> Value {
        let shift = (self.config.warps / groups).trailing_zeros();
        let builder = &mut self.builder;
        let warp = builder.special(SpecialRegister::Warp);
        builder.binary_const(Binary::ShrU, warp, shift)
    }

    /// The number of the first group's barrier: those of the partitions come before it.
    fn first_ping_pong_barrier(&self) -> u32 {
        self.groups.warps.len() as u32 + 1
    }
}

/// Removes ping-pong from a kernel if a loop with exclusive sections has other barriers, at which the warp groups would
/// wait for each other. Loops around it may have barriers.
pub(super) fn remove_blocked_ping_pong(kernel: &mut Kernel) {
    if has_blocked_ping_pong(&kernel.body) {
        remove(&mut kernel.body);
    }
}

fn has_blocked_ping_pong(region: &Region) -> bool {
    let is_hand_over = |op: &KernelOp| matches!(op, KernelOp::IndexedBarrier { .. });
    let is_barrier = |op: &KernelOp| matches!(op, KernelOp::NamedBarrier { .. });
    region.statements.iter().any(|statement| match &statement.op {
        KernelOp::For { body, .. } | KernelOp::While { body, .. } if !has_nested_loop(body, &is_hand_over) => {
            contains(body, &is_hand_over) && contains(body, &is_barrier)
        }
        op => op.regions().into_iter().any(has_blocked_ping_pong),
    })
}

/// Whether a region has a loop that contains an operation.
fn has_nested_loop(region: &Region, is: &dyn Fn(&KernelOp) -> bool) -> bool {
    region.statements.iter().any(|statement| match &statement.op {
        KernelOp::For { body, .. } | KernelOp::While { body, .. } => contains(body, is),
        op => op.regions().into_iter().any(|inner| has_nested_loop(inner, is)),
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
