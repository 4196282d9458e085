//! Lowers `tt.histogram`, by atomic counters in shared memory.

use tilewright_kernel::{
    Atomic, Binary, Cast, Compare, Element, MemoryOrder, MemoryScope, Op as KernelOp, Scope, Type, Value,
};
use tilewright_layout::Dim;
use tilewright_tile::Op;

use super::super::error::{LowerErrorReason, Lowered};
use super::super::lowering::Lowering;
use super::super::tensor_coordinates::idle_registers;

const WORD: Type = Type::Scalar(Element::I32);

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
    let counters = lowering.builder.shared_buffer(4 * bins, 4);
    cleared(lowering, counters, bins);
    lowering.builder.barrier(Scope::Block);
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
        for more in below.into_iter().chain(masks.as_ref().map(|masks| masks[register])) {
            predicate = super::super::memory::both(builder, predicate, Some(more));
        }
        let bytes = builder.binary_const(Binary::Shl, number, 2);
        let pointer = builder.ptr_add(counters, bytes);
        let (order, scope) = (MemoryOrder::Relaxed, MemoryScope::Block);
        builder.value(WORD, KernelOp::AtomicRmw { op: Atomic::Add, pointer, value: one, predicate, order, scope });
    }
    lowering.builder.barrier(Scope::Block);
    let layout = lowering.result_layout(op)?;
    let ty = lowering.carrier(lowering.result(op, 0)?)?;
    let bin_indices = lowering.coordinate(&layout, 0);
    let values = bin_indices
        .into_iter()
        .map(|bin_index| {
            let builder = &mut lowering.builder;
            let bytes = builder.binary_const(Binary::Shl, bin_index, 2);
            let pointer = builder.ptr_add(counters, bytes);
            let count = builder.load(WORD, pointer, 0, None);
            builder.cast(if ty.bits() < 32 { Cast::Truncate } else { Cast::ExtendU }, count, ty)
        })
        .collect();
    lowering.give_tensor(op, layout, values)
}

/// Emits the stores that set all counters to zero; each thread sets some of them.
fn cleared(lowering: &mut Lowering<'_>, counters: Value, bins: u32) {
    let threads = lowering.launch.lanes * lowering.launch.warps;
    let columns: Vec<u64> = (0..threads.trailing_zeros()).map(|bit| 1u64 << bit).collect();
    let thread = lowering.thread();
    let builder = &mut lowering.builder;
    let thread_offset = thread.emit_f2_product(builder, &columns);
    let zero = builder.i32(0);
    for first in (0..bins).step_by(threads as usize) {
        let number = builder.binary_const(Binary::Add, thread_offset, first);
        let limit = builder.i32(bins);
        let predicate = (first + threads > bins).then(|| builder.compare(Compare::LtU, number, limit));
        let bytes = builder.binary_const(Binary::Shl, number, 2);
        let pointer = builder.ptr_add(counters, bytes);
        builder.store(pointer, 0, zero, predicate);
    }
}
