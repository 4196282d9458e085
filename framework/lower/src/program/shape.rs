//! Lowers operations on shapes: views of a tensor's elements, `tt.splat` and `tt.make_range`.
//!
//! Each operation determines the operand layout with which every register of the result is a register of the operand
//! (Linear Layouts paper, appendix, Theorem 9.3); an operand in that layout needs no operation.

use std::sync::Arc;

use tilewright_kernel::{Binary, Cast, Compare, Element, Type};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_tile::{Attribute, Op};

use super::error::{LowerErrorReason, Lowered};
use super::lowered::{LoweredValue, Registers};
use super::lowering::Lowering;
use super::tensor_coordinates::{coordinates_from_row_major, map_coordinates, row_major_index, thread_columns};

pub(super) fn splat(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let value = lowering.scalar(lowering.operand(op, 0)?)?;
    let layout = lowering.result_layout(op)?;
    let registers = 1 << layout.in_bits(Dim::REGISTER);
    lowering.give_tensor(op, layout, vec![value; registers])
}

/// Lowers `tt.unsplat`: the result is the tensor's only element, which every lane holds.
pub(super) fn unsplat(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let tensor = lowering.tensor(lowering.operand(op, 0)?)?;
    let value =
        tensor.values.first().copied().ok_or_else(|| LowerErrorReason::malformed("the tensor has no element"))?;
    let result = lowering.result(op, 0)?;
    lowering.set_assumed_uniform(result, value);
    Ok(())
}

pub(super) fn range(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let start = lowering.integer_attribute(op, "start")?;
    let layout = lowering.result_layout(op)?;
    let mut values = lowering.coordinate(&layout, 0);
    if start != 0 {
        for value in &mut values {
            *value = lowering.builder.binary_const(Binary::Add, *value, start as u32);
        }
    }
    let ty = lowering.carrier(lowering.result(op, 0)?)?;
    if ty != Type::Scalar(Element::I32) {
        let cast = if ty.bits() < 32 { Cast::Truncate } else { Cast::ExtendS };
        values = values.into_iter().map(|value| lowering.builder.cast(cast, value, ty)).collect();
    }
    lowering.give_tensor(op, layout, values)
}

/// Lowers an operation that only moves elements to other coordinates. `source` maps the coordinates of a result element
/// to those of its operand element. The operand is converted to the layout with which its registers are the registers
/// of the result.
fn viewed(lowering: &mut Lowering<'_>, op: Op, source: impl Fn(&[u64]) -> Vec<u64>) -> Lowered<()> {
    let operand = lowering.operand(op, 0)?;
    let shape = shape_of(lowering, operand)?;
    let layout = lowering.result_layout(op)?;
    let required = Arc::new(map_coordinates(&layout, &shape, source)?);
    let tensor = lowering.tensor(operand)?;
    let values = lowering.convert(&tensor, &required)?;
    lowering.set_result(op, LoweredValue::Tensor(Registers::new(layout, values)))
}

fn shape_of(lowering: &Lowering<'_>, value: tilewright_tile::Value) -> Lowered<Vec<u64>> {
    let shape = lowering.body.value_type(value).shape();
    shape.map(<[u64]>::to_vec).ok_or_else(|| LowerErrorReason::malformed("a tensor is expected"))
}

pub(super) fn converted(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let by_shuffles = lowering.attribute(op, "force_warp_shuffle").is_some();
    let planned = lowering.plans.conversions.get(&op);
    if planned.is_none() && !by_shuffles {
        return viewed(lowering, op, <[u64]>::to_vec);
    }
    let (tensor, layout) = (lowering.tensor(lowering.operand(op, 0)?)?, lowering.result_layout(op)?);
    let values = match planned {
        Some(plan) => lowering.convert_by(plan, &tensor.values),
        None => lowering.convert_without_memory(&tensor, &layout)?,
    };
    lowering.give_tensor(op, layout, values)
}

pub(super) fn expanded(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let axis = lowering.integer_attribute(op, "axis")? as usize;
    viewed(lowering, op, |coordinates| {
        let others = coordinates.iter().enumerate().filter(|(index, _)| *index != axis);
        others.map(|(_, &at)| at).collect()
    })
}

pub(super) fn broadcast(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let shape = shape_of(lowering, lowering.operand(op, 0)?)?;
    viewed(lowering, op, |coordinates| {
        coordinates.iter().zip(&shape).map(|(&at, &size)| if size == 1 { 0 } else { at }).collect()
    })
}

/// Lowers a reshape; a reshape that may reorder elements keeps row-major order too.
pub(super) fn reshaped(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let from = shape_of(lowering, lowering.operand(op, 0)?)?;
    let to = shape_of(lowering, lowering.result(op, 0)?)?;
    viewed(lowering, op, |coordinates| coordinates_from_row_major(&from, row_major_index(&to, coordinates)))
}

pub(super) fn transposed(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let order = match lowering.attribute(op, "order") {
        Some(Attribute::Array(_, order)) => order.iter().map(|&axis| axis as usize).collect::<Vec<_>>(),
        _ => return Err(LowerErrorReason::malformed("it has no `order`")),
    };
    viewed(lowering, op, |coordinates| {
        let mut source = vec![0; coordinates.len()];
        for (&at, &axis) in coordinates.iter().zip(&order) {
            source[axis] = at;
        }
        source
    })
}

/// Lowers `tt.join`: both operands are joined along a new last axis.
pub(super) fn joined(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let axis = shape_of(lowering, lowering.operand(op, 0)?)?.len();
    of_two(lowering, op, axis, 0, |coordinates| coordinates[..axis].to_vec())
}

/// Lowers `tt.cat`: the second operand follows the first along the first axis.
pub(super) fn concatenated(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let size = shape_of(lowering, lowering.operand(op, 0)?)?.first().copied().unwrap_or(1);
    of_two(lowering, op, 0, size.trailing_zeros(), |coordinates| {
        let mut source = coordinates.to_vec();
        source[0] &= size - 1;
        source
    })
}

/// Lowers an operation with two operands. Bit `bit` of a result element's coordinate along `axis` selects the operand,
/// and `source` maps the result's coordinates to those in the operand.
fn of_two(
    lowering: &mut Lowering<'_>,
    op: Op,
    axis: usize,
    bit: u32,
    source: impl Fn(&[u64]) -> Vec<u64>,
) -> Lowered<()> {
    let layout = lowering.result_layout(op)?;
    let shape = shape_of(lowering, lowering.operand(op, 0)?)?;
    let required = Arc::new(map_coordinates(&layout, &shape, source)?);
    let mut sides = Vec::new();
    for index in 0..2 {
        let tensor = lowering.tensor(lowering.operand(op, index)?)?;
        sides.push(lowering.convert(&tensor, &required)?);
    }
    let outs = layout.outs().clone();
    let side = |column: u64| outs.coordinate(column, Dim::tensor(axis)) >> bit & 1;
    let by_thread = thread_columns(&layout, side).iter().any(|&side| side != 0);
    if !by_thread {
        let columns: Vec<u64> = layout.columns_of(Dim::REGISTER).iter().map(|&column| side(column)).collect();
        let of = |register: usize| {
            sides[tilewright_layout::f2::multiply_vector(&columns, register as u64) as usize][register]
        };
        let values = (0..sides[0].len()).map(of).collect();
        return lowering.give_tensor(op, layout, values);
    }
    let numbers = lowering.numbers(&layout, side);
    let zero = lowering.builder.i32(0);
    let mut values = Vec::with_capacity(numbers.len());
    for (register, index) in numbers.into_iter().enumerate() {
        let is_first = lowering.builder.compare(Compare::Eq, index, zero);
        values.push(lowering.builder.select(is_first, sides[0][register], sides[1][register]));
    }
    lowering.give_tensor(op, layout, values)
}

/// Lowers `tt.split`: the results are the halves of pairs along the last axis. The operand is converted so that its
/// highest register bit selects the half.
pub(super) fn split(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let operand = lowering.operand(op, 0)?;
    let shape = shape_of(lowering, operand)?;
    let layout = lowering.result_layout(op)?;
    let required = Arc::new(paired(&layout, &shape)?);
    let tensor = lowering.tensor(operand)?;
    let values = lowering.convert(&tensor, &required)?;
    for (index, half) in values.chunks(values.len() / 2).enumerate() {
        let result = lowering.result(op, index)?;
        lowering.set_lowered(result, LoweredValue::Tensor(Registers::new(layout.clone(), half)));
    }
    Ok(())
}

/// Returns the layout of a tensor of pairs. The first elements have the layout `half`, and so have the second ones; an
/// additional highest register bit selects the element of a pair.
fn paired(half: &LinearLayout, shape: &[u64]) -> Lowered<LinearLayout> {
    let pair = Dim::tensor(shape.len().saturating_sub(1));
    let within = map_coordinates(half, shape, |coordinates| [coordinates, &[0]].concat())?;
    let mut bases: Vec<_> = within.ins().dims().map(|dim| (dim, within.bases_of(dim))).collect();
    let outs: Vec<(Dim, u64)> = within.outs().iter().map(|(dim, bits)| (dim, 1u64 << bits)).collect();
    let step: Vec<u64> = outs.iter().map(|&(dim, _)| u64::from(dim == pair)).collect();
    match bases.iter_mut().find(|(dim, _)| *dim == Dim::REGISTER) {
        Some((_, registers)) => registers.push(step),
        None => bases.insert(0, (Dim::REGISTER, vec![step])),
    }
    Ok(LinearLayout::from_bases(&bases, &outs)?)
}
