//! Kernels that move a tensor within a block many times over, so that the movement can be timed: what one round leaves in
//! the registers is what the next begins with, whatever layout they then have.

use tilewright_kernel::{Builder, Element, Kernel, Scope, Type, Value};
use tilewright_layout::{LinearLayout, MemoryLayout};
use tilewright_plan::movement::{Gather, MovementError, Plan, SharedAccess};

use tilewright_lower::registers::{integer, read_tensor, write_registers};

use super::pointer_parameters::begin;

/// A kernel that converts by `plan` so many times, as [`tilewright_lower::conversion_kernel`] does once: both layouts have as many
/// registers.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width.
pub fn repeated_conversion_kernel(
    layouts: [&LinearLayout; 2],
    element_bits: u32,
    plan: &Plan,
    rounds: u32,
) -> Result<Kernel, MovementError> {
    kernel_around("convert", layouts, element_bits, |builder, values| {
        let shared = plan.stats.shared_bytes > 0;
        repeat(builder, values, rounds, shared, |builder, values| plan.emit(builder, values))
    })
}

/// A kernel that brings a tensor from layout `src` to layout `dst` through shared memory of a given layout so many times.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width.
pub fn repeated_staging_kernel(
    layouts: [&LinearLayout; 2],
    element_bits: u32,
    memory: &MemoryLayout,
    [store, load]: [&SharedAccess; 2],
    rounds: u32,
) -> Result<Kernel, MovementError> {
    kernel_around("stage", layouts, element_bits, |builder, values| {
        let bytes = memory.allocated_bytes(element_bits);
        let buffer = builder.shared_buffer(bytes as u32, 16);
        repeat(builder, values, rounds, true, |builder, values| {
            store.emit_store(builder, buffer, values);
            builder.barrier(Scope::Block);
            load.emit_load(builder, buffer)
        })
    })
}

/// A kernel that gathers by the same indices so many times, as [`super::gather_kernel`] does once.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width.
pub fn repeated_gather_kernel(
    layout: &LinearLayout,
    element_bits: u32,
    gather: &Gather,
    rounds: u32,
) -> Result<Kernel, MovementError> {
    let shared = gather.stats.shared_bytes > 0;
    let element = integer(element_bits)?;
    let mut builder = begin("gather", layout, &["tensor", "indices", "registers"]);
    let values = read_tensor(&mut builder, 0, layout, element);
    let places = read_tensor(&mut builder, 1, layout, Element::I32);
    let left = repeat(&mut builder, &values, rounds, shared, |builder, values| gather.emit(builder, values, &places));
    write_registers(&mut builder, 2, layout, &left);
    Ok(builder.finish())
}

/// A kernel that reads a row-major tensor into the layout `src` and writes the registers of layout `dst` that `act` makes of its
/// registers, as [`tilewright_lower::conversion_kernel`] does.
///
/// No tile program says this: its registers change their layout without being moved.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width.
fn kernel_around(
    name: &str,
    [src, dst]: [&LinearLayout; 2],
    element_bits: u32,
    act: impl FnOnce(&mut Builder, &[Value]) -> Vec<Value>,
) -> Result<Kernel, MovementError> {
    let element = integer(element_bits)?;
    let mut builder = begin(name, src, &["tensor", "registers"]);
    let values = read_tensor(&mut builder, 0, src, element);
    let left = act(&mut builder, &values);
    write_registers(&mut builder, 1, dst, &left);
    Ok(builder.finish())
}

/// A loop whose rounds each begin with what the last left. Where shared memory is used, a round waits until all warps have
/// read what the last one stored.
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
        builder.barrier(Scope::Block);
    }
    let left = act(builder, &arguments[1..]);
    let body = builder.end_region(&left);
    builder.for_loop(from, to, step, values, body)
}
