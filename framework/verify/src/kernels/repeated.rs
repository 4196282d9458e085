//! Kernels that move a tensor within a block many times over, so that the movement can be timed: what one round leaves in
//! the registers is what the next begins with, whatever layout they then have.

use tilewright_kernel::{Builder, Kernel, Scope, Type, Value};
use tilewright_layout::{LinearLayout, MemoryLayout};
use tilewright_plan::movement::{Gather, MovementError, Plan, SharedAccess};

use tilewright_lower::registers::kernel_around;

use super::register_movement::gather_around;

/// A kernel that converts by `plan` so many times, as [`tilewright_lower::conversion_kernel`] does once: both layouts have as many
/// registers.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width.
pub fn repeated_conversion_kernel(
    [src, dst]: [&LinearLayout; 2],
    element_bits: u32,
    plan: &Plan,
    rounds: u32,
) -> Result<Kernel, MovementError> {
    kernel_around("convert", src, dst, &[element_bits], |builder, tensors| {
        let shared = plan.figures.shared_bytes > 0;
        vec![repeat(builder, &tensors[0], rounds, shared, |builder, values| plan.emit(builder, values))]
    })
}

/// A kernel that brings a tensor from layout `src` to layout `dst` through shared memory of a given layout so many times.
///
/// # Errors
/// [`MovementError::ElementBits`] where no element has this width.
pub fn repeated_staging_kernel(
    [src, dst]: [&LinearLayout; 2],
    element_bits: u32,
    memory: &MemoryLayout,
    [store, load]: [&SharedAccess; 2],
    rounds: u32,
) -> Result<Kernel, MovementError> {
    kernel_around("stage", src, dst, &[element_bits], |builder, tensors| {
        let bytes = memory.allocated_bytes(element_bits);
        let buffer = builder.shared_buffer(bytes as u32, 16);
        vec![repeat(builder, &tensors[0], rounds, true, |builder, values| {
            store.emit_store(builder, buffer, values);
            builder.barrier(Scope::Block);
            load.emit_load(builder, buffer)
        })]
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
    let shared = gather.figures.shared_bytes > 0;
    gather_around([layout, layout], element_bits, |builder, values, places| {
        repeat(builder, values, rounds, shared, |builder, values| gather.emit(builder, values, places))
    })
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
