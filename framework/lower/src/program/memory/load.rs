//! Loads.

use std::sync::Arc;

use tilewright_kernel::{Builder, Cast, Element, Op as KernelOp, Type, Value};
use tilewright_layout::LinearLayout;
use tilewright_tile::{self as tile, Op};

use super::super::error::{Lowered, Reason};
use super::super::lowered::{LoweredValue, Registers};
use super::super::lowering::Lowering;
use super::super::types::stored;
use super::Groups;

/// Loads through a pointer, or a tensor of them. What a mask leaves out is `other`, or zero where the program says nothing.
pub(in super::super) fn load(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let pointer = lowering.operand(op, 0)?;
    let (mask, other) = (lowering.optional(op, "mask"), lowering.optional(op, "other"));
    let result = lowering.result(op, 0)?;
    let ty = lowering.carrier(result)?;
    if lowering.body.ty(result).as_tensor().is_none() {
        let address = lowering.scalar(pointer)?;
        let predicate = mask.map(|mask| lowering.scalar(mask)).transpose()?;
        let other = other.map(|other| lowering.scalar(other)).transpose()?;
        let loaded = one(&mut lowering.builder, address, stored(ty), predicate);
        let value = from_memory(&mut lowering.builder, loaded, ty);
        let value = instead(&mut lowering.builder, predicate, value, other);
        lowering.hold_found(result, value);
        return Ok(());
    }
    let layout = lowering.result_layout(op)?;
    let tensor = loaded(lowering, op, pointer, (layout, ty))?;
    lowering.give(op, LoweredValue::Tensor(tensor))
}

/// Loads through a tensor of pointers, with the operation's `mask` and `other`, into a layout.
pub(in super::super) fn loaded(
    lowering: &mut Lowering<'_>,
    op: Op,
    pointer: tile::Value,
    (layout, ty): (Arc<LinearLayout>, Type),
) -> Lowered<Registers> {
    let (mask, other) = (lowering.optional(op, "mask"), lowering.optional(op, "other"));
    let addresses = lowering.spread(pointer, &layout)?;
    let predicates = mask.map(|mask| lowering.spread(mask, &layout)).transpose()?;
    let others = other.map(|other| lowering.spread(other, &layout)).transpose()?;
    let element = stored(ty);
    let masks: Vec<_> = mask.into_iter().collect();
    let widths = &lowering.machine.context.target.global.access_bits;
    let groups = Groups::of((lowering.facts, pointer, &masks), &layout, element, widths);
    let mut values = vec![None; addresses.len()];
    let mut known: Vec<((Value, Option<Value>), Value)> = Vec::new();
    for group in groups.iter() {
        let first = group[0];
        let predicate = predicates.as_ref().map(|all| all[first]);
        let vector = Groups::vector(element, group.len());
        // Registers that hold the same are loaded once.
        let problem = (addresses[first], predicate);
        let found = known.iter().find(|(requested, _)| *requested == problem).map(|&(_, loaded)| loaded);
        let loaded = found.unwrap_or_else(|| {
            let loaded = one(&mut lowering.builder, addresses[first], vector, predicate);
            known.push((problem, loaded));
            loaded
        });
        for (place, register) in (0u32..).zip(group) {
            let builder = &mut lowering.builder;
            let own = builder.extract(loaded, place);
            let own = from_memory(builder, own, ty);
            values[register] = Some(instead(builder, predicate, own, others.as_ref().map(|all| all[register])));
        }
    }
    let values: Option<Vec<Value>> = values.into_iter().collect();
    let values = values.ok_or_else(|| Reason::malformed("a register is in no access"))?;
    Ok(Registers::new(layout, values))
}

fn one(builder: &mut Builder, pointer: Value, ty: Type, predicate: Option<Value>) -> Value {
    let alignment = ty.bits().div_ceil(8);
    builder.value(ty, KernelOp::Load { pointer, predicate, offset: 0, alignment })
}

/// An element as it is computed with, from what memory has.
pub(in super::super) fn from_memory(builder: &mut Builder, value: Value, ty: Type) -> Value {
    match ty {
        Type::Scalar(Element::I1) => {
            let zero = builder.constant(Type::Scalar(Element::I8), 0);
            builder.compare(tilewright_kernel::Compare::Ne, value, zero)
        }
        Type::Pointer(_) => builder.cast(Cast::Bits, value, ty),
        _ => value,
    }
}

/// `other` where the predicate is false; what is left out loads as zero by itself.
fn instead(builder: &mut Builder, predicate: Option<Value>, value: Value, other: Option<Value>) -> Value {
    match (predicate, other) {
        (Some(predicate), Some(other)) => builder.select(predicate, value, other),
        _ => value,
    }
}
