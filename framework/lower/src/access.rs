//! Kernels around accesses of shared and of global memory, by which their code is looked at, run and checked.

use tilewright_kernel::{Binary, Builder, Compare, Element, Kernel, Scope, SpecialRegister, Type, Value};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_plan::movement::{GlobalAccess, MovementError, SharedAccess};

use super::registers::{begin, integer, read_tensor, row_major_places, write_registers};

/// A kernel that reads a row-major tensor into the layout `registers`, stores it to shared memory by
/// `access`, and writes out what memory holds.
///
/// Parameters are pointers to global memory: the tensor; for each linear offset of the memory the
/// physical offset in bytes, as `i32`; what is found there, one element for each linear offset.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width.
pub fn store_kernel(
    name: &str,
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    access: &SharedAccess,
) -> Result<Kernel, MovementError> {
    let element = integer(element_bits)?;
    let mut builder = begin(name, registers, &["tensor", "places", "found"]);
    let values = read_tensor(&mut builder, 0, registers, element);
    let buffer = allocate(&mut builder, memory, element);
    access.emit_store(&mut builder, buffer, &values);
    builder.barrier(Scope::Block);
    each_offset(&mut builder, registers, memory, |builder, index, active| {
        let place = at(builder, buffer, 1, index, active);
        let value = builder.load(Type::Scalar(element), place, 0, active);
        let out = element_of(builder, 2, index, element);
        builder.store(out, 0, value, active);
    });
    Ok(builder.finish())
}

/// A kernel that fills shared memory, loads it by `access`, and writes the registers out as
/// [`super::conversion_kernel`] does.
///
/// Parameters are pointers to global memory: the elements by linear offset; for each linear offset
/// the physical offset in bytes, as `i32`; the registers.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width.
pub fn load_kernel(
    name: &str,
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    access: &SharedAccess,
) -> Result<Kernel, MovementError> {
    let element = integer(element_bits)?;
    let mut builder = begin(name, registers, &["elements", "places", "registers"]);
    let buffer = allocate(&mut builder, memory, element);
    each_offset(&mut builder, registers, memory, |builder, index, active| {
        let place = at(builder, buffer, 1, index, active);
        let from = element_of(builder, 0, index, element);
        let value = builder.load(Type::Scalar(element), from, 0, active);
        builder.store(place, 0, value, active);
    });
    builder.barrier(Scope::Block);
    let loaded = access.emit_load(&mut builder, buffer);
    write_registers(&mut builder, 2, registers, element, &loaded);
    Ok(builder.finish())
}

fn allocate(builder: &mut Builder, memory: &MemoryLayout, element: Element) -> Value {
    let bytes = memory.allocated_bytes(element.bits());
    builder.shared_buffer(bytes as u32, 16)
}

/// Does something for each linear offset, by the threads of the block in turn.
pub(super) fn each_offset(
    builder: &mut Builder,
    registers: &LinearLayout,
    memory: &MemoryLayout,
    mut act: impl FnMut(&mut Builder, Value, Option<Value>),
) {
    let lane_bits = registers.in_bits(Dim::LANE);
    let threads = 1u64 << (lane_bits + registers.in_bits(Dim::WARP));
    let offsets = 1u64 << memory.linear.in_bits(Dim::OFFSET);
    let lane = builder.special(SpecialRegister::Lane);
    let warp = builder.special(SpecialRegister::Warp);
    let first = builder.binary_const(Binary::Shl, warp, lane_bits);
    let thread = builder.binary(Binary::Or, first, lane);
    let active = (offsets < threads).then(|| {
        let limit = builder.i32(offsets as u32);
        builder.compare(Compare::LtU, thread, limit)
    });
    for turn in 0..offsets.div_ceil(threads) {
        let index = builder.binary_const(Binary::Add, thread, (turn * threads) as u32);
        act(builder, index, active);
    }
}

/// The shared address whose offset a table in global memory gives.
fn at(builder: &mut Builder, buffer: Value, table: u32, index: Value, active: Option<Value>) -> Value {
    let entry = element_of(builder, table, index, Element::I32);
    let offset = builder.load(Type::Scalar(Element::I32), entry, 0, active);
    builder.advance(buffer, offset)
}

fn element_of(builder: &mut Builder, parameter: u32, index: Value, element: Element) -> Value {
    let bytes = builder.binary_const(Binary::Mul, index, element.bits() / 8);
    let base = builder.parameter(parameter);
    builder.advance(base, bytes)
}

/// A kernel that copies a tensor between two buffers of global memory, row-major, through registers:
/// loaded by one access, stored by the other.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width.
pub fn copy_kernel(
    name: &str,
    registers: &LinearLayout,
    element_bits: u32,
    load: &GlobalAccess,
    store: &GlobalAccess,
) -> Result<Kernel, MovementError> {
    let element = integer(element_bits)?;
    let mut builder = begin(name, registers, &["tensor", "copy"]);
    let mut from = row_major_places(&mut builder, 0, registers, element);
    let values = load.emit_load(&mut builder, &mut from);
    let mut to = row_major_places(&mut builder, 1, registers, element);
    store.emit_store(&mut builder, &values, &mut to);
    Ok(builder.finish())
}
