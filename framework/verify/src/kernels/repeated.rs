//! Kernels that repeat a movement within a block, so that it can be timed. Each round starts from the registers of the
//! previous round, reinterpreted in the source layout.

use tilewright_kernel::{Builder, CollectiveScope, Element, Kernel, Type, Value};
use tilewright_layout::{LinearLayout, MemoryLayout};
use tilewright_plan::movement::{ConversionPlan, GatherPlan, MovementError, SharedAccessPlan};

use tilewright_lower::registers::{emit_register_dump, emit_tensor_load, find_memory_integer};

use super::pointer_parameters::begin;

/// Builds a kernel that executes the conversion `plan` `rounds` times and otherwise is like
/// [`tilewright_lower::build_conversion_kernel`]. Both layouts have the same number of registers.
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has this width.
pub fn build_repeated_conversion_kernel(
    layouts: [&LinearLayout; 2],
    element_bits: u32,
    plan: &ConversionPlan,
    rounds: u32,
) -> Result<Kernel, MovementError> {
    kernel_around("convert", layouts, element_bits, |builder, values| {
        let shared = plan.stats.shared_bytes > 0;
        repeat(builder, values, rounds, shared, |builder, values| plan.emit(builder, values))
    })
}

/// Builds a kernel that converts a tensor from layout `src` to layout `dst` through the given shared-memory layout,
/// `rounds` times.
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has this width.
pub fn build_repeated_staging_kernel(
    layouts: [&LinearLayout; 2],
    element_bits: u32,
    memory: &MemoryLayout,
    [store, load]: [&SharedAccessPlan; 2],
    rounds: u32,
) -> Result<Kernel, MovementError> {
    kernel_around("stage", layouts, element_bits, |builder, values| {
        let bytes = memory.allocated_bytes(element_bits);
        let buffer = builder.shared_buffer(bytes as u32, 16);
        repeat(builder, values, rounds, true, |builder, values| {
            store.emit_store(builder, buffer, values);
            builder.barrier(CollectiveScope::Block);
            load.emit_load(builder, buffer)
        })
    })
}

/// Builds a kernel that executes the same gather `rounds` times, by the same indices, and otherwise is like
/// [`super::build_gather_kernel`].
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has this width.
pub fn build_repeated_gather_kernel(
    layout: &LinearLayout,
    element_bits: u32,
    gather: &GatherPlan,
    rounds: u32,
) -> Result<Kernel, MovementError> {
    let shared = gather.stats.shared_bytes > 0;
    let element = find_memory_integer(element_bits)?;
    let mut builder = begin("gather", layout, &["tensor", "indices", "registers"]);
    let values = emit_tensor_load(&mut builder, 0, layout, element);
    let gather_indices = emit_tensor_load(&mut builder, 1, layout, Element::I32);
    let left =
        repeat(&mut builder, &values, rounds, shared, |builder, values| gather.emit(builder, values, &gather_indices));
    emit_register_dump(&mut builder, 2, layout, &left);
    Ok(builder.finish())
}

/// Builds a kernel that reads a row-major tensor into the layout `src`, emits `act` on its registers, and writes the
/// resulting registers of layout `dst`, as [`tilewright_lower::build_conversion_kernel`] does.
///
/// A tile program cannot express this, since registers change their layout without a movement.
///
/// # Errors
/// [`MovementError::ElementBits`] if no element has this width.
fn kernel_around(
    name: &str,
    [src, dst]: [&LinearLayout; 2],
    element_bits: u32,
    act: impl FnOnce(&mut Builder, &[Value]) -> Vec<Value>,
) -> Result<Kernel, MovementError> {
    let element = find_memory_integer(element_bits)?;
    let mut builder = begin(name, src, &["tensor", "registers"]);
    let values = emit_tensor_load(&mut builder, 0, src, element);
    let left = act(&mut builder, &values);
    emit_register_dump(&mut builder, 1, dst, &left);
    Ok(builder.finish())
}

/// Emits a loop of rounds that passes values from each round to the next. If `shared`, rounds use shared memory, so
/// each one waits until all warps have read the data that the previous one stored.
fn repeat(
    builder: &mut Builder,
    values: &[Value],
    rounds: u32,
    shared: bool,
    act: impl FnOnce(&mut Builder, &[Value]) -> Vec<Value>,
) -> Vec<Value> {
    let [from, to, step] = [0, rounds, 1].map(|number| builder.i32(number));
    let types: Vec<Type> = [from].iter().chain(values).map(|&value| builder.type_of(value)).collect();
    let arguments = builder.begin_region(&types);
    if shared {
        builder.barrier(CollectiveScope::Block);
    }
    let left = act(builder, &arguments[1..]);
    let body = builder.end_region(&left);
    builder.for_loop(from, to, step, values, body)
}
