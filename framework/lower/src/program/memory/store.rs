//! Lowers `tt.store`.

use tilewright_kernel::{Binary, Builder, Cast, Element, Op as KernelOp, Type, Value};
use tilewright_tile::Op;

use super::super::error::Lowered;
use super::super::lowering::Lowering;
use super::super::tensor_coordinates::idle_registers;
use super::super::types::stored;
use super::VectorGroups;
use super::addresses::ElementAddress;

/// Lowers `tt.store` through a pointer or a tensor of pointers: each element is stored once, regardless of replicas.
pub(in super::super) fn store(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let (pointer, value) = (lowering.operand(op, 0)?, lowering.operand(op, 1)?);
    let mask = lowering.optional(op, "mask");
    let ty = lowering.carrier(value)?;
    if lowering.body.value_type(value).as_tensor().is_none() {
        let (address, value) = (lowering.scalar(pointer)?, lowering.scalar(value)?);
        let mask = mask.map(|mask| lowering.scalar(mask)).transpose()?;
        let first = lowering.is_first_of_program();
        let predicate = both(&mut lowering.builder, first, mask);
        let value = to_memory(&mut lowering.builder, value);
        lowering.builder.store(address, 0, value, predicate);
        return Ok(());
    }
    let layout = lowering.layout_of(value)?;
    let addresses = lowering.addresses_in(pointer, &layout)?;
    let values = lowering.registers_in(value, &layout)?;
    let predicates = mask.map(|mask| lowering.registers_in(mask, &layout)).transpose()?;
    let element = stored(ty);
    let masks: Vec<_> = mask.into_iter().collect();
    let sufficient = lowering.config.context.target.global.sufficient_alignment();
    let widths = lowering.global_access_bits();
    let groups = VectorGroups::of((lowering.axis_info, pointer, &masks), &layout, element, widths, sufficient);
    let idle = idle_registers(&layout) as usize;
    let active = lowering.active(&layout);
    for group in groups.iter().filter(|group| group[0] & idle == 0) {
        let builder = &mut lowering.builder;
        let elements: Vec<Value> = group.iter().map(|&register| to_memory(builder, values[register])).collect();
        let vector = builder.pack(&elements);
        let predicate = both(builder, active, predicates.as_ref().map(|all| all[group[0]]));
        let address = addresses[group[0]];
        let alignment = groups.alignment(builder.type_of(vector));
        let ElementAddress { pointer, offset } = address;
        builder.effect(KernelOp::Store { pointer, value: vector, predicate, offset, alignment });
    }
    Ok(())
}

/// Converts an element from the type that carries it in registers to its type in memory.
pub(in super::super) fn to_memory(builder: &mut Builder, value: Value) -> Value {
    match builder.type_of(value) {
        Type::Scalar(Element::I1) => builder.cast(Cast::ExtendU, value, Type::Scalar(Element::I8)),
        ty @ Type::Pointer(_) => builder.cast(Cast::Bits, value, stored(ty)),
        _ => value,
    }
}

/// Emits the conjunction of two optional conditions; `None` is true.
pub(in super::super) fn both(builder: &mut Builder, a: Option<Value>, b: Option<Value>) -> Option<Value> {
    match (a, b) {
        (Some(a), Some(b)) => Some(builder.binary(Binary::And, a, b)),
        (one, None) | (None, one) => one,
    }
}
