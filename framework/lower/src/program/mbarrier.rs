//! Mbarriers, at which groups of warps meet without waiting for all: who arrives goes on, and who waits does so for a phase.
//!
//! The first warp of a group arrives for all of it, after a barrier of the group, so that what any of its lanes wrote is
//! there for whoever waits; or each warp for itself. Where all warps do the same there are none: copies are done at once.

use tilewright_kernel::{Binary, Builder, Compare, Op as KernelOp, Scope, SpecialRegister, Value};
use tilewright_target::Completion;
use tilewright_tile::op::name::{ttg, tw};
use tilewright_tile::transform::explicit::EVERY_WARP;
use tilewright_tile::{Op, ValueOrigin};

use super::error::{Lowered, Reason};
use super::lowering::Lowering;
use super::shared::placed_at;

const INIT: &str = tw::MBARRIER_INIT;

pub(super) fn operation(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let rows = lowering.machine.context.instructions;
    if !rows.iter().any(|row| row.completion == Completion::Mbarrier) {
        return Err(Reason::unsupported("the target has no mbarriers that its warps wait at"));
    }
    let pointer = placed_at(lowering, lowering.operand(op, 0)?)?;
    let active = lowering.optional(op, "acts").map(|active| lowering.scalar(active)).transpose()?;
    match lowering.body.op(op).name() {
        INIT => {
            let arrivals = count(lowering, op, "count")?;
            by_first(&mut lowering.builder, None, |builder| {
                builder.effect(KernelOp::MbarrierInit { pointer, arrivals });
                builder.proxy_fence();
            });
            if !another_follows(lowering, op) {
                lowering.builder.barrier(Scope::Block);
            }
        }
        tw::MBARRIER_ARRIVE if lowering.attribute(op, EVERY_WARP).is_some() => {
            let arrivals = count(lowering, op, "count")?;
            where_holds(&mut lowering.builder, active, |builder| {
                (0..arrivals).for_each(|_| builder.mbarrier_arrive(pointer, 0));
            });
        }
        tw::MBARRIER_ARRIVE => {
            let arrivals = count(lowering, op, "count")?;
            lowering.builder.barrier(Scope::Block);
            by_first(&mut lowering.builder, active, |builder| {
                (0..arrivals).for_each(|_| builder.mbarrier_arrive(pointer, 0));
            });
        }
        tw::MBARRIER_WAIT => {
            let phase = lowering.scalar(lowering.operand(op, 1)?)?;
            let phase = lowering.builder.binary_const(Binary::And, phase, 1);
            where_holds(&mut lowering.builder, active, |builder| builder.mbarrier_wait(pointer, phase));
        }
        tw::MBARRIER_EXPECT => {
            let bytes = count(lowering, op, "bytes")?;
            by_first(&mut lowering.builder, active, |builder| builder.mbarrier_arrive(pointer, bytes));
        }
        // The memory is nothing else's before the kernel ends.
        tw::MBARRIER_INVALIDATE => {}
        other => return Err(Reason::unsupported(format!("`{other}` has no meaning here"))),
    }
    Ok(())
}

fn count(lowering: &Lowering<'_>, op: Op, name: &str) -> Lowered<u32> {
    let count = lowering.number(op, name)?;
    u32::try_from(count).map_err(|_| Reason::malformed(format!("`{name}` is {count}: expected a number of arrivals")))
}

/// Whether another mbarrier is made before anything else is done, so that one barrier is enough for both, or all groups of
/// warps meet anyway.
fn another_follows(lowering: &Lowering<'_>, op: Op) -> bool {
    let body = lowering.body;
    let all = body.walk(body.root());
    let behind = all.iter().skip_while(|other| **other != op).skip(1);
    let does_nothing = |other: Op| {
        let operation = body.op(other);
        operation.definition.traits.pure || operation.name() == ttg::LOCAL_ALLOC && operation.operands.is_empty()
    };
    let mut behind = behind.skip_while(|other| does_nothing(**other));
    behind.next().is_some_and(|&next| {
        let is_made = |value| matches!(body.origin(value), ValueOrigin::Result(..));
        match body.op(next).name() {
            INIT => body.op(next).operands.iter().all(|&value| is_made(value)),
            name => name == ttg::WARP_SPECIALIZE,
        }
    })
}

/// Writes what the first warp of the group does, where a condition holds too.
pub(super) fn by_first(builder: &mut Builder, active: Option<Value>, act: impl FnOnce(&mut Builder)) {
    let warp = builder.special(SpecialRegister::Warp);
    let zero = builder.i32(0);
    let first = builder.compare(Compare::Eq, warp, zero);
    let first = active.map_or(first, |active| builder.binary(Binary::And, first, active));
    where_holds(builder, Some(first), act);
}

fn where_holds(builder: &mut Builder, condition: Option<Value>, act: impl FnOnce(&mut Builder)) {
    let Some(condition) = condition else { return act(builder) };
    builder.begin_region(&[]);
    act(builder);
    let then = builder.end_region(&[]);
    builder.begin_region(&[]);
    let otherwise = builder.end_region(&[]);
    builder.if_else(condition, then, otherwise, &[]);
}
