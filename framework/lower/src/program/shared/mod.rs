//! Lowers tensors in shared memory and their accesses.
//!
//! Threads may load elements that other threads stored. So the start of each access is annotated, and
//! [`crate::shared_memory`] inserts block barriers between conflicting accesses.

mod layout;
mod placed;

use std::sync::Arc;

use smallvec::SmallVec;
use tilewright_assign::layouts::{first_coordinates, row_major_index};
use tilewright_kernel::{Binary, Value};
use tilewright_layout::LinearLayout;
use tilewright_target::Direction;
use tilewright_tile::op::name::ttg;
use tilewright_tile::op_attrs::{DISJOINT, OPERAND_STAYS_IN_SMEM};
use tilewright_tile::{self as tile, Attribute, Op};

use super::error::{LowerErrorReason, Lowered};
use super::lowered::{LoweredValue, Registers, SharedTensorRef};
use super::lowering::Lowering;
use super::memory::{from_memory, to_memory};
use super::tensor_coordinates::idle_registers;
use super::types::carrier;
use crate::shared_memory::{Access, Offsets, Slice};

pub(super) use layout::{SharedLayout, layout_of};
pub(super) use placed::{placed, placed_at};

/// The default alignment of an allocation in shared memory, in bytes.
const ALIGNMENT: u32 = 16;

pub(super) fn operation(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    match lowering.body.op(op).name() {
        ttg::LOCAL_ALLOC => allocated(lowering, op),
        ttg::LOCAL_LOAD => load(lowering, op),
        ttg::LOCAL_STORE => {
            let (source, memory) = (lowering.operand(op, 0)?, lowering.operand(op, 1)?);
            let tensor = lowering.tensor(source)?;
            let is_disjoint = lowering.attribute(op, DISJOINT).is_some();
            store(lowering, &tensor, memory, if is_disjoint { Access::DisjointStore } else { Access::Store })
        }
        ttg::LOCAL_DEALLOC => Ok(()),
        ttg::MEMDESC_INDEX => indexed(lowering, op),
        ttg::MEMDESC_SUBSLICE => subslice(lowering, op),
        _ => viewed(lowering, op),
    }
}

fn allocated(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let result = lowering.result(op, 0)?;
    let SharedLayout { memory, copies, element, .. } = layout_of(lowering, result)?;
    let bytes = u64::from(element.bits() / 8);
    let all = memory.allocated_elements() * bytes * copies;
    let all = u32::try_from(all).map_err(|_| LowerErrorReason::unsupported(format!("{all} bytes of shared memory")))?;
    let requested = lowering.integer_attribute(op, "alignment").ok().and_then(|bytes| u32::try_from(bytes).ok());
    let alignment = requested.or(memory.alignment).unwrap_or(ALIGNMENT).max(ALIGNMENT);
    let pointer = lowering.builder.shared_buffer(all, alignment);
    lowering.annotations.allocations.push(pointer);
    let number = lowering.builder.shared_buffer_count() - 1;
    lowering.buffers.insert(result, number);
    lowering.set_lowered(result, LoweredValue::Memory(SharedTensorRef { pointer, at: SmallVec::new() }));
    match lowering.optional(op, "src") {
        Some(source) => {
            let tensor = lowering.tensor(source)?;
            store(lowering, &tensor, result, Access::Store)
        }
        None => Ok(()),
    }
}

fn store(lowering: &mut Lowering<'_>, tensor: &Registers, memory: tile::Value, access: Access) -> Lowered<()> {
    stored_to(lowering, tensor, memory, access)?;
    lowering.emit_proxy_fence();
    Ok(())
}

fn stored_to(lowering: &mut Lowering<'_>, tensor: &Registers, memory: tile::Value, access: Access) -> Lowered<()> {
    let placed = placed(lowering, memory)?;
    let tensor = &match placed.own_layout(lowering, &tensor.layout)? {
        Some(own) => Registers::new(own.clone(), lowering.convert(tensor, &own)?),
        None => tensor.clone(),
    };
    let mut slice = slice(lowering, memory)?;
    slice.writer = placed.is_full_tensor(&tensor.layout).then(|| lowering.writer(&tensor.layout, &placed.memory));
    lowering.record_access(access, vec![slice]);
    if let Some(access) = placed.plan(lowering, &tensor.layout, Direction::Store)? {
        let words: Vec<Value> = tensor.values.iter().map(|&value| lowering.emit_integer_bits(value)).collect();
        access.emit_store(&mut lowering.builder, placed.slab.pointer, &words);
    } else {
        let pointers = placed.pointers(lowering, &tensor.layout, None)?;
        let active = lowering.active(&tensor.layout);
        let idle = idle_registers(&tensor.layout) as usize;
        for (register, pointer) in pointers.into_iter().enumerate().filter(|(register, _)| register & idle == 0) {
            let word = to_memory(&mut lowering.builder, tensor.values[register]);
            lowering.builder.store(pointer, 0, word, active);
        }
    }
    Ok(())
}

/// Returns a tensor in shared memory, or a part of one, as an operand that an MMA reads in place. It is an error if the
/// layout of the tensor is padded.
pub(super) fn smem_operand(lowering: &Lowering<'_>, value: tile::Value) -> Lowered<SmemOperand> {
    let placed = placed(lowering, value)?;
    if !placed.memory.padding.is_empty() {
        return Err(LowerErrorReason::unsupported("an MMA operand in shared memory that is padded"));
    }
    let slice = slice(lowering, value)?;
    Ok(SmemOperand { address: placed.slab.pointer, memory: placed.memory.linear, first: placed.slab.at, slice })
}

/// A tensor that a matrix unit reads in place from shared memory.
#[derive(Debug, Clone)]
pub(super) struct SmemOperand {
    /// The address of the tensor that the memory layout covers.
    pub address: Value,
    /// The memory layout.
    pub memory: LinearLayout,
    /// The coordinates at which the operand begins in the memory layout; missing ones are zero.
    pub first: SmallVec<[u64; 4]>,
    /// The part of the allocation that the operand occupies.
    pub slice: Slice,
}

/// Returns the part of an allocation that a tensor in shared memory occupies, for the analysis of barriers.
pub(super) fn slice(lowering: &Lowering<'_>, value: tile::Value) -> Lowered<Slice> {
    let placed = placed(lowering, value)?;
    let ty = lowering.body.value_type(value);
    let (all, sizes) =
        (lowering.layouts.resolve_memory(ty)?.copies.iter().product::<u64>().max(1), memory_shape_of(ty));
    let offsets = match sizes {
        Some(sizes) if sizes.len() == placed.shape.len() && sizes != placed.shape => placed.offsets_of_part(&sizes)?,
        _ => Offsets::up_to(placed.size() * all),
    };
    Ok(Slice { pointer: placed.slab.pointer, offsets, writer: None })
}

fn memory_shape_of(ty: &tile::TileType) -> Option<Vec<u64>> {
    ty.as_memory().map(|memory| memory.shape.to_vec())
}

fn load(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    if lowering.attribute(op, OPERAND_STAYS_IN_SMEM).is_some() {
        // The MMA reads it in place.
        return Ok(());
    }
    let memory = lowering.operand(op, 0)?;
    let (placed, slice) = (placed(lowering, memory)?, slice(lowering, memory)?);
    let required = lowering.result_layout(op)?;
    let layout = placed.own_layout(lowering, &required)?.unwrap_or_else(|| required.clone());
    let ty = lowering.carrier(lowering.result(op, 0)?)?;
    lowering.record_access(Access::Load, vec![slice]);
    let values: Vec<Value> = if let Some(access) = placed.plan(lowering, &layout, Direction::Load)? {
        let words = access.emit_load(&mut lowering.builder, placed.slab.pointer);
        words.into_iter().map(|word| lowering.emit_from_integer_bits(word, ty)).collect()
    } else {
        let pointers = placed.pointers(lowering, &layout, None)?;
        let element = placed.element;
        let of = |pointer| {
            let word = lowering.builder.load(element, pointer, 0, None);
            from_memory(&mut lowering.builder, word, ty)
        };
        pointers.into_iter().map(of).collect()
    };
    let values = lowering.convert(&Registers::new(layout, values), &required)?;
    lowering.give_tensor(op, required, values.to_vec())
}

/// Lowers `ttg.memdesc_index`: selects one tensor of an allocation, by its index.
fn indexed(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let placed = placed(lowering, lowering.operand(op, 0)?)?;
    let number = lowering.scalar(lowering.operand(op, 1)?)?;
    let bytes = lowering.builder.binary_const(Binary::Mul, number, placed.size() as u32);
    let pointer = lowering.builder.ptr_add(placed.slab.pointer, bytes);
    lowering.set_result(op, LoweredValue::Memory(SharedTensorRef { pointer, at: placed.slab.at }))
}

/// Lowers `ttg.memdesc_subslice`: selects a part of a tensor, which begins at the coordinates `offsets`.
fn subslice(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let source = lowering.operand(op, 0)?;
    let LoweredValue::Memory(slab) = lowering.lowered(source)?.clone() else {
        return Err(LowerErrorReason::malformed("a tensor in memory is expected"));
    };
    let offsets = subslice_offsets(lowering, op)?;
    let placed = placed(lowering, source)?;
    let copies = lowering.layouts.resolve_memory(lowering.body.value_type(source))?.copies;
    let (outermost, _) = offsets.split_at(offsets.len().saturating_sub(placed.shape.len()));
    let mut slab = slab;
    if outermost.iter().any(|&offset| offset != 0) {
        // The subslice begins after some tensors of the allocation, as its outermost coordinates state.
        let bytes = lowering.builder.i32((row_major_index(&copies, outermost) * placed.size()) as u32);
        slab.pointer = lowering.builder.ptr_add(slab.pointer, bytes);
    }
    let at = first_coordinates(lowering.body, lowering.result(op, 0)?, lowering.layouts);
    lowering.set_result(op, LoweredValue::Memory(SharedTensorRef { pointer: slab.pointer, at: at.into() }))
}

fn subslice_offsets(lowering: &Lowering<'_>, op: Op) -> Lowered<Vec<u64>> {
    let offsets = lowering.attribute(op, "offsets").and_then(Attribute::as_unsigned_integers);
    offsets.ok_or_else(|| LowerErrorReason::malformed("it has no offsets"))
}

/// Lowers a view: the same memory as a tensor of another shape, with the layout of the result's type. A view of a
/// subslice begins at the subslice's address, if the subslice is contiguous.
fn viewed(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let source = lowering.operand(op, 0)?;
    let LoweredValue::Memory(mut slab) = lowering.lowered(source)?.clone() else {
        return Err(LowerErrorReason::malformed("a tensor in memory is expected"));
    };
    if slab.at.iter().any(|&at| at != 0) {
        let placed = placed(lowering, source)?;
        let shape = lowering.body.value_type(source).shape().unwrap_or_default();
        let shape = &shape[shape.len().saturating_sub(placed.shape.len())..];
        let Some(offset) = placed.contiguous_offset(shape)? else {
            return Err(LowerErrorReason::unsupported("a view of a part of a tensor that is not contiguous"));
        };
        let bytes = lowering.builder.i32((offset * placed.bytes) as u32);
        slab.pointer = lowering.builder.ptr_add(slab.pointer, bytes);
        slab.at.clear();
    }
    lowering.set_result(op, LoweredValue::Memory(slab))
}

/// Lowers a copy from global to shared memory by a load to registers and a store; masked elements get the value
/// `other`, or zero.
pub(super) fn load_and_store(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let source = lowering.operand(op, 0)?;
    let memory = lowering.operand(op, 1)?;
    let layout: Arc<LinearLayout> = lowering.layout_of(source)?;
    let element = lowering.body.value_type(memory).element().clone();
    let ty = carrier(&element)?;
    let tensor = super::memory::loaded(lowering, op, source, (layout, ty))?;
    store(lowering, &tensor, memory, Access::Store)
}
