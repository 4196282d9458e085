//! Elements of tensors in shared memory, each at an index of its own along one axis.
//!
//! A layout's offset is linear over F2 in coordinates, so that what the index adds to it is a product with the index' bits.

use std::sync::Arc;

use crate::shared_memory::Access;
use tilewright_kernel::{Binary, Cast, Element, MemoryOrder, MemoryScope, Op as KernelOp, Type, Value};
use tilewright_layout::LinearLayout;
use tilewright_tile::{self as tile, Op};

use super::error::{Lowered, Reason};
use super::lowering::Lowering;
use super::memory::{atomic, both, from_memory, to_memory};
use super::places::idle_registers;
use super::shared::placed;

/// `ttg.local_gather`: for each index the element that lies there, all other coordinates being the index' own.
pub(super) fn gathered(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let layout = lowering.result_layout(op)?;
    let ty = lowering.carrier(lowering.result(op, 0)?)?;
    let (pointers, element) = pointers(lowering, op, lowering.operand(op, 0)?, &layout)?;
    lowering.accesses(Access::Load);
    let of = |pointer| {
        let word = lowering.builder.load(element, pointer, 0, None);
        from_memory(&mut lowering.builder, word, ty)
    };
    let values = pointers.into_iter().map(of).collect();
    lowering.give_tensor(op, layout, values)
}

/// `ttg.local_scatter`: each value to where its index says. Where several go to one place, one of them is there after.
pub(super) fn scattered(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let values = lowering.optional(op, "values").ok_or_else(|| Reason::malformed("its values are missing"))?;
    let tensor = lowering.tensor(values)?;
    let (pointers, _) = pointers(lowering, op, lowering.operand(op, 0)?, &tensor.layout)?;
    let (active, idle) = (lowering.active(&tensor.layout), idle_registers(&tensor.layout) as usize);
    lowering.accesses(Access::Store);
    for (register, pointer) in pointers.into_iter().enumerate().filter(|(register, _)| register & idle == 0) {
        let word = to_memory(&mut lowering.builder, tensor.values[register]);
        lowering.builder.store(pointer, 0, word, active);
    }
    Ok(())
}

/// `ttg.local_atomic_scatter_rmw`: each value is combined with what is where its index says; gives what was there.
pub(super) fn combined(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let values = lowering.optional(op, "values").ok_or_else(|| Reason::malformed("its values are missing"))?;
    let tensor = lowering.tensor(values)?;
    let word = lowering.word(op, "atomic_rmw_op").unwrap_or_default();
    let kind = atomic(word).ok_or_else(|| Reason::malformed(format!("there is no atomic operation `{word}`")))?;
    let mask = lowering.optional(op, "mask");
    let masks = mask.map(|mask| lowering.spread(mask, &tensor.layout)).transpose()?;
    let (pointers, _) = pointers(lowering, op, lowering.operand(op, 0)?, &tensor.layout)?;
    let (active, idle) = (lowering.active(&tensor.layout), idle_registers(&tensor.layout) as usize);
    let (order, scope) = (MemoryOrder::Relaxed, MemoryScope::Block);
    lowering.accesses(Access::Store);
    let mut before: Vec<Value> = Vec::with_capacity(pointers.len());
    for (register, pointer) in pointers.into_iter().enumerate() {
        if register & idle != 0 {
            before.push(before[register & !idle]);
            continue;
        }
        let value = tensor.values[register];
        let predicate = both(&mut lowering.builder, active, masks.as_ref().map(|masks| masks[register]));
        let ty = lowering.builder.type_of(value);
        let op = KernelOp::AtomicRmw { op: kind, pointer, value, predicate, order, scope };
        before.push(lowering.builder.value(ty, op));
    }
    let result = lowering.result(op, 0)?;
    if !lowering.is_used(result) {
        return lowering.give_tensor(op, tensor.layout.clone(), before);
    }
    let before = lowering.handed_out(&tensor.layout, active, &before)?;
    let required = lowering.result_layout(op)?;
    let before = lowering.convert(&super::lowered::Registers::new(tensor.layout.clone(), before), &required)?;
    lowering.give_tensor(op, required, before.to_vec())
}

/// Where the element of each register of a layout is, by the operation's indices along its axis.
fn pointers(
    lowering: &mut Lowering<'_>,
    op: Op,
    memory: tile::Value,
    layout: &Arc<LinearLayout>,
) -> Lowered<(Vec<Value>, Type)> {
    let axis = usize::try_from(lowering.number(op, "axis")?).map_err(|_| Reason::malformed("its axis is negative"))?;
    let indices = lowering.optional(op, "indices").ok_or_else(|| Reason::malformed("its indices are missing"))?;
    let indices = lowering.spread(indices, layout)?;
    let word = Type::Scalar(Element::I32);
    let mut numbers = Vec::with_capacity(indices.len());
    for &index in indices.iter() {
        let cast = if lowering.builder.type_of(index).bits() < 32 { Cast::ExtendU } else { Cast::Truncate };
        numbers.push(lowering.builder.cast(cast, index, word));
    }
    let placed = placed(lowering, memory)?;
    if axis >= placed.shape.len() {
        return Err(Reason::malformed(format!("there is no axis {axis}")));
    }
    // Beyond the axis no index leads: those that would are as undefined as what they read.
    let inside = placed.shape[axis].next_power_of_two() as u32 - 1;
    let numbers: Vec<Value> =
        numbers.into_iter().map(|number| lowering.builder.binary_const(Binary::And, number, inside)).collect();
    Ok((placed.pointers(lowering, layout, Some((axis, &numbers)))?, placed.element))
}
