//! Moves whole tensors between global memory and registers: the arguments and results of tensor functions.

use tilewright_kernel::{Builder, Element, SpecialRegister, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{
    ClusterBlockBits, LinearAddressEmitter, MovementError, PredicatedGlobalAddress, ThreadIndices,
};

/// Returns the integer element of this width in bits; an error if memory supports none (it supports 8 bits or more).
pub fn find_memory_integer(bits: u32) -> Result<Element, MovementError> {
    let element = Element::integer_of_width(bits).filter(|element| element.bits() >= 8);
    element.ok_or(MovementError::ElementBits(bits))
}

/// Returns the row-major index (last axis fastest) of an element of a tensor; `packed` is its packed coordinate in
/// `layout`.
#[must_use]
pub fn row_major_index(layout: &LinearLayout, packed: u64) -> u64 {
    let mut axes: Vec<(Dim, u32, u64)> = Vec::new();
    for ((dim, bits), (_, value)) in layout.outs().iter().zip(layout.outs().unpack(packed)) {
        axes.push((dim, bits, value));
    }
    axes.sort_by_key(|&(dim, _, _)| dim);
    axes.iter().fold(0, |index, &(_, bits, value)| index << bits | value)
}

/// Emits the loads of a row-major tensor, which the pointer parameter `parameter` addresses, to the registers of the
/// layout `src`.
pub fn emit_tensor_load(builder: &mut Builder, parameter: u32, src: &LinearLayout, element: Element) -> Vec<Value> {
    let mut emit_address = row_major_address_emitter(builder, parameter, src, element);
    (0..1usize << src.in_bits(Dim::REGISTER))
        .map(|register| {
            let PredicatedGlobalAddress { pointer, offset, predicate } = emit_address(builder, register);
            builder.load(Type::Scalar(element), pointer, offset, predicate)
        })
        .collect()
}

/// Returns a function that emits the address of a register's element in a row-major tensor, which the pointer parameter
/// `parameter` addresses.
pub fn row_major_address_emitter(
    builder: &mut Builder,
    parameter: u32,
    layout: &LinearLayout,
    element: Element,
) -> impl FnMut(&mut Builder, usize) -> PredicatedGlobalAddress + use<> {
    let base = builder.parameter(parameter);
    row_major_address_emitter_from(builder, base, layout, element)
}

/// Returns a function that emits the address of a register's element in a row-major tensor at the address `base`.
pub fn row_major_address_emitter_from(
    builder: &mut Builder,
    base: Value,
    layout: &LinearLayout,
    element: Element,
) -> impl FnMut(&mut Builder, usize) -> PredicatedGlobalAddress + use<> {
    let bytes = u64::from(element.bits() / 8);
    let columns = |dim| layout.columns_of(dim).iter().map(|&column| row_major_index(layout, column) * bytes);
    let threads: Vec<u64> = columns(Dim::LANE).chain(columns(Dim::WARP)).chain(columns(Dim::BLOCK)).collect();
    let thread = thread_of(builder, layout);
    let mut addresses = LinearAddressEmitter::new(builder, thread, base, &threads, bytes);
    let registers: Vec<u64> =
        layout.columns_of(Dim::REGISTER).iter().map(|&column| row_major_index(layout, column)).collect();
    move |builder, register| {
        let (pointer, offset) =
            addresses.emit_offset(builder, tilewright_layout::f2::multiply_vector(&registers, register as u64));
        PredicatedGlobalAddress { pointer, offset, predicate: None }
    }
}

/// Emits the index of the current thread in the inputs of a layout: lane, warp and block. The block is the program id
/// along axis 0.
fn thread_of(builder: &mut Builder, layout: &LinearLayout) -> ThreadIndices {
    let thread = ThreadIndices::new(builder, layout.in_bits(Dim::LANE));
    let (warp_bits, block_bits) = (layout.in_bits(Dim::WARP), layout.in_bits(Dim::BLOCK));
    if block_bits == 0 {
        return thread;
    }
    let block = builder.special(SpecialRegister::Program(0));
    thread.in_cluster(ClusterBlockBits { warp_bits, block, block_bits, group: 0 })
}

/// Emits the stores of a result's registers to the memory that the pointer parameter `parameter` addresses. Register
/// `r` of thread `t` in block `b` is stored at index `(b * R + r) * T + t`, for `R` registers and `T` threads of a
/// block.
pub fn emit_register_dump(builder: &mut Builder, parameter: u32, dst: &LinearLayout, values: &[Value]) {
    let bytes = values.first().map_or(1, |&value| u64::from(builder.type_of(value).bits() / 8));
    let thread_bits = dst.in_bits(Dim::LANE) + dst.in_bits(Dim::WARP);
    let first_block_bit = thread_bits + dst.in_bits(Dim::REGISTER);
    let block_bits = first_block_bit..first_block_bit + dst.in_bits(Dim::BLOCK);
    let columns: Vec<u64> = (0..thread_bits).chain(block_bits).map(|bit| bytes << bit).collect();
    let base = builder.parameter(parameter);
    let thread = thread_of(builder, dst);
    let mut addresses = LinearAddressEmitter::new(builder, thread, base, &columns, bytes);
    for (register, &value) in values.iter().enumerate() {
        let (pointer, offset) = addresses.emit_offset(builder, (register as u64) << thread_bits);
        builder.store(pointer, offset, value, None);
    }
}
