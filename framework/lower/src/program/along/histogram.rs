//! Lowers `tt.histogram`, by atomic counters in shared memory.

use std::sync::Arc;

use tilewright_assign::layouts::replicate_axes_in_blocks;
use tilewright_kernel::{
    Atomic, Binary, Cast, CollectiveScope, Compare, Element, MemoryOrder, MemoryScope, Op as KernelOp, Type, Value,
};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_plan::movement::plan_shared_access;
use tilewright_target::Direction;
use tilewright_tile::Op;

use super::super::error::{LowerErrorReason, Lowered};
use super::super::lowered::Registers;
use super::super::lowering::Lowering;
use super::super::tensor_coordinates::idle_registers;

const WORD: Type = Type::Scalar(Element::I32);
/// The alignment of the counters in bytes; loads of up to this size read several counters.
const ALIGNMENT: u32 = 16;

/// Lowers `tt.histogram`: for each index of the result, counts the unmasked source elements with that value. Source
/// elements whose value is not an index of the result are not counted.
pub(in super::super) fn histogram(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let source = lowering.operand(op, 0)?;
    let mask = lowering.optional(op, "mask");
    let bins = lowering.body.value_type(lowering.result(op, 0)?).shape().and_then(|shape| shape.first().copied());
    let bins = bins.ok_or_else(|| LowerErrorReason::malformed("the result has no axis"))? as u32;
    let tensor = lowering.tensor(source)?;
    // Each block of a cluster counts all elements, in its own shared memory.
    let tensor = lowering.replicate_in_blocks(&tensor, |_| true)?;
    let masks = mask.map(|mask| lowering.registers_in(mask, &tensor.layout)).transpose()?;
    let required = lowering.result_layout(op)?;
    let layout = Arc::new(replicate_axes_in_blocks(&required, |_| true)?.unwrap_or_else(|| (*required).clone()));
    let memory = MemoryLayout::from_linear(LinearLayout::identity(u64::from(bins), Dim::OFFSET, Dim::tensor(0))?);
    let context = lowering.config.context;
    let plan_access = |direction| plan_shared_access(&layout, &memory, WORD.bits(), direction, context);
    let counters = lowering.builder.shared_buffer(4 * bins, ALIGNMENT);
    let zeros = vec![lowering.builder.i32(0); 1 << layout.in_bits(Dim::REGISTER)];
    plan_access(Direction::Store)?.emit_store(&mut lowering.builder, counters, &zeros);
    lowering.builder.barrier(CollectiveScope::Block);
    count_elements(lowering, &tensor, masks.as_deref(), counters, bins);
    lowering.builder.barrier(CollectiveScope::Block);
    let ty = lowering.carrier(lowering.result(op, 0)?)?;
    let builder = &mut lowering.builder;
    let counts = plan_access(Direction::Load)?.emit_load(builder, counters);
    let cast = if ty.bits() < 32 { Cast::Truncate } else { Cast::ExtendU };
    let values: Vec<Value> = counts.into_iter().map(|count| builder.cast(cast, count, ty)).collect();
    let values = lowering.convert(&Registers::new(layout, values), &required)?;
    lowering.give_tensor(op, required, values.to_vec())
}

/// Emits the atomic additions to the counters: one for each element of `tensor` that is an index of the result and that
/// `masks` does not exclude.
fn count_elements(
    lowering: &mut Lowering<'_>,
    tensor: &Registers,
    masks: Option<&[Value]>,
    counters: Value,
    bins: u32,
) {
    let of_block = tensor.layout.remove_zero_bases(Dim::BLOCK);
    let active = lowering.active(&of_block);
    let idle = idle_registers(&tensor.layout) as usize;
    let one = lowering.builder.i32(1);
    for (register, &value) in tensor.values.iter().enumerate().filter(|(register, _)| register & idle == 0) {
        let builder = &mut lowering.builder;
        let ty = builder.type_of(value);
        let limit = builder.constant(ty, u64::from(bins).min(u64::MAX >> (64 - ty.bits())));
        let below = if ty.bits() >= 32 || bins >> ty.bits() == 0 {
            Some(builder.compare(Compare::LtU, value, limit))
        } else {
            None
        };
        let number = builder.cast(if ty.bits() < 32 { Cast::ExtendU } else { Cast::Truncate }, value, WORD);
        let mut predicate = active;
        for more in below.into_iter().chain(masks.map(|masks| masks[register])) {
            predicate = super::super::memory::both(builder, predicate, Some(more));
        }
        // A branch in place of a predicate, because the address is then part of it.
        builder.if_then(predicate, |builder| {
            let bytes = builder.binary_const(Binary::Shl, number, 2);
            let pointer = builder.ptr_add(counters, bytes);
            let (op, order, scope) = (Atomic::Add, MemoryOrder::Relaxed, MemoryScope::Block);
            builder.value(WORD, KernelOp::AtomicRmw { op, pointer, value: one, predicate: None, order, scope });
        });
    }
}
