//! Kernels around one planned access of shared or of global memory.

use super::pointer_parameters::begin;
use tilewright_kernel::{Binary, Builder, CollectiveScope, Compare, Element, Kernel, StaticLaunchConfig, Type, Value};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_lower::registers::{
    emit_register_dump, emit_tensor_load, find_memory_integer, row_major_address_emitter,
};
use tilewright_plan::movement::{GlobalAccessPlan, MovementError, SharedAccessPlan};

use super::copy_pipeline::thread_index;

/// Builds a kernel that reads a row-major tensor into the layout `registers`, stores it to shared memory by `access`,
/// and copies shared memory to the output.
///
/// Parameters are pointers to global memory: the tensor; a table with the physical offset in bytes (`i32`) of each
/// linear offset of the memory layout; the output, one element for each linear offset.
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has this width.
pub fn build_shared_store_kernel(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    access: &SharedAccessPlan,
) -> Result<Kernel, MovementError> {
    let element = find_memory_integer(element_bits)?;
    let mut builder = begin("store", registers, &["tensor", "places", "found"]);
    let values = emit_tensor_load(&mut builder, 0, registers, element);
    let buffer = allocate(&mut builder, memory, element);
    access.emit_store(&mut builder, buffer, &values);
    builder.barrier(CollectiveScope::Block);
    let found = builder.parameter(2);
    read_out(&mut builder, buffer, found, memory, element);
    Ok(builder.finish())
}

/// Builds a kernel that fills shared memory, loads it by `access`, and writes the registers as
/// [`tilewright_lower::build_conversion_kernel`] does.
///
/// Parameters are pointers to global memory: the elements by linear offset of the memory layout; a table with the
/// physical offset in bytes (`i32`) of each linear offset; the output for the registers.
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has this width.
pub fn build_shared_load_kernel(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    access: &SharedAccessPlan,
) -> Result<Kernel, MovementError> {
    let element = find_memory_integer(element_bits)?;
    let mut builder = begin("load", registers, &["elements", "places", "registers"]);
    let buffer = allocate(&mut builder, memory, element);
    each_offset(&mut builder, memory, |builder, index, active| {
        let pointer = address(builder, buffer, index, active);
        let elements = builder.parameter(0);
        let from = element_at(builder, elements, index, element);
        let value = builder.load(Type::Scalar(element), from, 0, active);
        builder.store(pointer, 0, value, active);
    });
    builder.barrier(CollectiveScope::Block);
    let loaded = access.emit_load(&mut builder, buffer);
    emit_register_dump(&mut builder, 2, registers, &loaded);
    Ok(builder.finish())
}

/// Builds a kernel that copies a row-major tensor between two buffers of global memory through registers: loaded by one
/// access, stored by the other.
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has this width.
pub fn build_global_copy_kernel(
    registers: &LinearLayout,
    element_bits: u32,
    load: &GlobalAccessPlan,
    store: &GlobalAccessPlan,
) -> Result<Kernel, MovementError> {
    let element = find_memory_integer(element_bits)?;
    let mut builder = begin("copy", registers, &["tensor", "copy"]);
    let mut from = row_major_address_emitter(&mut builder, 0, registers, element);
    let values = load.emit_load(&mut builder, &mut from);
    let mut to = row_major_address_emitter(&mut builder, 1, registers, element);
    store.emit_store(&mut builder, &values, &mut to);
    Ok(builder.finish())
}

fn allocate(builder: &mut Builder, memory: &MemoryLayout, element: Element) -> Value {
    let bytes = memory.allocated_bytes(element.bits());
    builder.shared_buffer(bytes as u32, 16)
}

fn offsets(memory: &MemoryLayout) -> u32 {
    1 << memory.linear.in_bits(Dim::OFFSET)
}

/// Emits code that handles each linear offset of a memory layout once. The offsets are distributed over the threads of
/// the block; the iterations of a thread are unrolled. `act` emits one iteration; it gets the offset, and a predicate
/// if some threads have no offset.
fn each_offset(builder: &mut Builder, memory: &MemoryLayout, mut act: impl FnMut(&mut Builder, Value, Option<Value>)) {
    let StaticLaunchConfig { lanes, warps, .. } = builder.launch();
    let (offsets, threads) = (offsets(memory), lanes * warps);
    let thread = thread_index(builder);
    let active = (offsets < threads).then(|| {
        let limit = builder.i32(offsets);
        builder.compare(Compare::LtU, thread, limit)
    });
    for first in (0..offsets).step_by(threads as usize) {
        let index = builder.binary_const(Binary::Add, thread, first);
        act(builder, index, active);
    }
}

/// Emits a copy of the element at each linear offset of the shared buffer `buffer` to the output at `found`; parameter
/// 1 has the physical offsets. The order is reversed, so that threads read elements that other threads have stored.
pub(super) fn read_out(builder: &mut Builder, buffer: Value, found: Value, memory: &MemoryLayout, element: Element) {
    let last = offsets(memory) - 1;
    each_offset(builder, memory, |builder, index, active| {
        let index = builder.binary_const(Binary::Xor, index, last);
        let pointer = address(builder, buffer, index, active);
        let value = builder.load(Type::Scalar(element), pointer, 0, active);
        let out = element_at(builder, found, index, element);
        builder.store(out, 0, value, active);
    });
}

/// Emits the address in the shared buffer `buffer` of the element with linear offset `index`, whose physical offset in
/// bytes is the entry `index` of the memory of parameter 1; `active` is the predicate of the read of this entry.
fn address(builder: &mut Builder, buffer: Value, index: Value, active: Option<Value>) -> Value {
    let table = builder.parameter(1);
    let entry = element_at(builder, table, index, Element::I32);
    let offset = builder.load(Type::Scalar(Element::I32), entry, 0, active);
    builder.ptr_add(buffer, offset)
}

fn element_at(builder: &mut Builder, base: Value, index: Value, element: Element) -> Value {
    let bytes = builder.binary_const(Binary::Mul, index, element.bits() / 8);
    builder.ptr_add(base, bytes)
}
