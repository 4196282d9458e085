//! Atomic operations: each element's once, however many lanes hold it, and its old value for all of them.

use std::sync::Arc;

use crate::kernel::{Atomic, MemoryOrder, MemoryScope, Op as KernelOp, Value};
use crate::layout::LinearLayout;
use crate::tile::Op;

use super::super::error::{Lowered, Reason};
use super::super::held::{Held, Registers};
use super::super::lowering::Lowering;
use super::super::places::idle_registers;
use super::store::both;

/// What an atomic operation says of memory.
#[derive(Clone, Copy)]
struct Ordered {
    order: MemoryOrder,
    scope: MemoryScope,
}

impl Ordered {
    fn of(lowering: &Lowering<'_>, op: Op) -> Lowered<Self> {
        let order = match lowering.word(op, "sem") {
            Some("relaxed") => MemoryOrder::Relaxed,
            Some("acquire") => MemoryOrder::Acquire,
            Some("release") => MemoryOrder::Release,
            Some("acq_rel") | None => MemoryOrder::AcquireRelease,
            Some(other) => return Err(Reason::malformed(format!("there is no memory order `{other}`"))),
        };
        let scope = match lowering.word(op, "scope") {
            Some("cta") => MemoryScope::Block,
            Some("gpu") | None => MemoryScope::Device,
            Some("sys") => MemoryScope::System,
            Some(other) => return Err(Reason::malformed(format!("there is no memory scope `{other}`"))),
        };
        Ok(Self { order, scope })
    }
}

pub(in super::super) fn read_modify_write(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let kind = lowering.word(op, "atomic_rmw_op").unwrap_or_default();
    let kind = atomic(kind).ok_or_else(|| Reason::malformed(format!("there is no atomic operation `{kind}`")))?;
    let Ordered { order, scope } = Ordered::of(lowering, op)?;
    let mask = lowering.optional(op, "mask");
    each(lowering, op, mask, |lowering, operands, predicate| {
        let (pointer, value) = (operands[0], operands[1]);
        let ty = lowering.builder.type_of(value);
        lowering.builder.value(ty, KernelOp::AtomicRmw { op: kind, pointer, value, predicate, order, scope })
    })
}

pub(in super::super) fn compare_exchange(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let Ordered { order, scope } = Ordered::of(lowering, op)?;
    each(lowering, op, None, |lowering, operands, predicate| {
        let (pointer, expected, value) = (operands[0], operands[1], operands[2]);
        let given = lowering.builder.type_of(value);
        // Bits are compared.
        let (expected, value) = (lowering.to_word(expected), lowering.to_word(value));
        let ty = lowering.builder.type_of(value);
        let op = KernelOp::AtomicCompareExchange { pointer, expected, value, predicate, order, scope };
        let old = lowering.builder.value(ty, op);
        lowering.from_word(old, given)
    })
}

fn atomic(word: &str) -> Option<Atomic> {
    Some(match word {
        "add" => Atomic::Add,
        "fadd" => Atomic::FAdd,
        "and" => Atomic::And,
        "or" => Atomic::Or,
        "xor" => Atomic::Xor,
        "max" => Atomic::MaxS,
        "min" => Atomic::MinS,
        "umax" => Atomic::MaxU,
        "umin" => Atomic::MinU,
        "exch" => Atomic::Exchange,
        _ => return None,
    })
}

/// Does `act` for each element once: it gets the operands but for the mask, and who takes part.
fn each(
    lowering: &mut Lowering<'_>,
    op: Op,
    mask: Option<crate::tile::Value>,
    mut act: impl FnMut(&mut Lowering<'_>, &[Value], Option<Value>) -> Value,
) -> Lowered<()> {
    let body = lowering.body;
    let operation = body.op(op);
    let result = lowering.result(op, 0)?;
    let operands: Vec<_> = operation.operands.iter().copied().filter(|&operand| Some(operand) != mask).collect();
    if body.ty(result).as_tensor().is_none() {
        let values = operands.iter().map(|&operand| lowering.scalar(operand)).collect::<Lowered<Vec<_>>>()?;
        let mask = mask.map(|mask| lowering.scalar(mask)).transpose()?;
        let is_first = lowering.is_first();
        let predicate = both(&mut lowering.builder, is_first, mask);
        let old = act(lowering, &values, predicate);
        if lowering.is_used(result) {
            let old = lowering.from_first(is_first, old);
            lowering.hold_uniform(result, old);
        }
        return Ok(());
    }
    let layout: Arc<LinearLayout> = lowering.result_layout(op)?;
    let all = operands.iter().map(|&operand| lowering.spread(operand, &layout)).collect::<Lowered<Vec<_>>>()?;
    let masks = mask.map(|mask| lowering.spread(mask, &layout)).transpose()?;
    let acts = lowering.acts(&layout);
    let idle = idle_registers(&layout) as usize;
    let mut old: Vec<Value> = Vec::with_capacity(all[0].len());
    for register in 0..all[0].len() {
        if register & idle != 0 {
            old.push(old[register & !idle]);
            continue;
        }
        let values: Vec<Value> = all.iter().map(|values| values[register]).collect();
        let predicate = both(&mut lowering.builder, acts, masks.as_ref().map(|masks| masks[register]));
        old.push(act(lowering, &values, predicate));
    }
    if lowering.is_used(result) {
        let old = lowering.handed_out(&layout, acts, &old)?;
        lowering.hold(result, Held::Tensor(Registers::new(layout, old)));
    }
    Ok(())
}
