//! Tensor descriptors: blocks of a tensor in global memory, whose places beyond its sizes are left out.
//!
//! Every target does them by plain accesses: a pointer and a mask for each element.

use std::sync::Arc;

use crate::kernel::{
    Atomic, Binary, Builder, Cast, Compare, Element, MemoryOrder, MemoryScope, Op as KernelOp, Type, Value,
};
use crate::layout::{Dim, LinearLayout};
use crate::tile::{self, Op};

use super::error::{Lowered, Reason};
use super::held::{Described, Held, Registers};
use super::lowering::Lowering;
use super::memory::{both, combines, from_memory, to_memory};
use super::places::idle_registers;
use super::scalar::number;
use super::types::{carrier, stored};

const TRUTH: Type = Type::Scalar(Element::I1);
const WIDE: Type = Type::Scalar(Element::I64);

pub(super) fn made(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let body = lowering.body;
    let operation = body.op(op);
    let pointer = lowering.scalar(lowering.operand(op, 0)?)?;
    let of = |lowering: &Lowering<'_>, group: usize| -> Lowered<Vec<Value>> {
        operation.operand_group(group).iter().map(|&value| lowering.scalar(value)).collect()
    };
    let (sizes, strides) = (of(lowering, 1)?, of(lowering, 2)?);
    let strides: Vec<Value> =
        strides.into_iter().map(|stride| lowering.builder.cast(Cast::ExtendS, stride, WIDE)).collect();
    let pads_with_nan = lowering.word(op, "padding") == Some("nan");
    lowering
        .give(op, Held::Descriptor(Described { pointer, sizes: sizes.into(), strides: strides.into(), pads_with_nan }))
}

fn described(lowering: &Lowering<'_>, op: Op) -> Lowered<Described> {
    match lowering.held(lowering.operand(op, 0)?)? {
        Held::Descriptor(of) => Ok(of.clone()),
        _ => Err(Reason::malformed("a tensor descriptor is expected")),
    }
}

/// The scalars of a group of operands.
fn scalars(lowering: &Lowering<'_>, op: Op, group: &str) -> Lowered<Vec<Value>> {
    let operation = lowering.body.op(op);
    let group = operation.definition.operand_group(group).ok_or_else(|| Reason::malformed("a group is missing"))?;
    operation.operand_group(group).iter().map(|&value| lowering.scalar(value)).collect()
}

/// Where each register's element is in global memory, and whether it is in the tensor.
struct Places {
    pointers: Vec<Value>,
    inside: Vec<Value>,
}

/// The places of a block that begins at `first` along each axis of the tensor; the block's axes are the tensor's last ones.
fn block_places(
    lowering: &mut Lowering<'_>,
    of: &Described,
    (layout, element): (&LinearLayout, &tile::Type),
    first: &[Value],
) -> Lowered<Places> {
    let rank = of.sizes.len();
    let own = layout.outs().len();
    let mut along: Vec<Vec<Value>> = Vec::with_capacity(rank);
    for axis in 0..rank {
        let start = first.get(axis).copied().ok_or_else(|| Reason::malformed("an index is missing"))?;
        // A block of fewer axes is one element thick along the first ones.
        let values = match (axis + own).checked_sub(rank) {
            Some(axis) => {
                let places = lowering.coordinate(layout, axis);
                places.into_iter().map(|place| lowering.builder.binary(Binary::Add, start, place)).collect()
            }
            None => vec![start; 1 << layout.in_bits(Dim::REGISTER)],
        };
        along.push(values);
    }
    places(lowering, of, element, &along)
}

/// The places of elements by their indices along each axis.
fn places(lowering: &mut Lowering<'_>, of: &Described, element: &tile::Type, along: &[Vec<Value>]) -> Lowered<Places> {
    let bytes = u64::from(stored(carrier(element)?).bits() / 8);
    let builder = &mut lowering.builder;
    let registers = along.first().map_or(1, Vec::len);
    let (mut pointers, mut inside) = (Vec::with_capacity(registers), Vec::with_capacity(registers));
    let bytes = builder.constant(WIDE, bytes);
    let strides: Vec<Value> = of.strides.iter().map(|&stride| builder.binary(Binary::Mul, stride, bytes)).collect();
    for register in 0..registers {
        let (mut offset, mut there): (Option<Value>, Option<Value>) = (None, None);
        for (axis, values) in along.iter().enumerate() {
            let index = values[register];
            // What is negative is beyond every size too.
            let below = builder.compare(Compare::LtU, index, of.sizes[axis]);
            there = both(builder, there, Some(below));
            let index = builder.cast(Cast::ExtendS, index, WIDE);
            let step = builder.binary(Binary::Mul, index, strides[axis]);
            offset = Some(offset.map_or(step, |sum| builder.binary(Binary::Add, sum, step)));
        }
        let pointer = offset.map_or(of.pointer, |offset| builder.advance(of.pointer, offset));
        pointers.push(pointer);
        inside.push(there.unwrap_or_else(|| builder.constant(TRUTH, 1)));
    }
    Ok(Places { pointers, inside })
}

pub(super) fn load(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = described(lowering, op)?;
    let first = scalars(lowering, op, "indices")?;
    let (layout, element) = result_of(lowering, op)?;
    let places = block_places(lowering, &of, (&layout, &element), &first)?;
    loaded(lowering, op, &of, (layout, &element), &places)
}

pub(super) fn gather(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = described(lowering, op)?;
    let (layout, element) = result_of(lowering, op)?;
    let along = rows(lowering, op, &layout)?;
    let places = places(lowering, &of, &element, &along)?;
    loaded(lowering, op, &of, (layout, &element), &places)
}

fn result_of(lowering: &mut Lowering<'_>, op: Op) -> Lowered<(Arc<LinearLayout>, tile::Type)> {
    let element = lowering.body.ty(lowering.result(op, 0)?).element().clone();
    Ok((lowering.result_layout(op)?, element))
}

/// The indices of rows that a tensor names, and of columns from a first one on.
fn rows(lowering: &mut Lowering<'_>, op: Op, layout: &LinearLayout) -> Lowered<Vec<Vec<Value>>> {
    let offsets = lowering.optional(op, "x_offsets").ok_or_else(|| Reason::malformed("rows are missing"))?;
    let first = scalars(lowering, op, "y_offset")?;
    let first = first.first().copied().ok_or_else(|| Reason::malformed("the first column is missing"))?;
    let rows = 1u64 << layout.out_bits(Dim::tensor(0));
    let of_rows = Arc::new(super::places::mapped(layout, &[rows], |place| vec![place[0]])?);
    let tensor = lowering.tensor(offsets)?;
    let numbers = lowering.convert(&tensor, &of_rows)?;
    let word = Type::Scalar(Element::I32);
    let numbers = numbers.iter().map(|&number| {
        let cast = if lowering.builder.type_of(number).bits() < 32 { Cast::ExtendS } else { Cast::Truncate };
        lowering.builder.cast(cast, number, word)
    });
    let numbers: Vec<Value> = numbers.collect();
    let columns = lowering.coordinate(layout, 1);
    let columns = columns.into_iter().map(|column| lowering.builder.binary(Binary::Add, first, column)).collect();
    Ok(vec![numbers, columns])
}

/// Loads each element that is in the tensor; others are what the descriptor pads with.
fn loaded(
    lowering: &mut Lowering<'_>,
    op: Op,
    of: &Described,
    (layout, element): (Arc<LinearLayout>, &tile::Type),
    places: &Places,
) -> Lowered<()> {
    let ty = carrier(element)?;
    let nan = match element {
        tile::Type::Float(float) if of.pads_with_nan => float.nan(),
        _ => None,
    };
    let mut values = Vec::with_capacity(places.pointers.len());
    for (&pointer, &inside) in places.pointers.iter().zip(&places.inside) {
        let builder = &mut lowering.builder;
        let word = builder.load(stored(ty), pointer, 0, Some(inside));
        let value = from_memory(builder, word, ty);
        values.push(match nan {
            Some(nan) => {
                let nan = number(builder, ty, nan);
                builder.select(inside, value, nan)
            }
            None => value,
        });
    }
    lowering.give_tensor(op, layout, values)
}

pub(super) fn store(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = described(lowering, op)?;
    let first = scalars(lowering, op, "indices")?;
    let (tensor, element) = source(lowering, op)?;
    let places = block_places(lowering, &of, (&tensor.layout, &element), &first)?;
    stored_at(lowering, &tensor, &places);
    Ok(())
}

pub(super) fn scatter(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = described(lowering, op)?;
    let (tensor, element) = source(lowering, op)?;
    let along = rows(lowering, op, &tensor.layout.clone())?;
    let places = places(lowering, &of, &element, &along)?;
    stored_at(lowering, &tensor, &places);
    Ok(())
}

fn source(lowering: &Lowering<'_>, op: Op) -> Lowered<(Registers, tile::Type)> {
    let value = lowering.optional(op, "src").ok_or_else(|| Reason::malformed("the tensor is missing"))?;
    Ok((lowering.tensor(value)?, lowering.body.ty(value).element().clone()))
}

/// Stores each element once, where it is in the tensor.
fn stored_at(lowering: &mut Lowering<'_>, tensor: &Registers, places: &Places) {
    each_once(lowering, tensor, places, |builder, pointer, value, predicate| {
        let value = to_memory(builder, value);
        builder.store(pointer, 0, value, predicate);
    });
}

fn each_once(
    lowering: &mut Lowering<'_>,
    tensor: &Registers,
    places: &Places,
    mut act: impl FnMut(&mut Builder, Value, Value, Option<Value>),
) {
    let acts = lowering.acts(&tensor.layout);
    let idle = idle_registers(&tensor.layout) as usize;
    for (register, &value) in tensor.values.iter().enumerate().filter(|(register, _)| register & idle == 0) {
        let builder = &mut lowering.builder;
        let predicate = both(builder, acts, Some(places.inside[register]));
        act(builder, places.pointers[register], value, predicate);
    }
}

/// Combines each element with what memory has, by one atomic operation.
pub(super) fn reduce(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = described(lowering, op)?;
    let first = scalars(lowering, op, "indices")?;
    let (tensor, element) = source(lowering, op)?;
    let is_float = matches!(element, tile::Type::Float(_));
    let is_signed = !matches!(element, tile::Type::Integer(_, tile::Signedness::Unsigned));
    let kind = match lowering.word(op, "kind").unwrap_or_default() {
        "add" if is_float => Atomic::FAdd,
        "add" => Atomic::Add,
        "and" => Atomic::And,
        "or" => Atomic::Or,
        "xor" => Atomic::Xor,
        "min" if !is_float => {
            if is_signed {
                Atomic::MinS
            } else {
                Atomic::MinU
            }
        }
        "max" if !is_float => {
            if is_signed {
                Atomic::MaxS
            } else {
                Atomic::MaxU
            }
        }
        other => {
            return Err(Reason::unsupported(format!("no target here combines `{element}` in memory by `{other}`")));
        }
    };
    combines(kind, &element)?;
    if matches!(element, tile::Type::Integer(..32, _)) {
        return Err(Reason::unsupported(format!("no target here combines `{element}` of descriptors in memory")));
    }
    let places = block_places(lowering, &of, (&tensor.layout, &element), &first)?;
    each_once(lowering, &tensor, &places, |builder, pointer, value, predicate| {
        let ty = builder.type_of(value);
        let (order, scope) = (MemoryOrder::Relaxed, MemoryScope::Device);
        builder.value(ty, KernelOp::AtomicRmw { op: kind, pointer, value, predicate, order, scope });
    });
    Ok(())
}
