//! A kernel around one conversion, by which its code is looked at, run and checked.

use crate::kernel::{Binary, Builder, Element, Kernel, Launch, Space, SpecialRegister, Type, Value};
use crate::layout::{Dim, LinearLayout};
use crate::movement::{LinearAddress, MovementError, Plan, Thread};

/// A kernel that reads a tensor into the layout `src`, converts it by `plan`, and writes the
/// registers out.
///
/// Parameters are two pointers to global memory. The first holds the tensor, row-major (the last
/// axis fastest). The second receives, for block `b`, register `r` and thread `t` of a block of `T`
/// threads with `R` destination registers, the element at index `(b * R + r) * T + t`, so that every
/// position of the destination layout is seen, replicas too. Threads are numbered lanes first.
/// Blocks of a cluster are programs along axis 0.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width.
pub fn conversion_kernel(
    name: &str,
    src: &LinearLayout,
    dst: &LinearLayout,
    element_bits: u32,
    plan: &Plan,
) -> Result<Kernel, MovementError> {
    let element = Element::integer(element_bits).filter(|element| element.bits() >= 8);
    let element = element.ok_or(MovementError::ElementBits(element_bits))?;
    let pointer = Type::Pointer(Space::Global);
    let launch = Launch { lanes: 1 << src.in_bits(Dim::LANE), warps: 1 << src.in_bits(Dim::WARP) };
    let mut builder = Builder::new(name, launch, &[("tensor", pointer), ("registers", pointer)]);
    let registers = read_tensor(&mut builder, src, element);
    let converted = plan.emit(&mut builder, &registers);
    write_registers(&mut builder, dst, element, &converted);
    Ok(builder.finish())
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

fn read_tensor(builder: &mut Builder, src: &LinearLayout, element: Element) -> Vec<Value> {
    let bytes = u64::from(element.bits() / 8);
    let columns = |dim| src.columns_of(dim).iter().map(|&column| row_major(src, column) * bytes);
    let threads: Vec<u64> = columns(Dim::LANE).chain(columns(Dim::WARP)).collect();
    let thread = Thread::new(builder, src.in_bits(Dim::LANE));
    let blocks: Vec<u64> = columns(Dim::BLOCK).collect();
    let base = builder.parameter(0);
    let base = at_block(builder, base, &blocks);
    let mut addresses = LinearAddress::new(builder, thread, base, &threads, bytes);
    let registers = src.columns_of(Dim::REGISTER);
    let index = |register: u64| row_major(src, crate::f2::multiply(registers, register));
    (0..1u64 << registers.len())
        .map(|register| {
            let (pointer, offset) = addresses.at(builder, index(register));
            builder.load(Type::Scalar(element), pointer, offset, None)
        })
        .collect()
}

/// The base moved by the block's share. Blocks and threads of a layout that is no distributed one
/// may touch the same bits; the share is added, so such layouts need one block.
fn at_block(builder: &mut Builder, base: Value, columns: &[u64]) -> Value {
    if columns.iter().all(|&column| column == 0) {
        return base;
    }
    let block = builder.special(SpecialRegister::Program(0));
    let mut moved = base;
    for (bit, &column) in columns.iter().enumerate() {
        let own = builder.binary_const(Binary::ShrU, block, bit as u32);
        let own = builder.binary_const(Binary::And, own, 1);
        let bytes = builder.binary_const(Binary::Mul, own, column as u32);
        moved = builder.advance(moved, bytes);
    }
    moved
}

fn write_registers(builder: &mut Builder, dst: &LinearLayout, element: Element, values: &[Value]) {
    let bytes = u64::from(element.bits() / 8);
    let lane_bits = dst.in_bits(Dim::LANE);
    let thread_bits = lane_bits + dst.in_bits(Dim::WARP);
    let blocks: Vec<u64> =
        (0..dst.in_bits(Dim::BLOCK)).map(|bit| bytes << (bit + dst.in_bits(Dim::REGISTER) + thread_bits)).collect();
    let base = builder.parameter(1);
    let base = at_block(builder, base, &blocks);
    let thread = Thread::new(builder, lane_bits);
    let columns: Vec<u64> = (0..thread_bits).map(|bit| bytes << bit).collect();
    let mut addresses = LinearAddress::new(builder, thread, base, &columns, bytes);
    for (register, &value) in values.iter().enumerate() {
        let (pointer, offset) = addresses.at(builder, (register as u64) << thread_bits);
        builder.store(pointer, offset, value, None);
    }
}
