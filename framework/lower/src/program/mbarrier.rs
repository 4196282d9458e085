//! Lowers mbarriers (PTX), by which warp groups and bulk tensor copies synchronize without a barrier of the block. An
//! arrival does not block; a wait blocks until a phase completes.
//!
//! The first warp of a group arrives for the whole group, after a barrier of the group, so that the writes of all its
//! lanes are visible to waiting warps. If the arrival has the attribute `ARRIVE_PER_WARP`, each warp arrives separately
//! instead.

use tilewright_kernel::{Binary, Builder, CollectiveScope, Compare, Op as KernelOp, SpecialRegister, Value};
use tilewright_target::Completion;
use tilewright_tile::op::name::{ttg, tw};
use tilewright_tile::transform::explicit::ARRIVE_PER_WARP;
use tilewright_tile::{FunctionBody, Op, ValueOrigin};

use super::error::{LowerErrorReason, Lowered};
use super::lowering::Lowering;
use super::shared::placed_at;

const INIT: &str = tw::MBARRIER_INIT;

pub(super) fn operation(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let rows = lowering.config.context.instructions;
    if !rows.iter().any(|row| row.completion == Completion::Mbarrier) {
        return Err(LowerErrorReason::unsupported("the target has no mbarriers"));
    }
    let pointer = placed_at(lowering, lowering.operand(op, 0)?)?;
    let active = lowering.optional(op, "pred").map(|active| lowering.scalar(active)).transpose()?;
    match lowering.body.op(op).name() {
        INIT => {
            let arrivals = count(lowering, op, "count")?;
            by_first(&mut lowering.builder, None, |builder| {
                builder.effect(KernelOp::MbarrierInit { pointer, arrivals });
            });
            match another_follows(lowering, op) {
                Some(INIT) => {}
                // The fence also orders earlier stores of all warps before copies that fill the same memory.
                Some(_) => lowering.builder.proxy_fence(),
                None => {
                    lowering.builder.proxy_fence();
                    lowering.builder.barrier(CollectiveScope::Block);
                }
            }
        }
        tw::MBARRIER_ARRIVE if lowering.attribute(op, ARRIVE_PER_WARP).is_some() => {
            let arrivals = count(lowering, op, "count")?;
            lowering.builder.if_then(active, |builder| {
                (0..arrivals).for_each(|_| builder.mbarrier_arrive(pointer, 0));
            });
        }
        tw::MBARRIER_ARRIVE => {
            let arrivals = count(lowering, op, "count")?;
            lowering.builder.barrier(CollectiveScope::Block);
            by_first(&mut lowering.builder, active, |builder| {
                (0..arrivals).for_each(|_| builder.mbarrier_arrive(pointer, 0));
            });
        }
        tw::MBARRIER_WAIT => {
            let phase = lowering.scalar(lowering.operand(op, 1)?)?;
            let phase = lowering.builder.binary_const(Binary::And, phase, 1);
            lowering.builder.if_then(active, |builder| builder.mbarrier_wait(pointer, phase));
        }
        tw::MBARRIER_EXPECT => {
            let bytes = count(lowering, op, "bytes")?;
            by_first(&mut lowering.builder, active, |builder| builder.mbarrier_arrive(pointer, bytes));
        }
        tw::MBARRIER_INVALIDATE => {
            // If other mbarriers are invalidated directly before, their barrier suffices; otherwise emit one, after
            // which no warp arrives or waits.
            if !follows_invalidation(lowering.body, op) {
                lowering.builder.barrier(CollectiveScope::Block);
            }
            by_first(&mut lowering.builder, None, |builder| builder.mbarrier_invalidate(pointer));
        }
        other => return Err(LowerErrorReason::unsupported(format!("`{other}` is not an mbarrier operation"))),
    }
    Ok(())
}

/// Whether the operation before `op`, apart from pure ones, invalidates another mbarrier.
fn follows_invalidation(body: &FunctionBody, op: Op) -> bool {
    let all = body.walk_region(body.root());
    let earlier = all.iter().take_while(|other| **other != op);
    let last = earlier.filter(|other| !body.op(**other).definition.traits.pure).last();
    last.is_some_and(|&last| body.op(last).name() == tw::MBARRIER_INVALIDATE)
}

fn count(lowering: &Lowering<'_>, op: Op, name: &str) -> Lowered<u32> {
    let count = lowering.integer_attribute(op, name)?;
    u32::try_from(count)
        .map_err(|_| LowerErrorReason::malformed(format!("`{name}` is {count}: expected a number of arrivals")))
}

/// Returns the name of a later operation that makes the block barrier after the mbarrier initialization `op` redundant;
/// `None` if there is none. Such an operation is another initialization, or a `ttg.warp_specialize` (which begins with
/// a barrier of all warp groups), if no operation with effects comes between.
fn another_follows<'a>(lowering: &Lowering<'a>, op: Op) -> Option<&'a str> {
    let body = lowering.body;
    let all = body.walk_region(body.root());
    let behind = all.iter().skip_while(|other| **other != op).skip(1);
    let does_nothing = |other: Op| {
        let operation = body.op(other);
        operation.definition.traits.pure || operation.name() == ttg::LOCAL_ALLOC && operation.operands.is_empty()
    };
    let mut behind = behind.skip_while(|other| does_nothing(**other));
    let &next = behind.next()?;
    let is_result = |value| matches!(body.value_origin(value), ValueOrigin::Result(..));
    let name = body.op(next).name();
    let makes_redundant = match name {
        INIT => body.op(next).operands.iter().all(|&value| is_result(value)),
        name => name == ttg::WARP_SPECIALIZE,
    };
    makes_redundant.then_some(name)
}

/// Emits the operations of `act` so that only the first warp of the warp group executes them, and only if `active` is
/// true or `None`.
pub(super) fn by_first(builder: &mut Builder, active: Option<Value>, act: impl FnOnce(&mut Builder)) {
    let warp = builder.special(SpecialRegister::Warp);
    let zero = builder.i32(0);
    let first = builder.compare(Compare::Eq, warp, zero);
    let first = active.map_or(first, |active| builder.binary(Binary::And, first, active));
    builder.if_then(Some(first), act);
}
