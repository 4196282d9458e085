//! Lowers gathers and scatters in shared memory, with an index for each element along one axis.
//!
//! The offset of an element in a memory layout is linear over F2 in its coordinates. So the bits of an index,
//! multiplied by a matrix over F2, give its contribution to the address.

use std::sync::Arc;

use crate::shared_memory::Access;
use tilewright_kernel::{Binary, Cast, Element, MemoryOrder, MemoryScope, Op as KernelOp, Type, Value};
use tilewright_layout::LinearLayout;
use tilewright_tile::{self as tile, Op};

use super::error::{LowerErrorReason, Lowered};
use super::lowering::Lowering;
use super::memory::{atomic, both, from_memory, to_memory};
use super::shared::{placed, slice};
use super::tensor_coordinates::idle_registers;

/// Lowers `ttg.local_gather`. For each element of the index tensor, it loads the element whose coordinate along the
/// operation's axis is the index, and whose other coordinates are those of the index element.
pub(super) fn gathered(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let layout = lowering.result_layout(op)?;
    let ty = lowering.carrier(lowering.result(op, 0)?)?;
    let memory = lowering.operand(op, 0)?;
    let (pointers, element) = pointers(lowering, op, memory, &layout)?;
    let slice = slice(lowering, memory)?;
    lowering.record_access(Access::Load, vec![slice]);
    let of = |pointer| {
        let word = lowering.builder.load(element, pointer, 0, None);
        from_memory(&mut lowering.builder, word, ty)
    };
    let values = pointers.into_iter().map(of).collect();
    lowering.give_tensor(op, layout, values)
}

/// Lowers `ttg.local_scatter`: stores each value at the index of the same element along the operation's axis. If
/// several values go to one position, any of them remains.
pub(super) fn scattered(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let values =
        lowering.optional(op, "values").ok_or_else(|| LowerErrorReason::malformed("its values are missing"))?;
    let tensor = lowering.tensor(values)?;
    let memory = lowering.operand(op, 0)?;
    let (pointers, _) = pointers(lowering, op, memory, &tensor.layout)?;
    let (active, idle) = (lowering.active(&tensor.layout), idle_registers(&tensor.layout) as usize);
    let slice = slice(lowering, memory)?;
    lowering.record_access(Access::Store, vec![slice]);
    for (register, pointer) in pointers.into_iter().enumerate().filter(|(register, _)| register & idle == 0) {
        let word = to_memory(&mut lowering.builder, tensor.values[register]);
        lowering.builder.store(pointer, 0, word, active);
    }
    Ok(())
}

/// Lowers `ttg.local_atomic_scatter_rmw`: combines each value, atomically, with the element in memory at its index; the
/// result has the old elements.
pub(super) fn combined(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let values =
        lowering.optional(op, "values").ok_or_else(|| LowerErrorReason::malformed("its values are missing"))?;
    let tensor = lowering.tensor(values)?;
    let word = lowering.keyword(op, "atomic_rmw_op").unwrap_or_default();
    let kind =
        atomic(word).ok_or_else(|| LowerErrorReason::malformed(format!("there is no atomic operation `{word}`")))?;
    let mask = lowering.optional(op, "mask");
    let masks = mask.map(|mask| lowering.registers_in(mask, &tensor.layout)).transpose()?;
    let memory = lowering.operand(op, 0)?;
    let (pointers, _) = pointers(lowering, op, memory, &tensor.layout)?;
    let (active, idle) = (lowering.active(&tensor.layout), idle_registers(&tensor.layout) as usize);
    let (order, scope) = (MemoryOrder::Relaxed, MemoryScope::Block);
    let slice = slice(lowering, memory)?;
    lowering.record_access(Access::Store, vec![slice]);
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
    let before = lowering.broadcast_replicas(&tensor.layout, active, &before)?;
    let required = lowering.result_layout(op)?;
    let before = lowering.convert(&super::lowered::Registers::new(tensor.layout.clone(), before), &required)?;
    lowering.give_tensor(op, required, before.to_vec())
}

/// Emits the address in shared memory of the element for each register: its coordinate along the operation's axis is
/// the index in the register. Also returns the type of an element in memory.
fn pointers(
    lowering: &mut Lowering<'_>,
    op: Op,
    memory: tile::Value,
    layout: &Arc<LinearLayout>,
) -> Lowered<(Vec<Value>, Type)> {
    let axis = usize::try_from(lowering.integer_attribute(op, "axis")?)
        .map_err(|_| LowerErrorReason::malformed("its axis is negative"))?;
    let indices =
        lowering.optional(op, "indices").ok_or_else(|| LowerErrorReason::malformed("its indices are missing"))?;
    let indices = lowering.registers_in(indices, layout)?;
    let word = Type::Scalar(Element::I32);
    let mut numbers = Vec::with_capacity(indices.len());
    for &index in indices.iter() {
        let cast = if lowering.builder.type_of(index).bits() < 32 { Cast::ExtendU } else { Cast::Truncate };
        numbers.push(lowering.builder.cast(cast, index, word));
    }
    let placed = placed(lowering, memory)?;
    if axis >= placed.shape.len() {
        return Err(LowerErrorReason::malformed(format!("there is no axis {axis}")));
    }
    // An index out of bounds wraps to some element of the buffer, so that no access leaves it; the loaded value is
    // unspecified.
    let inside = placed.shape[axis].next_power_of_two() as u32 - 1;
    let numbers: Vec<Value> =
        numbers.into_iter().map(|number| lowering.builder.binary_const(Binary::And, number, inside)).collect();
    Ok((placed.pointers(lowering, layout, Some((axis, &numbers)))?, placed.element))
}
