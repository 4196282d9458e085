//! Blocks of a tensor in global memory that are combined with what is there, each element once.
//!
//! Where targets have no such operation (extrema of floating-point numbers, elements of 8 and 16 bits), an element is exchanged until
//! nobody came between. An extremum of a number and a NaN is the number, as of PTX's `min` and `max`.

use tilewright_kernel::{Atomic, Binary, Builder, Cast, MemoryOrder, MemoryScope, Op as KernelOp, Value};
use tilewright_tile::{self as tile, Op};

use super::descriptor::{alone, block_places, described, each_once, scalars, source};
use super::error::{Lowered, Reason};
use super::lowering::Lowering;
use super::memory::{Ordered, changed, combined, combines};
use super::scalar::in_single;
use super::types::{integer, native};

/// How two elements are combined.
#[derive(Clone, Copy)]
enum Combines {
    /// By an operation of the kernel IR.
    Atomic(Atomic),
    /// Floating-point numbers, by an operation on two.
    Float(Binary),
}

pub(super) fn reduce(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = described(lowering, op)?;
    let first = scalars(lowering, op, "indices")?;
    let (tensor, element) = source(lowering, op)?;
    let kind = kind(lowering.word(op, "kind").unwrap_or_default(), &element)?;
    let places = block_places(lowering, &of, (&tensor.layout, &element), &first, &alone(&tensor.layout, &element)?)?;
    each_once(lowering, &tensor, &places, |builder, pointer, values, predicate| {
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
            return Err(Reason::unsupported(format!("no target here combines `{element}` in memory by `{other}`")));
        }
    };
    combines(atomic, element)?;
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
        _ => _ = changed(builder, (pointer, word), predicate, Ordered { order, scope }, next),
    }
}
