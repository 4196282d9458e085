//! Lowers matrix multiplications that are in flight across iterations.

use super::found;
use super::state::{Pending, UnderWay};
use crate::program::error::{Lowered, Reason};
use crate::program::lowered::{LoweredValue, Registers};
use crate::program::lowering::Lowering;
use crate::program::shared;
use crate::shared_memory::Access;
use std::sync::Arc;
use tilewright_kernel::{Queue, Type, Value};
use tilewright_plan::contract::Contraction;
use tilewright_tile::{self as tile, Op};

impl Pending {
    /// What stands for a value that is pending, from the next of `values`.
    pub(crate) fn lowered(&self, value: tile::Value, values: &mut impl Iterator<Item = Value>) -> Option<LoweredValue> {
        let plan = self.values.get(&value)?.clone();
        let own: Vec<Value> = values.by_ref().take(plan.pending_values()).collect();
        Some(LoweredValue::Pending(UnderWay { plan, values: own.into() }))
    }
}

impl Lowering<'_> {
    /// The values of a tensor as ones that are pending, as `like` is.
    pub(crate) fn as_pending(&mut self, value: tile::Value, like: tile::Value) -> Lowered<Arc<[Value]>> {
        let plan = self.pending.values.get(&like).cloned();
        let plan = plan.ok_or_else(|| Reason::malformed("no product gives it"))?;
        begun(self, value, &plan)
    }
}

/// The sums that a value is, as the plan takes them.
fn begun(lowering: &mut Lowering<'_>, value: tile::Value, plan: &Contraction) -> Lowered<Arc<[Value]>> {
    if let LoweredValue::Pending(under_way) = lowering.lowered(value)? {
        return Ok(under_way.values.clone());
    }
    let tensor = lowering.tensor(value)?;
    let values = lowering.convert(&tensor, &Arc::new(plan.c.clone()))?;
    let words: Vec<Value> = values.iter().map(|&value| lowering.as_word(value)).collect();
    Ok(plan.begin_pending(&mut lowering.builder, &words).into())
}

/// Issues a product that goes on, where this is one; whether it is.
pub(crate) fn product(lowering: &mut Lowering<'_>, op: Op) -> Lowered<bool> {
    let Some(plan) = lowering.pending.products.get(&op).cloned() else { return Ok(false) };
    lowering.has_room(plan.cost.issues)?;
    let operand = |lowering: &Lowering<'_>, group: &str| {
        lowering.optional(op, group).ok_or_else(|| Reason::malformed(format!("its operand `{group}` is missing")))
    };
    let accumulator = begun(lowering, operand(lowering, "c")?, &plan)?;
    let mut addresses = Vec::with_capacity(2);
    for group in ["a", "b"] {
        let load = found::load(lowering.body, operand(lowering, group)?).and_then(|chain| chain.last().copied());
        let load = load.ok_or_else(|| Reason::malformed("a factor is not where it was"))?;
        addresses.push(shared::whole(lowering, lowering.operand(load, 0)?)?.0.address);
    }
    let &[a, b] = &addresses[..] else { return Ok(false) };
    lowering.accesses(Access::Read);
    let values = plan.emit_pending(&mut lowering.builder, [a, b], &accumulator);
    lowering.give(op, LoweredValue::Pending(UnderWay { plan, values: values.into() }))?;
    Ok(true)
}

/// `tw.await_products`: waits where there are products that go on; what is there after it can be used.
pub(crate) fn awaited(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let operands = lowering.body.op(op).operands.clone();
    let outstanding = lowering.number(op, "outstanding")?;
    let outstanding = u32::try_from(outstanding)
        .map_err(|_| Reason::malformed(format!("a wait for all but {outstanding} products")))?;
    let is_there = lowering.pending.there.get(&op).cloned().unwrap_or_default();
    let mut given = Vec::new();
    for (number, &operand) in operands.iter().enumerate() {
        if let LoweredValue::Pending(under_way) = lowering.lowered(operand)?
            && is_there.get(number) == Some(&true)
        {
            given.extend_from_slice(&under_way.values);
        }
    }
    let mut words = Vec::new().into_iter();
    if lowering.pending.are_some() {
        words = lowering.builder.wait(Queue::Products, outstanding, &given).into_iter();
    }
    for (number, &operand) in operands.iter().enumerate() {
        let result = lowering.result(op, number)?;
        let lowered = match lowering.lowered(operand)?.clone() {
            LoweredValue::Pending(under_way) if is_there.get(number) == Some(&true) => {
                let own: Vec<Value> = words.by_ref().take(under_way.values.len()).collect();
                ended(lowering, result, &under_way.plan, &own)?
            }
            LoweredValue::Tensor(tensor) => {
                let layout = lowering.layout_of(result)?;
                let values = lowering.convert(&tensor, &layout)?;
                LoweredValue::Tensor(Registers { layout, values })
            }
            other => other,
        };
        lowering.hold(result, lowered);
    }
    Ok(())
}

/// The tensor that a wait has given.
fn ended(
    lowering: &mut Lowering<'_>,
    result: tile::Value,
    plan: &Contraction,
    words: &[Value],
) -> Lowered<LoweredValue> {
    let ty: Type = lowering.carrier(result)?;
    let words = plan.end_pending(&mut lowering.builder, words);
    let values: Vec<Value> = words.into_iter().map(|word| lowering.typed_word(word, ty)).collect();
    let layout = lowering.layout_of(result)?;
    let values = lowering.convert(&Registers::new(Arc::new(plan.c.clone()), values), &layout)?;
    Ok(LoweredValue::Tensor(Registers { layout, values }))
}
