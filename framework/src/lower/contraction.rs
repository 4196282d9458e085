//! A kernel around one contraction: a dot of two matrices in global memory.

use crate::contract::{Contraction, Feed};
use crate::kernel::{Binary, Builder, Element, Kernel, Scope, Type, Value};
use crate::movement::{GlobalTensor, Means, MovementError, access_global};
use crate::target::{Direction, Number};

use super::registers::{begin, integer, row_major_places};

/// A kernel of one block that multiplies two matrices by `plan` and writes `d = a * b`, or where it accumulates
/// `d = c + a * b`.
///
/// Parameters are pointers to global memory, at multiples of 16 bytes: `a` (M x K), `b` (K x N), where it
/// accumulates `c` (M x N), and `d` (M x N), all row-major without gaps. K is gone through a chunk of the plan
/// at a time, in a loop where there are several.
///
/// # Errors
/// [`MovementError`]: elements that cannot be loaded, layouts that the target cannot hold.
pub fn contraction_kernel(
    name: &str,
    plan: &Contraction,
    accumulates: bool,
    means: Means<'_>,
) -> Result<Kernel, MovementError> {
    let parameters: &[&str] = if accumulates { &["a", "b", "c", "d"] } else { &["a", "b", "d"] };
    let mut builder = begin(name, &plan.c, parameters);
    let [_, n, k] = plan.question.shape;
    let feeds = plan.feeds(means)?;
    let bytes = |number: Number, elements: u64| (elements * u64::from(number.bits()) / 8) as u32;
    let steps = [bytes(plan.question.a, plan.chunk()), bytes(plan.question.b, plan.chunk() * n)];
    let mut sums = initial(&mut builder, plan, accumulates, means)?;
    if plan.chunks() == 1 {
        let bases = [builder.parameter(0), builder.parameter(1)];
        sums = chunk(&mut builder, plan, &feeds, bases, &sums);
    } else {
        let (from, to, step) = (builder.i32(0), builder.i32((k / plan.chunk()) as u32), builder.i32(1));
        let types: Vec<Type> = sums.iter().map(|&sum| builder.type_of(sum)).collect();
        let inside = builder.begin_region(&[&[Type::Scalar(Element::I32)], types.as_slice()].concat());
        let bases = [0, 1].map(|parameter: u32| {
            let offset = builder.binary_const(Binary::Mul, inside[0], steps[parameter as usize]);
            let base = builder.parameter(parameter);
            builder.advance(base, offset)
        });
        let new = chunk(&mut builder, plan, &feeds, bases, &inside[1..]);
        if feeds.iter().any(Feed::uses_shared) {
            // What this turn reads from shared memory, the next one overwrites.
            builder.barrier(Scope::Block);
        }
        let body = builder.end_region(&new);
        sums = builder.for_loop(from, to, step, &sums, body);
    }
    let (memory, bits) = result(plan);
    let access = access_global(&plan.c, &memory, bits, Direction::Store, means.target)?;
    let last = parameters.len() as u32 - 1;
    let mut places = row_major_places(&mut builder, last, &plan.c, integer(bits)?);
    access.emit_store(&mut builder, &sums, &mut places);
    Ok(builder.finish())
}

/// Loads both factors of a chunk and contracts them.
fn chunk(
    builder: &mut Builder,
    plan: &Contraction,
    feeds: &[Feed; 2],
    bases: [Value; 2],
    sums: &[Value],
) -> Vec<Value> {
    let a = feeds[0].emit(builder, bases[0]);
    let b = feeds[1].emit(builder, bases[1]);
    plan.emit(builder, &a, &b, sums)
}

/// What the sums begin with: the third parameter, or zero.
fn initial(
    builder: &mut Builder,
    plan: &Contraction,
    accumulates: bool,
    means: Means<'_>,
) -> Result<Vec<Value>, MovementError> {
    let (memory, bits) = result(plan);
    let element = integer(bits)?;
    if accumulates {
        let access = access_global(&plan.c, &memory, bits, Direction::Load, means.target)?;
        let mut places = row_major_places(builder, 2, &plan.c, element);
        return Ok(access.emit_load(builder, &mut places));
    }
    let zero = builder.constant(Type::Scalar(element), 0);
    Ok(vec![zero; 1 << plan.c.in_bits(crate::layout::Dim::REGISTER)])
}

/// The memory of the result, and the width of its elements.
fn result(plan: &Contraction) -> (GlobalTensor, u32) {
    let [m, n, _] = plan.question.shape;
    (GlobalTensor::row_major(&[m, n], 16), plan.question.accumulator.bits())
}
