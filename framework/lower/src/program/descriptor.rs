//! Tensor descriptors: blocks of a tensor in global memory, whose places beyond its sizes are left out.
//!
//! Every target does them by plain accesses. A descriptor's tensor begins at a multiple of 16 bytes, as its rows do, and its elements follow
//! each other along the last axis; so where a block begins at, and the tensor ends at, multiples of some elements along it, so many
//! are accessed at once, with one pointer and one mask.
//!
//! Source: Triton, `tl.make_tensor_descriptor`: what it asks of base, shape and strides.

use std::sync::Arc;

use tilewright_kernel::{Binary, Builder, Cast, Compare, Element, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_tile::{self as tile, Op};

use super::error::{Lowered, Reason};
use super::lowered::{Described, LoweredValue, Registers};
use super::lowering::Lowering;
use super::memory::{Groups, both, from_memory, to_memory};
use super::places::idle_registers;
use super::scalar::number;
use super::types::{carrier, stored};

const TRUTH: Type = Type::Scalar(Element::I1);
const WIDE: Type = Type::Scalar(Element::I64);

/// What the addresses of a tensor's rows are multiples of, in bytes.
const GRAIN: u64 = 16;

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
    let last_multiple = operation.operand_group(1).last().map_or(1, |&size| divisor(lowering, size));
    let (sizes, strides) = (sizes.into(), strides.into());
    let active = lowering.builder.constant(TRUTH, 1);
    lowering
        .give(op, LoweredValue::Descriptor(Described { pointer, active, sizes, strides, last_multiple, pads_with_nan }))
}

pub(super) fn described(lowering: &Lowering<'_>, op: Op) -> Lowered<Described> {
    match lowering.lowered(lowering.operand(op, 0)?)? {
        LoweredValue::Descriptor(of) => Ok(of.clone()),
        _ => Err(Reason::malformed("a tensor descriptor is expected")),
    }
}

/// The scalars of a group of operands.
pub(super) fn scalars(lowering: &Lowering<'_>, op: Op, group: &str) -> Lowered<Vec<Value>> {
    let operation = lowering.body.op(op);
    let group = operation.definition.operand_group(group).ok_or_else(|| Reason::malformed("a group is missing"))?;
    operation.operand_group(group).iter().map(|&value| lowering.scalar(value)).collect()
}

/// What a scalar is known to be a multiple of.
pub(super) fn divisor(lowering: &Lowering<'_>, value: tile::Value) -> u64 {
    lowering.facts.get(value).and_then(|fact| fact.axes.first()).map_or(1, |along| along.divisibility)
}

/// Registers that one access serves: where the element of the first is in global memory, and whether all of them are in the tensor.
pub(super) struct Part {
    registers: Vec<usize>,
    pointer: Value,
    inside: Value,
}

/// The registers that one access serves each, of a block that begins along the last axis at the last operand of a group.
fn groups(
    lowering: &Lowering<'_>,
    op: Op,
    of: &Described,
    (layout, element, first): (&LinearLayout, &tile::TileType, &str),
) -> Lowered<Groups> {
    let element = stored(carrier(element)?);
    let operation = lowering.body.op(op);
    let first = operation.definition.operand_group(first).and_then(|group| operation.operand_group(group).last());
    let begins = first.map_or(1, |&first| divisor(lowering, first));
    let most = begins.min(of.last_multiple).min(GRAIN / u64::from(element.bits() / 8).max(1));
    let widths = &lowering.machine.context.target.global.access_bits;
    Ok(Groups::along(layout, layout.outs().len().saturating_sub(1), most, element, widths))
}

/// Each register by itself.
pub(super) fn alone(layout: &LinearLayout, element: &tile::TileType) -> Lowered<Groups> {
    Ok(Groups::along(layout, 0, 1, stored(carrier(element)?), &[]))
}

/// The places of a block that begins at `first` along each axis of the tensor; the block's axes are the tensor's last ones.
pub(super) fn block_places(
    lowering: &mut Lowering<'_>,
    of: &Described,
    (layout, element): (&LinearLayout, &tile::TileType),
    first: &[Value],
    groups: &Groups,
) -> Lowered<Vec<Part>> {
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
    places(lowering, of, element, &along, groups)
}

/// The places of elements by their indices along each axis.
fn places(
    lowering: &mut Lowering<'_>,
    of: &Described,
    element: &tile::TileType,
    along: &[Vec<Value>],
    groups: &Groups,
) -> Lowered<Vec<Part>> {
    let bytes = u64::from(stored(carrier(element)?).bits() / 8);
    let builder = &mut lowering.builder;
    let mut parts = Vec::new();
    let bytes = builder.constant(WIDE, bytes);
    let strides: Vec<Value> = of.strides.iter().map(|&stride| builder.binary(Binary::Mul, stride, bytes)).collect();
    for registers in groups.iter() {
        let (mut offset, mut there): (Option<Value>, Option<Value>) = (None, None);
        for (axis, values) in along.iter().enumerate() {
            let index = values[registers[0]];
            // What is negative is beyond every size too.
            let below = builder.compare(Compare::LtU, index, of.sizes[axis]);
            there = both(builder, there, Some(below));
            let index = builder.cast(Cast::ExtendS, index, WIDE);
            let step = builder.binary(Binary::Mul, index, strides[axis]);
            offset = Some(offset.map_or(step, |sum| builder.binary(Binary::Add, sum, step)));
        }
        let pointer = offset.map_or(of.pointer, |offset| builder.advance(of.pointer, offset));
        let inside = there.unwrap_or_else(|| builder.constant(TRUTH, 1));
        parts.push(Part { registers, pointer, inside });
    }
    Ok(parts)
}

pub(super) fn load(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = described(lowering, op)?;
    let first = scalars(lowering, op, "indices")?;
    let (layout, element) = result_of(lowering, op)?;
    let groups = groups(lowering, op, &of, (&layout, &element, "indices"))?;
    let places = block_places(lowering, &of, (&layout, &element), &first, &groups)?;
    loaded(lowering, op, &of, (layout, &element), &places)
}

pub(super) fn gather(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = described(lowering, op)?;
    let (layout, element) = result_of(lowering, op)?;
    let along = rows(lowering, op, &layout)?;
    let groups = groups(lowering, op, &of, (&layout, &element, "y_offset"))?;
    let places = places(lowering, &of, &element, &along, &groups)?;
    loaded(lowering, op, &of, (layout, &element), &places)
}

fn result_of(lowering: &mut Lowering<'_>, op: Op) -> Lowered<(Arc<LinearLayout>, tile::TileType)> {
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
    (layout, element): (Arc<LinearLayout>, &tile::TileType),
    places: &[Part],
) -> Lowered<()> {
    let ty = carrier(element)?;
    let nan = match element {
        tile::TileType::Float(float) if of.pads_with_nan => float.nan(),
        _ => None,
    };
    let mut values = vec![None; 1 << layout.in_bits(Dim::REGISTER)];
    for Part { registers, pointer, inside } in places {
        let builder = &mut lowering.builder;
        let vector = builder.load(Groups::vector(stored(ty), registers.len()), *pointer, 0, Some(*inside));
        for (place, &register) in (0u32..).zip(registers) {
            let word = builder.extract(vector, place);
            let value = from_memory(builder, word, ty);
            values[register] = Some(match nan {
                Some(nan) => {
                    let nan = number(builder, ty, nan);
                    builder.select(*inside, value, nan)
                }
                None => value,
            });
        }
    }
    let values: Option<Vec<Value>> = values.into_iter().collect();
    let values = values.ok_or_else(|| Reason::malformed("a register is in no access"))?;
    lowering.give_tensor(op, layout, values)
}

pub(super) fn store(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = described(lowering, op)?;
    let first = scalars(lowering, op, "indices")?;
    let (tensor, element) = source(lowering, op)?;
    let groups = groups(lowering, op, &of, (&tensor.layout, &element, "indices"))?;
    let places = block_places(lowering, &of, (&tensor.layout, &element), &first, &groups)?;
    stored_at(lowering, &tensor, &places);
    Ok(())
}

pub(super) fn scatter(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = described(lowering, op)?;
    let (tensor, element) = source(lowering, op)?;
    let along = rows(lowering, op, &tensor.layout.clone())?;
    let groups = groups(lowering, op, &of, (&tensor.layout, &element, "y_offset"))?;
    let places = places(lowering, &of, &element, &along, &groups)?;
    stored_at(lowering, &tensor, &places);
    Ok(())
}

pub(super) fn source(lowering: &Lowering<'_>, op: Op) -> Lowered<(Registers, tile::TileType)> {
    let value = lowering.optional(op, "src").ok_or_else(|| Reason::malformed("the tensor is missing"))?;
    Ok((lowering.tensor(value)?, lowering.body.ty(value).element().clone()))
}

/// Stores each element once, where it is in the tensor.
fn stored_at(lowering: &mut Lowering<'_>, tensor: &Registers, places: &[Part]) {
    each_once(lowering, tensor, places, |builder, pointer, values, predicate| {
        let words: Vec<Value> = values.iter().map(|&value| to_memory(builder, value)).collect();
        let vector = builder.pack(&words);
        builder.store(pointer, 0, vector, predicate);
    });
}

pub(super) fn each_once(
    lowering: &mut Lowering<'_>,
    tensor: &Registers,
    places: &[Part],
    mut act: impl FnMut(&mut Builder, Value, &[Value], Option<Value>),
) {
    let active = lowering.active(&tensor.layout);
    let idle = idle_registers(&tensor.layout) as usize;
    for Part { registers, pointer, inside } in places.iter().filter(|part| part.registers[0] & idle == 0) {
        let builder = &mut lowering.builder;
        let predicate = both(builder, active, Some(*inside));
        let values: Vec<Value> = registers.iter().map(|&register| tensor.values[register]).collect();
        act(builder, *pointer, &values, predicate);
    }
}
