//! Lowers tensor descriptors: accesses of blocks of a tensor in global memory, predicated by the tensor's bounds.
//!
//! Accesses through descriptors are ordinary loads and stores on every target; `tensor_copies` lowers the bulk tensor
//! copies of pipelined loops. A descriptor's tensor and its rows are aligned to 16 bytes, and its elements are
//! contiguous along the last axis. So if the start of a block and the size of the tensor along this axis are multiples
//! of some number of elements, one access moves that many elements, with one address and one predicate.
//!
//! Source: Triton, `tl.make_tensor_descriptor`, for the requirements on base, shape and strides.

use std::sync::Arc;

use tilewright_kernel::{Binary, Builder, Cast, Compare, Element, Type, Value};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_tile::{self as tile, Op};

use super::error::{LowerErrorReason, Lowered};
use super::lowered::{LoweredValue, Registers, TensorDescriptor};
use super::lowering::Lowering;
use super::memory::{VectorGroups, both, from_memory, to_memory};
use super::scalar::scalar_constant;
use super::tensor_coordinates::idle_registers;
use super::types::{carrier, stored};

const I1: Type = Type::Scalar(Element::I1);
const WIDE: Type = Type::Scalar(Element::I64);

/// Alignment of a tensor's rows, in bytes.
const ROW_ALIGNMENT: u64 = 16;

pub(super) fn lower_make_descriptor(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let body = lowering.body;
    let operation = body.op(op);
    let pointer = lowering.scalar(lowering.operand(op, 0)?)?;
    let of = |lowering: &Lowering<'_>, group: usize| -> Lowered<Vec<Value>> {
        operation.operand_group(group).iter().map(|&value| lowering.scalar(value)).collect()
    };
    let (sizes, strides) = (of(lowering, 1)?, of(lowering, 2)?);
    let strides: Vec<Value> =
        strides.into_iter().map(|stride| lowering.builder.cast(Cast::ExtendS, stride, WIDE)).collect();
    let pads_with_nan = lowering.keyword(op, "padding") == Some("nan");
    let last_multiple = operation.operand_group(1).last().map_or(1, |&size| divisor(lowering, size));
    let (sizes, strides) = (sizes.into(), strides.into());
    let active = lowering.builder.constant(I1, 1);
    lowering.set_result(
        op,
        LoweredValue::Descriptor(TensorDescriptor { pointer, active, sizes, strides, last_multiple, pads_with_nan }),
    )
}

pub(super) fn tensor_descriptor(lowering: &Lowering<'_>, op: Op) -> Lowered<TensorDescriptor> {
    match lowering.lowered(lowering.operand(op, 0)?)? {
        LoweredValue::Descriptor(of) => Ok(of.clone()),
        _ => Err(LowerErrorReason::malformed("a tensor descriptor is expected")),
    }
}

/// Returns the kernel values of the operands, which are scalars, in the operand group `group`.
pub(super) fn scalars(lowering: &Lowering<'_>, op: Op, group: &str) -> Lowered<Vec<Value>> {
    let operation = lowering.body.op(op);
    let group = operation
        .definition
        .operand_group_index(group)
        .ok_or_else(|| LowerErrorReason::malformed("a group is missing"))?;
    operation.operand_group(group).iter().map(|&value| lowering.scalar(value)).collect()
}

/// Returns a known divisor of a scalar, from axis information; 1 if none is known.
pub(super) fn divisor(lowering: &Lowering<'_>, value: tile::Value) -> u64 {
    lowering.axis_info.get(value).map_or(1, tile::axis_info::AxisInfo::divisibility)
}

/// One memory access of several registers, with the address of its first element and an `i1`: whether all its elements
/// are within the tensor's bounds.
pub(super) struct PredicatedAccess {
    registers: Vec<usize>,
    pointer: Value,
    inside: Value,
}

/// Groups the registers of a block of the descriptor's tensor so that one memory access moves each group. The last
/// operand of the operand group `first` is the index at which the block begins along the last axis.
fn groups(
    lowering: &Lowering<'_>,
    op: Op,
    of: &TensorDescriptor,
    (layout, element, first): (&LinearLayout, &tile::TileType, &str),
) -> Lowered<VectorGroups> {
    let element = stored(carrier(element)?);
    let operation = lowering.body.op(op);
    let first = operation.definition.operand_group_index(first).and_then(|group| operation.operand_group(group).last());
    let begins = first.map_or(1, |&first| divisor(lowering, first));
    let most = begins.min(of.last_multiple).min(ROW_ALIGNMENT / u64::from(element.bits() / 8).max(1));
    let widths = &lowering.config.context.target.global.access_bits;
    Ok(VectorGroups::along(layout, layout.outs().len().saturating_sub(1), most, element, widths))
}

/// Returns vector groups of one register each, so that each access moves one element.
pub(super) fn alone(layout: &LinearLayout, element: &tile::TileType) -> Lowered<VectorGroups> {
    Ok(VectorGroups::along(layout, 0, 1, stored(carrier(element)?), &[]))
}

/// Emits the addresses and predicates of the accesses to a block of a descriptor's tensor. `first` has the index at
/// which the block begins, along each axis of the tensor. The axes of the block are the last axes of the tensor.
pub(super) fn block_accesses(
    lowering: &mut Lowering<'_>,
    of: &TensorDescriptor,
    (layout, element): (&LinearLayout, &tile::TileType),
    first: &[Value],
    groups: &VectorGroups,
) -> Lowered<Vec<PredicatedAccess>> {
    let rank = of.sizes.len();
    let own = layout.outs().len();
    let mut along: Vec<Vec<Value>> = Vec::with_capacity(rank);
    for axis in 0..rank {
        let start = first.get(axis).copied().ok_or_else(|| LowerErrorReason::malformed("an index is missing"))?;
        // If the block has fewer axes than the tensor, it has size one along the first axes.
        let values = match (axis + own).checked_sub(rank) {
            Some(axis) => {
                let indices = lowering.coordinate(layout, axis);
                indices.into_iter().map(|index| lowering.builder.binary(Binary::Add, start, index)).collect()
            }
            None => vec![start; 1 << layout.in_bits(Dim::REGISTER)],
        };
        along.push(values);
    }
    plan_accesses(lowering, of, element, &along, groups)
}

/// Emits the addresses and predicates of accesses to elements of a descriptor's tensor. `along` has, for each axis, the
/// index of the element in each register; `groups` has the registers that each access moves together.
fn plan_accesses(
    lowering: &mut Lowering<'_>,
    of: &TensorDescriptor,
    element: &tile::TileType,
    along: &[Vec<Value>],
    groups: &VectorGroups,
) -> Lowered<Vec<PredicatedAccess>> {
    if along.len() != of.strides.len() {
        let message = format!("indices along {} axes for a descriptor of {}", along.len(), of.strides.len());
        return Err(LowerErrorReason::malformed(message));
    }
    let bytes = u64::from(stored(carrier(element)?).bits() / 8);
    let builder = &mut lowering.builder;
    let mut accesses_of_groups = Vec::new();
    let bytes = builder.constant(WIDE, bytes);
    let strides: Vec<Value> = of.strides.iter().map(|&stride| builder.binary(Binary::Mul, stride, bytes)).collect();
    for registers in groups.iter() {
        let (mut offset, mut there): (Option<Value>, Option<Value>) = (None, None);
        for (axis, values) in along.iter().enumerate() {
            let index = values[registers[0]];
            // The unsigned comparison rejects negative indices too.
            let below = builder.compare(Compare::LtU, index, of.sizes[axis]);
            there = both(builder, there, Some(below));
            let index = builder.cast(Cast::ExtendS, index, WIDE);
            let step = builder.binary(Binary::Mul, index, strides[axis]);
            offset = Some(offset.map_or(step, |sum| builder.binary(Binary::Add, sum, step)));
        }
        let pointer = offset.map_or(of.pointer, |offset| builder.ptr_add(of.pointer, offset));
        let inside = there.unwrap_or_else(|| builder.constant(I1, 1));
        accesses_of_groups.push(PredicatedAccess { registers, pointer, inside });
    }
    Ok(accesses_of_groups)
}

pub(super) fn load(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = tensor_descriptor(lowering, op)?;
    let first = scalars(lowering, op, "indices")?;
    let (layout, element) = result_of(lowering, op)?;
    let groups = groups(lowering, op, &of, (&layout, &element, "indices"))?;
    let accesses = block_accesses(lowering, &of, (&layout, &element), &first, &groups)?;
    loaded(lowering, op, &of, (layout, &element), &accesses)
}

pub(super) fn gather(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = tensor_descriptor(lowering, op)?;
    let (layout, element) = result_of(lowering, op)?;
    let along = rows(lowering, op, &layout)?;
    let groups = groups(lowering, op, &of, (&layout, &element, "y_offset"))?;
    let accesses = plan_accesses(lowering, &of, &element, &along, &groups)?;
    loaded(lowering, op, &of, (layout, &element), &accesses)
}

fn result_of(lowering: &mut Lowering<'_>, op: Op) -> Lowered<(Arc<LinearLayout>, tile::TileType)> {
    let element = lowering.body.value_type(lowering.result(op, 0)?).element().clone();
    Ok((lowering.result_layout(op)?, element))
}

/// Emits the indices of each register's element along both axes: the row from the tensor `x_offsets`, the column
/// counted from `y_offset` on.
fn rows(lowering: &mut Lowering<'_>, op: Op, layout: &LinearLayout) -> Lowered<Vec<Vec<Value>>> {
    let offsets = lowering.optional(op, "x_offsets").ok_or_else(|| LowerErrorReason::malformed("rows are missing"))?;
    let first = scalars(lowering, op, "y_offset")?;
    let first = first.first().copied().ok_or_else(|| LowerErrorReason::malformed("the first column is missing"))?;
    let rows = 1u64 << layout.out_bits(Dim::tensor(0));
    let of_rows =
        Arc::new(super::tensor_coordinates::map_coordinates(layout, &[rows], |coordinates| vec![coordinates[0]])?);
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

/// Loads the elements that are in bounds; all other elements get the descriptor's padding value.
fn loaded(
    lowering: &mut Lowering<'_>,
    op: Op,
    of: &TensorDescriptor,
    (layout, element): (Arc<LinearLayout>, &tile::TileType),
    accesses: &[PredicatedAccess],
) -> Lowered<()> {
    let ty = carrier(element)?;
    let nan = match element {
        tile::TileType::Float(float) if of.pads_with_nan => float.encode_nan(),
        _ => None,
    };
    let mut values = vec![None; 1 << layout.in_bits(Dim::REGISTER)];
    for PredicatedAccess { registers, pointer, inside } in accesses {
        let builder = &mut lowering.builder;
        let vector = builder.load(VectorGroups::vector(stored(ty), registers.len()), *pointer, 0, Some(*inside));
        for (number, &register) in (0u32..).zip(registers) {
            let word = builder.extract(vector, number);
            let value = from_memory(builder, word, ty);
            values[register] = Some(match nan {
                Some(nan) => {
                    let nan = scalar_constant(builder, ty, nan);
                    builder.select(*inside, value, nan)
                }
                None => value,
            });
        }
    }
    let values: Option<Vec<Value>> = values.into_iter().collect();
    let values = values.ok_or_else(|| LowerErrorReason::malformed("a register is in no access"))?;
    lowering.give_tensor(op, layout, values)
}

pub(super) fn store(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = tensor_descriptor(lowering, op)?;
    let first = scalars(lowering, op, "indices")?;
    let (tensor, element) = source(lowering, op)?;
    let groups = groups(lowering, op, &of, (&tensor.layout, &element, "indices"))?;
    let accesses = block_accesses(lowering, &of, (&tensor.layout, &element), &first, &groups)?;
    stored_at(lowering, &tensor, &accesses);
    Ok(())
}

pub(super) fn scatter(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let of = tensor_descriptor(lowering, op)?;
    let (tensor, element) = source(lowering, op)?;
    let along = rows(lowering, op, &tensor.layout.clone())?;
    let groups = groups(lowering, op, &of, (&tensor.layout, &element, "y_offset"))?;
    let accesses = plan_accesses(lowering, &of, &element, &along, &groups)?;
    stored_at(lowering, &tensor, &accesses);
    Ok(())
}

pub(super) fn source(lowering: &Lowering<'_>, op: Op) -> Lowered<(Registers, tile::TileType)> {
    let value = lowering.optional(op, "src").ok_or_else(|| LowerErrorReason::malformed("the tensor is missing"))?;
    Ok((lowering.tensor(value)?, lowering.body.value_type(value).element().clone()))
}

/// Stores each element that is within the tensor's bounds; one thread stores it, even if others hold replicas.
fn stored_at(lowering: &mut Lowering<'_>, tensor: &Registers, accesses: &[PredicatedAccess]) {
    each_once(lowering, tensor, accesses, |builder, pointer, values, predicate| {
        let words: Vec<Value> = values.iter().map(|&value| to_memory(builder, value)).collect();
        let vector = builder.pack(&words);
        builder.store(pointer, 0, vector, predicate);
    });
}

pub(super) fn each_once(
    lowering: &mut Lowering<'_>,
    tensor: &Registers,
    accesses: &[PredicatedAccess],
    mut act: impl FnMut(&mut Builder, Value, &[Value], Option<Value>),
) {
    let active = lowering.active(&tensor.layout);
    let idle = idle_registers(&tensor.layout) as usize;
    for PredicatedAccess { registers, pointer, inside } in
        accesses.iter().filter(|access| access.registers[0] & idle == 0)
    {
        let builder = &mut lowering.builder;
        let predicate = both(builder, active, Some(*inside));
        let values: Vec<Value> = registers.iter().map(|&register| tensor.values[register]).collect();
        act(builder, *pointer, &values, predicate);
    }
}
