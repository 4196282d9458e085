//! Whole tensors between global memory and registers: the arguments and results of functions of tensors.

use tilewright_kernel::{Builder, Element, SpecialRegister, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{ClusterBits, GlobalPlace, LinearAddress, MovementError, Thread};

/// The integer element of a width that memory holds.
pub fn integer(bits: u32) -> Result<Element, MovementError> {
    let element = Element::integer(bits).filter(|element| element.bits() >= 8);
    element.ok_or(MovementError::ElementBits(bits))
}

/// The index of an element in row-major order (the last axis fastest), from its packed coordinate.
#[must_use]
pub fn row_major(layout: &LinearLayout, packed: u64) -> u64 {
    let mut axes: Vec<(Dim, u32, u64)> = Vec::new();
    for ((dim, bits), (_, value)) in layout.outs().iter().zip(layout.outs().unpack(packed)) {
        axes.push((dim, bits, value));
    }
    axes.sort_by_key(|&(dim, _, _)| dim);
    axes.iter().fold(0, |index, &(_, bits, value)| index << bits | value)
}

/// Reads a row-major tensor of a parameter's memory into the registers of a layout.
pub fn read_tensor(builder: &mut Builder, parameter: u32, src: &LinearLayout, element: Element) -> Vec<Value> {
    let mut place = row_major_places(builder, parameter, src, element);
    (0..1usize << src.in_bits(Dim::REGISTER))
        .map(|register| {
            let GlobalPlace { pointer, offset, predicate } = place(builder, register);
            builder.load(Type::Scalar(element), pointer, offset, predicate)
        })
        .collect()
}

/// Where each register's element lies in a row-major tensor of a parameter's memory.
pub fn row_major_places(
    builder: &mut Builder,
    parameter: u32,
    layout: &LinearLayout,
    element: Element,
) -> impl FnMut(&mut Builder, usize) -> GlobalPlace + use<> {
    let base = builder.parameter(parameter);
    row_major_places_from(builder, base, layout, element)
}

/// The same where the tensor begins at `base`.
pub fn row_major_places_from(
    builder: &mut Builder,
    base: Value,
    layout: &LinearLayout,
    element: Element,
) -> impl FnMut(&mut Builder, usize) -> GlobalPlace + use<> {
    let bytes = u64::from(element.bits() / 8);
    let columns = |dim| layout.columns_of(dim).iter().map(|&column| row_major(layout, column) * bytes);
    let threads: Vec<u64> = columns(Dim::LANE).chain(columns(Dim::WARP)).chain(columns(Dim::BLOCK)).collect();
    let thread = thread_of(builder, layout);
    let mut addresses = LinearAddress::new(builder, thread, base, &threads, bytes);
    let registers: Vec<u64> =
        layout.columns_of(Dim::REGISTER).iter().map(|&column| row_major(layout, column)).collect();
    move |builder, register| {
        let (pointer, offset) = addresses.at(builder, tilewright_layout::f2::multiply(&registers, register as u64));
        GlobalPlace { pointer, offset, predicate: None }
    }
}

/// The running thread of a layout, its block being the one along axis 0 of the grid.
fn thread_of(builder: &mut Builder, layout: &LinearLayout) -> Thread {
    let thread = Thread::new(builder, layout.in_bits(Dim::LANE));
    let (warp_bits, block_bits) = (layout.in_bits(Dim::WARP), layout.in_bits(Dim::BLOCK));
    if block_bits == 0 {
        return thread;
    }
    let block = builder.special(SpecialRegister::Program(0));
    thread.in_cluster(ClusterBits { warp_bits, block, block_bits, group: 0 })
}

/// Writes registers to a parameter's memory: for block `b`, register `r` and thread `t` of `T`, with
/// `R` registers, at index `(b * R + r) * T + t`.
pub fn write_registers(builder: &mut Builder, parameter: u32, dst: &LinearLayout, values: &[Value]) {
    let bytes = values.first().map_or(1, |&value| u64::from(builder.type_of(value).bits() / 8));
    let thread_bits = dst.in_bits(Dim::LANE) + dst.in_bits(Dim::WARP);
    let first_block_bit = thread_bits + dst.in_bits(Dim::REGISTER);
    let block_bits = first_block_bit..first_block_bit + dst.in_bits(Dim::BLOCK);
    let columns: Vec<u64> = (0..thread_bits).chain(block_bits).map(|bit| bytes << bit).collect();
    let base = builder.parameter(parameter);
    let thread = thread_of(builder, dst);
    let mut addresses = LinearAddress::new(builder, thread, base, &columns, bytes);
    for (register, &value) in values.iter().enumerate() {
        let (pointer, offset) = addresses.at(builder, (register as u64) << thread_bits);
        builder.store(pointer, offset, value, None);
    }
}
