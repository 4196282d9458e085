//! A kernel around one planned matrix multiplication: a dot of two matrices in global memory.

use tilewright_kernel::{Binary, Builder, Element, Kernel, Scope, Type, Value};
use tilewright_plan::contract::{Accumulator, Contraction, MatrixPart, OperandLoad};
use tilewright_plan::movement::{GlobalTensor, MovementError, PlanContext, access_global};
use tilewright_target::{Direction, ElementType, Queue};

use super::pointer_parameters::begin;
use tilewright_lower::registers::{integer, row_major_places};

/// A kernel of one block that multiplies two matrices by `plan` and writes `d = a * b`, or if it accumulates
/// `d = c + a * b`.
///
/// Parameters are pointers to global memory, at multiples of 16 bytes, of operands that are loaded by blocks of 64: `a` (M x K),
/// `b` (K x N), of operands with scales `scale_a` (M x blocks of K) and `scale_b` (N x blocks of K), if it accumulates `c`
/// (M x N), and `d` (M x N), all row-major without gaps. Elements narrower than a byte lie side by side along K in bytes, the
/// first in the low bits, those of six bits each in its own; `b` of these is column-major. The kernel takes K a chunk of the
/// plan at a time, several in a loop.
///
/// # Errors
/// [`MovementError`]: elements that cannot be loaded, layouts that the target cannot hold.
pub fn mma_kernel(plan: &Contraction, accumulates: bool, context: PlanContext<'_>) -> Result<Kernel, MovementError> {
    let [of_a, of_b] = plan.operand_loads(context)?;
    let [scale_a, scale_b] = plan.scale_loads(context)?;
    let operand_loads = [("a", Some(of_a)), ("b", Some(of_b)), ("scale_a", scale_a), ("scale_b", scale_b)];
    let mut parameters: Vec<&str> =
        operand_loads.iter().filter(|(_, operand_load)| operand_load.is_some()).map(|&(name, _)| name).collect();
    let inputs = parameters.len() as u32;
    parameters.extend(accumulates.then_some("c").into_iter().chain(["d"]));
    let mut builder = begin("dot", &plan.c, &parameters);
    let operand_loads = operand_loads.map(|(_, operand_load)| operand_load);
    let given = accumulates.then(|| initial(&mut builder, plan, inputs, context)).transpose()?;
    let mut accumulator = plan.begin(&mut builder, given.as_deref());
    if plan.chunks() == 1 {
        let whole = |parameter| {
            let matrix = builder.parameter(parameter);
            MatrixPart { base: matrix, matrix, number: None }
        };
        let parts: Vec<MatrixPart> = (0..inputs).map(whole).collect();
        accumulator = chunk(&mut builder, plan, &operand_loads, &parts, &accumulator);
    } else {
        let (from, to, step) = (builder.i32(0), builder.i32(plan.chunks() as u32), builder.i32(1));
        let types: Vec<Type> = accumulator.carried().iter().map(|&sum| builder.type_of(sum)).collect();
        let inside = builder.begin_region(&[&[Type::Scalar(Element::I32)], types.as_slice()].concat());
        let mut parts = Vec::with_capacity(inputs as usize);
        for (parameter, step) in (0..).zip(steps(plan)) {
            let offset = match &step {
                Step::Bytes(bytes) => builder.binary_const(Binary::Mul, inside[0], *bytes),
                Step::Turns(iterations) => builder.binary_const(Binary::ShrU, inside[0], iterations.trailing_zeros()),
            };
            let matrix = builder.parameter(parameter);
            // Scales of blocks longer than a chunk are parts of one each.
            let number = if matches!(step, Step::Turns(_)) { offset } else { inside[0] };
            parts.push(MatrixPart { base: builder.advance(matrix, offset), matrix, number: Some(number) });
        }
        let new = chunk(&mut builder, plan, &operand_loads, &parts, &accumulator.with(&inside[1..]));
        if operand_loads.iter().flatten().any(OperandLoad::uses_shared) {
            // What this turn reads from shared memory, the next one overwrites.
            builder.barrier(Scope::Block);
        }
        let body = builder.end_region(new.carried());
        let values = builder.for_loop(from, to, step, accumulator.carried(), body);
        accumulator = accumulator.with(&values);
    }
    let accumulator = plan.end(&mut builder, accumulator);
    let (memory, bits) = result(plan);
    let access = access_global(&plan.c, &memory, bits, Direction::Store, context.target)?;
    let last = parameters.len() as u32 - 1;
    let mut places = row_major_places(&mut builder, last, &plan.c, integer(bits)?);
    access.emit_store(&mut builder, &accumulator, &mut places);
    Ok(builder.finish())
}

/// How far a parameter moves from chunk to chunk.
enum Step {
    /// So many bytes.
    Bytes(u32),
    /// One byte in so many turns: scales of blocks longer than a chunk.
    Turns(u64),
}

/// The steps of the factors and of the scales that there are.
fn steps(plan: &Contraction) -> Vec<Step> {
    let (problem, chunk) = (&plan.problem, plan.chunk());
    let bytes =
        |number: ElementType, elements: u64| Step::Bytes((elements * u64::from(number.stored_bits()) / 8) as u32);
    let of_b = if problem.b.bits() < 8 { chunk } else { chunk * problem.shape[1] };
    let scales = problem.scales.iter().flatten().map(|scale| {
        if chunk >= scale.block { Step::Bytes((chunk / scale.block) as u32) } else { Step::Turns(scale.block / chunk) }
    });
    [bytes(problem.a, chunk), bytes(problem.b, of_b)].into_iter().chain(scales).collect()
}

/// Loads both factors of a chunk and their scales, and contracts them.
fn chunk(
    builder: &mut Builder,
    plan: &Contraction,
    operand_loads: &[Option<OperandLoad>; 4],
    parts: &[MatrixPart],
    accumulator: &Accumulator,
) -> Accumulator {
    let mut parts = parts.iter().copied();
    let parts = operand_loads.each_ref().map(|operand_load| operand_load.as_ref().and_then(|_| parts.next()));
    let mut load = |at: usize, scales: &[Value]| match (&operand_loads[at], parts[at]) {
        (Some(operand_load), Some(part)) => operand_load.emit(builder, part, scales),
        _ => Vec::new(),
    };
    // What is scaled before it is stored needs its scales first.
    let scales = [load(2, &[]), load(3, &[])];
    let factors = [load(0, &scales[0]), load(1, &scales[1])];
    if operand_loads.iter().flatten().any(|operand_load| operand_load.store.is_some()) {
        if plan.queue().is_some_and(Queue::reads_by_proxy) {
            builder.proxy_fence();
        }
        builder.barrier(Scope::Block);
    }
    plan.emit(builder, factors.each_ref().map(Vec::as_slice), scales.each_ref().map(Vec::as_slice), accumulator)
}

/// What the sums begin with, from a parameter.
fn initial(
    builder: &mut Builder,
    plan: &Contraction,
    parameter: u32,
    context: PlanContext<'_>,
) -> Result<Vec<Value>, MovementError> {
    let (memory, bits) = result(plan);
    let element = integer(bits)?;
    let access = access_global(&plan.c, &memory, bits, Direction::Load, context.target)?;
    let mut places = row_major_places(builder, parameter, &plan.c, element);
    Ok(access.emit_load(builder, &mut places))
}

/// The memory of the result, and the width of its elements.
fn result(plan: &Contraction) -> (GlobalTensor, u32) {
    let [m, n, _] = plan.problem.shape;
    (GlobalTensor::row_major(&[m, n], 16), plan.problem.accumulator.bits())
}
