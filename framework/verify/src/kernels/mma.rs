//! A kernel around one planned MMA: a dot of two matrices in global memory.

use tilewright_kernel::{Binary, Builder, CollectiveScope, Element, Kernel, Type, Value};
use tilewright_plan::mma::{Accumulator, GlobalKChunkAddress, MmaPlan, OperandLoad};
use tilewright_plan::movement::{GlobalTensor, MovementError, PlanContext, plan_global_access};
use tilewright_target::{Direction, ElementType, Queue};

use super::pointer_parameters::begin;
use tilewright_lower::registers::{find_memory_integer, row_major_address_emitter};

/// Builds a kernel of one block that multiplies two matrices by `plan` and writes `d = a * b`, or `d = c + a * b` if it
/// accumulates.
///
/// Parameters are pointers to global memory, aligned to 16 bytes, or to 64 for operands loaded by blocks: `a` (M x K),
/// `b` (K x N), `scale_a` (M x blocks of K) and `scale_b` (N x blocks of K) of operands with scales, `c` (M x N) if it
/// accumulates, and `d` (M x N), all row-major without gaps. Elements narrower than a byte are packed along K, the
/// first in the low bits, except that elements of six bits take a byte each; then `b` is column-major. The kernel
/// processes one chunk of K at a time, in a loop if there are several.
///
/// # Errors
/// [`MovementError`] if operands cannot be loaded, or if the target does not support a layout.
pub fn build_mma_kernel(plan: &MmaPlan, accumulates: bool, context: PlanContext<'_>) -> Result<Kernel, MovementError> {
    let [of_a, of_b] = plan.plan_operand_loads(context)?;
    let [scale_a, scale_b] = plan.plan_scale_loads(context)?;
    let operand_loads = [("a", Some(of_a)), ("b", Some(of_b)), ("scale_a", scale_a), ("scale_b", scale_b)];
    let mut parameters: Vec<&str> =
        operand_loads.iter().filter(|(_, operand_load)| operand_load.is_some()).map(|&(name, _)| name).collect();
    let inputs = parameters.len() as u32;
    parameters.extend(accumulates.then_some("c").into_iter().chain(["d"]));
    let mut builder = begin("dot", &plan.c, &parameters);
    let operand_loads = operand_loads.map(|(_, operand_load)| operand_load);
    let given = accumulates.then(|| initial(&mut builder, plan, inputs, context)).transpose()?;
    let mut accumulator = plan.emit_prologue(&mut builder, given.as_deref());
    if plan.chunk_count() == 1 {
        let full_matrix = |parameter| {
            let matrix = builder.parameter(parameter);
            GlobalKChunkAddress { base: matrix, matrix, index: None }
        };
        let matrix_chunks: Vec<GlobalKChunkAddress> = (0..inputs).map(full_matrix).collect();
        accumulator = chunk(&mut builder, plan, &operand_loads, &matrix_chunks, &accumulator);
    } else {
        let (from, to, step) = (builder.i32(0), builder.i32(plan.chunk_count() as u32), builder.i32(1));
        let types: Vec<Type> = accumulator.loop_carried_values().iter().map(|&sum| builder.type_of(sum)).collect();
        let inside = builder.begin_region(&[&[Type::Scalar(Element::I32)], types.as_slice()].concat());
        let mut matrix_chunks = Vec::with_capacity(inputs as usize);
        for (parameter, step) in (0..).zip(steps(plan)) {
            let offset = match &step {
                Step::Bytes(bytes) => builder.binary_const(Binary::Mul, inside[0], *bytes),
                Step::IterationsPerByte(iterations) => {
                    builder.binary_const(Binary::ShrU, inside[0], iterations.trailing_zeros())
                }
            };
            let matrix = builder.parameter(parameter);
            // If a scale block is longer than a chunk, the load gets the index of its byte, otherwise the index of the
            // chunk.
            let index = if matches!(step, Step::IterationsPerByte(_)) { offset } else { inside[0] };
            matrix_chunks.push(GlobalKChunkAddress {
                base: builder.ptr_add(matrix, offset),
                matrix,
                index: Some(index),
            });
        }
        let new = chunk(&mut builder, plan, &operand_loads, &matrix_chunks, &accumulator.with_values(&inside[1..]));
        if operand_loads.iter().flatten().any(OperandLoad::uses_shared) {
            // The next iteration overwrites the shared memory that this one reads.
            builder.barrier(CollectiveScope::Block);
        }
        let body = builder.end_region(new.loop_carried_values());
        let values = builder.for_loop(from, to, step, accumulator.loop_carried_values(), body);
        accumulator = accumulator.with_values(&values);
    }
    let accumulator = plan.emit_epilogue(&mut builder, accumulator);
    let (memory, bits) = result(plan);
    let access = plan_global_access(&plan.c, &memory, bits, Direction::Store, context.target)?;
    let last = parameters.len() as u32 - 1;
    let mut addresses = row_major_address_emitter(&mut builder, last, &plan.c, find_memory_integer(bits)?);
    access.emit_store(&mut builder, &accumulator, &mut addresses);
    Ok(builder.finish())
}

/// The distance in a parameter's memory from one chunk of K to the next.
enum Step {
    /// This many bytes per chunk.
    Bytes(u32),
    /// One byte for each so many chunks: the scales of an operand whose scale blocks are longer than a chunk.
    IterationsPerByte(u64),
}

/// Returns the distance between chunks of K for each parameter: operands A and B, then the scales of each operand that
/// has them.
fn steps(plan: &MmaPlan) -> Vec<Step> {
    let (problem, chunk) = (&plan.problem, plan.chunk_elements());
    let bytes = |element_type: ElementType, elements: u64| {
        Step::Bytes((elements * u64::from(element_type.stored_bits()) / 8) as u32)
    };
    let of_b = if problem.b.bits() < 8 { chunk } else { chunk * problem.shape[1] };
    let scales = problem.scales.iter().flatten().map(|scale| {
        if chunk >= scale.block {
            Step::Bytes((chunk / scale.block) as u32)
        } else {
            Step::IterationsPerByte(scale.block / chunk)
        }
    });
    [bytes(problem.a, chunk), bytes(problem.b, of_b)].into_iter().chain(scales).collect()
}

/// Emits the loads of both operands and their scales for one chunk of K, and the MMAs; returns the new accumulator.
/// `operand_loads` are the loads of `a`, `b`, `scale_a` and `scale_b`, `matrix_chunks` the addresses of the chunk for
/// the loads that exist.
fn chunk(
    builder: &mut Builder,
    plan: &MmaPlan,
    operand_loads: &[Option<OperandLoad>; 4],
    matrix_chunks: &[GlobalKChunkAddress],
    accumulator: &Accumulator,
) -> Accumulator {
    let mut matrix_chunks = matrix_chunks.iter().copied();
    let matrix_chunks =
        operand_loads.each_ref().map(|operand_load| operand_load.as_ref().and_then(|_| matrix_chunks.next()));
    let mut load = |at: usize, scales: &[Value]| match (&operand_loads[at], matrix_chunks[at]) {
        (Some(operand_load), Some(matrix_chunk)) => operand_load.emit(builder, matrix_chunk, scales),
        _ => Vec::new(),
    };
    // The scales are loaded first, since some operands are scaled before they are stored to shared memory.
    let scales = [load(2, &[]), load(3, &[])];
    let operands = [load(0, &scales[0]), load(1, &scales[1])];
    if operand_loads.iter().flatten().any(|operand_load| operand_load.store.is_some()) {
        if plan.completion_queue().is_some_and(Queue::uses_async_proxy) {
            builder.proxy_fence();
        }
        builder.barrier(CollectiveScope::Block);
    }
    plan.emit_chunk(builder, operands.each_ref().map(Vec::as_slice), scales.each_ref().map(Vec::as_slice), accumulator)
}

/// Emits the loads of the initial accumulator from a parameter's memory; returns one value for each register of its
/// layout.
fn initial(
    builder: &mut Builder,
    plan: &MmaPlan,
    parameter: u32,
    context: PlanContext<'_>,
) -> Result<Vec<Value>, MovementError> {
    let (memory, bits) = result(plan);
    let element = find_memory_integer(bits)?;
    let access = plan_global_access(&plan.c, &memory, bits, Direction::Load, context.target)?;
    let mut addresses = row_major_address_emitter(builder, parameter, &plan.c, element);
    Ok(access.emit_load(builder, &mut addresses))
}

/// Returns the description of the result, an M x N tensor in global memory, and the width of its elements in bits.
fn result(plan: &MmaPlan) -> (GlobalTensor, u32) {
    let [m, n, _] = plan.problem.shape;
    (GlobalTensor::row_major(&[m, n], 16), plan.problem.accumulator.bits())
}
