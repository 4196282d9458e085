//! Lowers `tt.descriptor_reduce`: combines each element of a block, once, with the element of a tensor in global
//! memory.
//!
//! If the target lacks the atomic operation (extrema of floating-point numbers, elements of 8 and 16 bits), a
//! compare-and-swap loop updates the element in memory. The extremum of a number and a NaN is the number, as in PTX's
//! `min` and `max`.

use tilewright_kernel::{Atomic, Binary, Builder, Cast, MemoryOrder, MemoryScope, Op as KernelOp, Value};
use tilewright_tile::{self as tile, Op};

use super::descriptor::{alone, block_accesses, each_once, scalars, source, tensor_descriptor};
use super::error::{LowerErrorReason, Lowered};
use super::lowering::Lowering;
use super::memory::{Ordered, check_atomic_element, combined, emit_compare_and_swap_loop};
use super::scalar::in_single;
use super::types::{integer, native};

/// The operation that combines an element in memory with a new one.
#[derive(Clone, Copy)]
enum Combines {
    /// An atomic operation of the kernel IR, which the target executes.
    Atomic(Atomic),
    /// A binary operation on floating-point numbers, in a compare-and-swap loop.
    Float(Binary),
}

pub(super) fn reduce(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = tensor_descriptor(lowering, op)?;
    let first = scalars(lowering, op, "indices")?;
    let (tensor, element) = source(lowering, op)?;
    let kind = kind(lowering.keyword(op, "kind").unwrap_or_default(), &element)?;
    let accesses =
        block_accesses(lowering, &of, (&tensor.layout, &element), &first, &alone(&tensor.layout, &element)?)?;
    each_once(lowering, &tensor, &accesses, |builder, pointer, values, predicate| {
        for &value in values {
            combine(builder, kind, pointer, value, predicate);
        }
    });
    Ok(())
}

fn kind(word: &str, element: &tile::TileType) -> Lowered<Combines> {
    let is_number = matches!(element, tile::TileType::Float(float) if native(*float).is_some());
    let is_float = matches!(element, tile::TileType::Float(_));
    let is_signed = !matches!(element, tile::TileType::Integer(_, tile::Signedness::Unsigned));
    let atomic = match word {
        "min" if is_number => return Ok(Combines::Float(Binary::FMinNumber)),
        "max" if is_number => return Ok(Combines::Float(Binary::FMaxNumber)),
        "add" if is_float => Atomic::FAdd,
        "add" => Atomic::Add,
        "and" => Atomic::And,
        "or" => Atomic::Or,
        "xor" => Atomic::Xor,
        "min" if !is_float && is_signed => Atomic::MinS,
        "min" if !is_float => Atomic::MinU,
        "max" if !is_float && is_signed => Atomic::MaxS,
        "max" if !is_float => Atomic::MaxU,
        other => {
            return Err(LowerErrorReason::unsupported(format!(
                "no target combines `{element}` in memory by `{other}`"
            )));
        }
    };
    check_atomic_element(atomic, element)?;
    Ok(Combines::Atomic(atomic))
}

fn combine(builder: &mut Builder, kind: Combines, pointer: Value, value: Value, predicate: Option<Value>) {
    let (order, scope) = (MemoryOrder::Relaxed, MemoryScope::Device);
    let ty = builder.type_of(value);
    let word = integer(ty.bits());
    let next = |builder: &mut Builder, old: Value| match kind {
        Combines::Atomic(kind) => combined(builder, kind, old, value),
        Combines::Float(op) => {
            let old = builder.cast(Cast::Bits, old, ty);
            let new = in_single(builder, &[old, value], |builder, two| builder.binary(op, two[0], two[1]));
            builder.cast(Cast::Bits, new, word)
        }
    };
    match kind {
        Combines::Atomic(kind) if kind == Atomic::FAdd || ty.bits() >= 32 => {
            builder.value(ty, KernelOp::AtomicRmw { op: kind, pointer, value, predicate, order, scope });
        }
        _ => _ = emit_compare_and_swap_loop(builder, (pointer, word), predicate, Ordered { order, scope }, next),
    }
}
