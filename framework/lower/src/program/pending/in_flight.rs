//! Lowers asynchronous MMAs and their waits.

use super::found;
use super::state::{InFlightMma, Pending};
use crate::program::error::{LowerErrorReason, Lowered};
use crate::program::lowered::{LoweredValue, Registers};
use crate::program::lowering::Lowering;
use crate::program::shared;
use crate::shared_memory::Access;
use std::sync::Arc;
use tilewright_kernel::{CollectiveScope, Queue, Type, Value};
use tilewright_plan::mma::{AccumulatorAllocation, MmaPlan};
use tilewright_tile::{self as tile, Op};

impl Pending {
    /// Returns the lowered form of the accumulator `value`, which has MMAs in flight, and takes its kernel values from
    /// the iterator `values`. `None` if `value` is no such accumulator.
    pub(crate) fn lowered(&self, value: tile::Value, values: &mut impl Iterator<Item = Value>) -> Option<LoweredValue> {
        let plan = self.values.get(&value)?.clone();
        let mma_values: Vec<Value> = values.by_ref().take(plan.pending_value_count()).collect();
        Some(LoweredValue::Pending(InFlightMma { plan, values: mma_values.into() }))
    }
}

impl Lowering<'_> {
    /// Returns the accumulator `value` as pending kernel values for MMAs in flight, in the form of the MMA plan that
    /// produces the program value `like`.
    pub(crate) fn as_pending(&mut self, value: tile::Value, like: tile::Value) -> Lowered<Arc<[Value]>> {
        let plan = self.pending.values.get(&like).cloned();
        let plan = plan.ok_or_else(|| LowerErrorReason::malformed("no asynchronous dot produces it"))?;
        start_pending(self, value, like, &plan)
    }

    /// Waits for all MMAs, loads the accumulator of `value` from tensor memory, and returns it as a tensor in
    /// registers. `None` if `value` is not the result of a loop after which the accumulator leaves tensor memory.
    pub(crate) fn leave_tensor_memory(&mut self, value: tile::Value) -> Lowered<Option<LoweredValue>> {
        let Some(plan) = self.pending.leaving.get(&value).cloned() else { return Ok(None) };
        self.wait_for_mma_groups(0);
        finish_in_tensor_memory(self, (value, value), &plan).map(Some)
    }
}

/// Returns the accumulator of `value` as pending kernel values, in the form that the MMAs of `plan` require. If they
/// accumulate in tensor memory, it emits the stores to the columns of the program value `like` instead, and returns no
/// values.
fn start_pending(
    lowering: &mut Lowering<'_>,
    value: tile::Value,
    like: tile::Value,
    plan: &MmaPlan,
) -> Lowered<Arc<[Value]>> {
    if let LoweredValue::Pending(mma) = lowering.lowered(value)? {
        return Ok(mma.values.clone());
    }
    let tensor = lowering.tensor(value)?;
    let values = lowering.convert(&tensor, &Arc::new(plan.c.clone()))?;
    let words: Vec<Value> = values.iter().map(|&value| lowering.emit_integer_bits(value)).collect();
    if plan.is_in_tensor_memory() {
        // Earlier MMAs may still access the columns.
        lowering.wait_for_mma_groups(0);
        let (space, group) = space_of(lowering, like)?;
        plan.emit_tensor_memory_start(&mut lowering.builder, space, Some(&words), group);
        lowering.builder.barrier(CollectiveScope::Block);
        return Ok(Arc::default());
    }
    Ok(plan.emit_pending_accumulator(&mut lowering.builder, &words).into())
}

/// Returns the tensor-memory columns and mbarriers of the accumulator that `value` carries, and the number of the next
/// group of MMAs (MMAs that are committed together).
fn space_of(lowering: &mut Lowering<'_>, value: tile::Value) -> Lowered<(AccumulatorAllocation, Value)> {
    let column = lowering.pending.column_of(value);
    let space = column.and_then(|column| lowering.tensor_memory_from(column));
    space
        .zip(lowering.next_mma_group())
        .ok_or_else(|| LowerErrorReason::malformed("its accumulator is not in tensor memory"))
}

/// Issues an asynchronous MMA; returns false, without issuing it, if the MMA is synchronous.
pub(crate) fn lower_async_mma(lowering: &mut Lowering<'_>, op: Op) -> Lowered<bool> {
    let Some(plan) = lowering.pending.mmas.get(&op).cloned() else { return Ok(false) };
    lowering.check_size(plan.cost.issues)?;
    let operand = |lowering: &Lowering<'_>, group: &str| {
        lowering
            .optional(op, group)
            .ok_or_else(|| LowerErrorReason::malformed(format!("its operand `{group}` is missing")))
    };
    let result = lowering.result(op, 0)?;
    let accumulator = start_pending(lowering, operand(lowering, "c")?, result, &plan)?;
    let (mut addresses, mut slices) = (Vec::with_capacity(2), Vec::with_capacity(2));
    for group in ["a", "b"] {
        let load = found::load(lowering.body, operand(lowering, group)?).and_then(|chain| chain.last().copied());
        let load = load.ok_or_else(|| LowerErrorReason::malformed("an operand is not in shared memory"))?;
        let operand = shared::smem_operand(lowering, lowering.operand(load, 0)?)?;
        addresses.push(operand.address);
        slices.push(operand.slice);
    }
    let &[a, b] = &addresses[..] else { return Ok(false) };
    if plan.is_in_tensor_memory() && !lowering.follows_barrier(op) {
        lowering.builder.barrier(CollectiveScope::Block);
    }
    lowering.record_access(Access::Read, slices);
    if plan.is_in_tensor_memory() {
        let (space, group) = space_of(lowering, result)?;
        let accumulator = plan.resume_accumulator(&mut lowering.builder, space, group);
        let accumulator = plan.emit_async_in_tensor_memory(&mut lowering.builder, [a, b], &accumulator);
        lowering.set_next_mma_group(accumulator.next_group_index());
        lowering.set_lowered(result, LoweredValue::Pending(InFlightMma { plan, values: Arc::default() }));
        return Ok(true);
    }
    let values = plan.emit_async(&mut lowering.builder, [a, b], &accumulator);
    lowering.set_result(op, LoweredValue::Pending(InFlightMma { plan, values: values.into() }))?;
    Ok(true)
}

/// Lowers `tw.mma_wait`: waits for asynchronous MMAs; accumulators that the wait completes become tensors.
pub(crate) fn awaited(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let operands = lowering.body.op(op).operands.clone();
    let outstanding = lowering.integer_attribute(op, "outstanding")?;
    let outstanding = u32::try_from(outstanding)
        .map_err(|_| LowerErrorReason::malformed(format!("a wait for all but {outstanding} MMAs")))?;
    let is_there = lowering.pending.there.get(&op).cloned().unwrap_or_default();
    let mut given = Vec::new();
    for (index, &operand) in operands.iter().enumerate() {
        if let LoweredValue::Pending(mma) = lowering.lowered(operand)?
            && is_there.get(index) == Some(&true)
        {
            given.extend_from_slice(&mma.values);
        }
    }
    let mut words = Vec::new().into_iter();
    if lowering.next_mma_group().is_some() {
        lowering.wait_for_mma_groups(outstanding);
    } else if lowering.pending.are_some() {
        words = lowering.builder.wait(Queue::Mma, outstanding, &given).into_iter();
    }
    for (index, &operand) in operands.iter().enumerate() {
        let result = lowering.result(op, index)?;
        let lowered = match lowering.lowered(operand)?.clone() {
            LoweredValue::Pending(mma) if is_there.get(index) == Some(&true) && mma.plan.is_in_tensor_memory() => {
                finish_in_tensor_memory(lowering, (operand, result), &mma.plan)?
            }
            LoweredValue::Pending(mma) if is_there.get(index) == Some(&true) => {
                let mma_values: Vec<Value> = words.by_ref().take(mma.values.len()).collect();
                finish_pending(lowering, result, &mma.plan, &mma_values)?
            }
            LoweredValue::Tensor(tensor) => {
                let layout = lowering.layout_of(result)?;
                let values = lowering.convert(&tensor, &layout)?;
                LoweredValue::Tensor(Registers { layout, values })
            }
            other => other,
        };
        lowering.set_lowered(result, lowered);
    }
    Ok(())
}

/// Returns a completed accumulator as a tensor in registers.
fn finish_pending(
    lowering: &mut Lowering<'_>,
    result: tile::Value,
    plan: &MmaPlan,
    words: &[Value],
) -> Lowered<LoweredValue> {
    let words = plan.unpack_completed(&mut lowering.builder, words);
    finish(lowering, result, plan, words)
}

/// Loads the completed accumulator of `value` from tensor memory; returns it as the tensor `result`.
fn finish_in_tensor_memory(
    lowering: &mut Lowering<'_>,
    (value, result): (tile::Value, tile::Value),
    plan: &MmaPlan,
) -> Lowered<LoweredValue> {
    let (space, group) = space_of(lowering, value)?;
    let accumulator = plan.resume_accumulator(&mut lowering.builder, space, group);
    let words = plan.emit_epilogue(&mut lowering.builder, accumulator);
    finish(lowering, result, plan, words)
}

fn finish(
    lowering: &mut Lowering<'_>,
    result: tile::Value,
    plan: &MmaPlan,
    words: Vec<Value>,
) -> Lowered<LoweredValue> {
    let ty: Type = lowering.carrier(result)?;
    let values: Vec<Value> = words.into_iter().map(|word| lowering.emit_from_integer_bits(word, ty)).collect();
    let layout = lowering.layout_of(result)?;
    let values = lowering.convert(&Registers::new(Arc::new(plan.c.clone()), values), &layout)?;
    Ok(LoweredValue::Tensor(Registers { layout, values }))
}
