//! Lowers tensors in shared memory and their accesses.
//!
//! Threads may load elements that other threads stored. So the start of each access is annotated, and
//! [`crate::shared_memory`] inserts block barriers between conflicting accesses.

use std::sync::Arc;
use tilewright_tile::op::name::ttg;

use smallvec::SmallVec;

use crate::shared_memory::{Access, Offsets, Slice};
use tilewright_assign::layouts::{ClusterPartition, row_major_index, tensor_shape_from_layout};
use tilewright_kernel::{Binary, Type, Value};
use tilewright_layout::f2;
use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout};
use tilewright_plan::movement::{SharedAccessPlan, emit_f2_product, plan_shared_access};
use tilewright_target::Direction;
use tilewright_tile::op_attrs::{DISJOINT, OPERAND_STAYS_IN_SMEM};
use tilewright_tile::{self as tile, Attribute, Op, ValueOrigin};

use super::error::{LowerErrorReason, Lowered};
use super::lowered::{LoweredValue, Registers, SharedTensorRef};
use super::lowering::Lowering;
use super::memory::{from_memory, to_memory};
use super::tensor_coordinates::{idle_registers, map_coordinates, thread_columns, unpack_coordinates};
use super::types::{carrier, stored};

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

/// A tensor in shared memory with its address and memory layout.
pub(super) struct Placed {
    slab: SharedTensorRef,
    memory: MemoryLayout,
    /// The shape of the tensor that the memory layout covers.
    pub shape: Vec<u64>,
    /// The type of an element in memory.
    pub element: Type,
    bytes: u64,
}

impl Placed {
    /// Number of bytes of one tensor of the allocation.
    fn size(&self) -> u64 {
        self.memory.allocated_elements() * self.bytes
    }
}

/// The memory layout that a tensor has by its type.
pub(super) struct SharedLayout {
    pub memory: MemoryLayout,
    /// The shape of the tensor that the memory layout covers.
    pub shape: Vec<u64>,
    /// Number of tensors in the allocation.
    pub copies: u64,
    /// The type of an element in memory.
    pub element: Type,
}

impl SharedLayout {
    /// As [`in_full_tensor`].
    pub fn in_full(&self, layout: &LinearLayout, first: &[u64]) -> Lowered<Option<(LinearLayout, u64)>> {
        in_full_tensor(layout, &self.memory, &self.shape, first)
    }
}

/// Returns the register layout `layout` of a part of a tensor as a layout of the full tensor, and the offset of the
/// part's first element in `memory`, in elements, which is added over F2. `first` are the coordinates of that element;
/// missing ones are zero. `None` if the sum of these coordinates and coordinates within the part carries.
fn in_full_tensor(
    layout: &LinearLayout,
    memory: &MemoryLayout,
    shape: &[u64],
    first: &[u64],
) -> Lowered<Option<(LinearLayout, u64)>> {
    if carrying_axis(layout, first).is_some() {
        return Ok(None);
    }
    let within = map_coordinates(layout, shape, <[u64]>::to_vec)?;
    Ok(Some((within, offset_of(memory, first)?)))
}

/// Returns the offset of the element at the coordinates `at`, in elements without padding.
fn offset_of(memory: &MemoryLayout, at: &[u64]) -> Lowered<u64> {
    let named: Vec<(Dim, u64)> = at.iter().enumerate().map(|(axis, &at)| (Dim::tensor(axis), at)).collect();
    let packed = memory.linear.outs().pack(&named)?;
    let inverse = offsets(memory)?;
    Ok(inverse.outs().coordinate(inverse.apply_packed(packed), Dim::OFFSET))
}

/// Returns the inverse of a memory layout: from coordinates to the offset in a block's memory and, for a cluster, the
/// block. If several blocks hold the same elements, it gives the block whose index has zeros for the bits that number
/// replicas.
fn offsets(memory: &MemoryLayout) -> Lowered<LinearLayout> {
    Ok(memory.linear.remove_zero_bases(Dim::BLOCK).invert()?)
}

/// Returns an axis along which a part of a tensor does not begin at a multiple of its size, so that the sum of its
/// first coordinate and a coordinate within it carries. `layout` is the part's register layout.
fn carrying_axis(layout: &LinearLayout, first: &[u64]) -> Option<usize> {
    let carries = |&(axis, at): &(usize, u64)| at & ((1u64 << layout.outs().bits_of(Dim::tensor(axis))) - 1) != 0;
    first.iter().copied().enumerate().find(carries).map(|(axis, _)| axis)
}

pub(super) fn layout_of(lowering: &Lowering<'_>, value: tile::Value) -> Lowered<SharedLayout> {
    let ty = lowering.body.value_type(value);
    let memory_layout = lowering.layouts.resolve_memory(ty)?;
    let block_bits = lowering.launch.blocks.trailing_zeros();
    let memory = match memory_layout.layout {
        Layout::Memory(memory) => memory,
        // MMAs that use this lowering are synchronous, with the accumulator in registers, so a tensor in tensor memory
        // is kept in shared memory between them. The rows of tensor memory belong to lanes, so the elements of a column
        // are contiguous there.
        Layout::TensorMemory(tensor) => {
            let division = ClusterPartition::from_layout(&tensor, block_bits);
            let share = rows_first(&division.block_share_shape(&memory_layout.shape))?;
            let all =
                if block_bits == 0 { share } else { division.extend_share_to_tensor(&share, &memory_layout.shape)? };
            MemoryLayout::from_linear(all)
        }
        Layout::Distributed(_) => return Err(LowerErrorReason::malformed(format!("`{ty}` is in no memory"))),
    };
    let element = stored(carrier(ty.element())?);
    Ok(SharedLayout {
        memory,
        shape: memory_layout.shape,
        copies: memory_layout.copies.iter().product::<u64>().max(1),
        element,
    })
}

/// Returns a memory layout with elements contiguous along the first axis.
fn rows_first(shape: &[u64]) -> Lowered<LinearLayout> {
    let bits: Vec<(usize, u64)> = shape.iter().copied().enumerate().collect();
    let mut layout = LinearLayout::empty();
    for (axis, size) in bits {
        layout = layout.direct_sum(&LinearLayout::identity(size, Dim::OFFSET, Dim::tensor(axis))?)?;
    }
    Ok(layout)
}

/// Returns the address of a tensor in shared memory that covers its whole memory layout.
pub(super) fn placed_at(lowering: &Lowering<'_>, value: tile::Value) -> Lowered<Value> {
    Ok(placed(lowering, value)?.slab.pointer)
}

pub(super) fn placed(lowering: &Lowering<'_>, value: tile::Value) -> Lowered<Placed> {
    let LoweredValue::Memory(slab) = lowering.lowered(value)?.clone() else {
        return Err(LowerErrorReason::malformed("a tensor in memory is expected"));
    };
    let SharedLayout { memory, shape, element, .. } = layout_of(lowering, value)?;
    Ok(Placed { slab, memory, shape, element, bytes: u64::from(element.bits() / 8) })
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

impl Placed {
    /// Plans the accesses of all elements by registers of the layout `layout`. `None` if no accesses of several lanes
    /// fit a part of a tensor; then each element has its own address.
    fn plan(
        &self,
        lowering: &Lowering<'_>,
        layout: &LinearLayout,
        direction: Direction,
    ) -> Lowered<Option<SharedAccessPlan>> {
        let plan = |layout: &LinearLayout| {
            plan_shared_access(layout, &self.memory, self.element.bits(), direction, lowering.config.context)
        };
        if self.is_full_tensor(layout) {
            return Ok(Some(plan(layout)?));
        }
        let part = in_full_tensor(layout, &self.memory, &self.shape, &self.slab.at)?;
        Ok(part.and_then(|(layout, start)| plan(&layout).ok()?.starting_at(start)))
    }

    /// Returns the layout that a tensor in registers must have so that each block accesses only its own shared memory;
    /// `None` if `layout` already does.
    fn own_layout(&self, lowering: &Lowering<'_>, layout: &LinearLayout) -> Lowered<Option<Arc<LinearLayout>>> {
        let block_bits = lowering.launch.blocks.trailing_zeros();
        if block_bits == 0 {
            return Ok(None);
        }
        let division = ClusterPartition::from_layout(&self.memory.linear, block_bits);
        let shape = tensor_shape_from_layout(layout);
        let is_moved = |(axis, &at): (usize, &u64)| at != 0 && division.divides_axis(axis);
        if self.slab.at.iter().enumerate().any(is_moved) {
            return Err(LowerErrorReason::unsupported("a subslice along an axis that the blocks of a cluster divide"));
        }
        let share = division.block_share_shape(&shape);
        let is_in_share =
            |&column: &u64| unpack_coordinates(layout, column).iter().zip(&share).all(|(at, size)| at < size);
        let mut own = [Dim::REGISTER, Dim::LANE, Dim::WARP].into_iter().flat_map(|dim| layout.columns_of(dim));
        if ClusterPartition::from_layout(layout, block_bits) == division && own.all(is_in_share) {
            return Ok(None);
        }
        Ok(Some(Arc::new(division.coalesced_layout(&shape, lowering.config)?)))
    }

    /// Returns the offsets in memory of a part of the tensor. The part begins at the first coordinates of the subslice,
    /// and has the size `sizes[axis]` along each axis.
    fn offsets_of_part(&self, sizes: &[u64]) -> Lowered<Offsets> {
        let inverse = offsets(&self.memory)?;
        let offset = |unit: (Dim, u64)| -> Lowered<u64> {
            let packed = self.memory.linear.outs().pack(&[unit])?;
            Ok(inverse.outs().coordinate(inverse.apply_packed(packed), Dim::OFFSET))
        };
        let bits = sizes.iter().enumerate().flat_map(|(axis, &size)| {
            let bits = size.next_power_of_two().trailing_zeros();
            (0..bits).map(move |bit| (Dim::tensor(axis), 1u64 << bit))
        });
        let basis = bits.map(offset).collect::<Lowered<Vec<u64>>>()?;
        Ok(Offsets::of_elements(&self.memory, self.bytes, offset_of(&self.memory, &self.slab.at)?, &basis))
    }

    /// Whether the tensor covers its whole memory layout.
    fn is_full_tensor(&self, layout: &LinearLayout) -> bool {
        self.slab.at.iter().all(|&at| at == 0) && layout.outs().total_bits() == self.memory.linear.outs().total_bits()
    }

    /// Emits the address of each register's element in the subslice.
    ///
    /// The first coordinates of the subslice and the coordinates within it have disjoint bits, so that their offsets
    /// add over F2. `indices` has an axis and an index for each register: the coordinate of its element along this
    /// axis, in place of the one of `layout`.
    pub(super) fn pointers(
        &self,
        lowering: &mut Lowering<'_>,
        layout: &LinearLayout,
        indices: Option<(usize, &[Value])>,
    ) -> Lowered<Vec<Value>> {
        if let Some(axis) = carrying_axis(layout, &self.slab.at) {
            return self.pointers_with_carry(lowering, layout, axis, indices);
        }
        let indexed = indices.map(|(axis, _)| axis);
        let within = map_coordinates(layout, &self.shape, |at_axes| {
            at_axes.iter().enumerate().map(|(axis, &at)| if indexed == Some(axis) { 0 } else { at }).collect()
        })?;
        let inverse = offsets(&self.memory)?;
        let offset = |packed: u64| -> u64 {
            let of_memory = self.memory.linear.outs();
            let named: Vec<(Dim, u64)> = unpack_coordinates(&within, packed)
                .into_iter()
                .enumerate()
                .map(|(axis, at)| (Dim::tensor(axis), at))
                .collect();
            let packed = of_memory.pack(&named).unwrap_or(0);
            inverse.outs().coordinate(inverse.apply_packed(packed), Dim::OFFSET)
        };
        let first = offset_of(&self.memory, &self.slab.at)?;
        let columns = thread_columns(&within, offset);
        let thread = lowering.thread();
        let thread_offset = thread.emit_f2_product(&mut lowering.builder, &columns);
        let registers: Vec<u64> = within.columns_of(Dim::REGISTER).iter().map(|&column| offset(column)).collect();
        let along: Vec<u64> = match indexed {
            Some(axis) => (0..self.memory.linear.outs().bits_of(Dim::tensor(axis)))
                .map(|bit| self.memory.linear.outs().pack(&[(Dim::tensor(axis), 1 << bit)]))
                .map(|packed| Ok(inverse.outs().coordinate(inverse.apply_packed(packed?), Dim::OFFSET)))
                .collect::<Lowered<_>>()?,
            None => Vec::new(),
        };
        let mut pointers = Vec::new();
        for register in 0..1u64 << registers.len() {
            let constant = f2::multiply_vector(&registers, register) ^ first;
            let builder = &mut lowering.builder;
            let mut linear = builder.binary_const(Binary::Xor, thread_offset, constant as u32);
            if let Some((_, indices)) = indices {
                let moved = emit_f2_product(builder, indices[register as usize], &along);
                linear = builder.binary(Binary::Xor, linear, moved);
            }
            let mut physical = linear;
            for padding in &self.memory.padding {
                let intervals = builder.binary_const(Binary::ShrU, linear, padding.interval.trailing_zeros());
                let left_out = builder.binary_const(Binary::Mul, intervals, padding.padding as u32);
                physical = builder.binary(Binary::Add, physical, left_out);
            }
            let bytes = builder.binary_const(Binary::Mul, physical, self.bytes as u32);
            pointers.push(builder.ptr_add(self.slab.pointer, bytes));
        }
        Ok(pointers)
    }
}

impl Placed {
    /// Emits the addresses of a subslice if adding its first coordinate along `axis` carries. It computes the total
    /// coordinates, and uses them as indices along that axis.
    fn pointers_with_carry(
        &self,
        lowering: &mut Lowering<'_>,
        layout: &LinearLayout,
        axis: usize,
        indices: Option<(usize, &[Value])>,
    ) -> Lowered<Vec<Value>> {
        let within = match indices {
            None => lowering.coordinate(layout, axis),
            Some((indexed, indices)) if indexed == axis => indices.to_vec(),
            Some(_) => {
                return Err(LowerErrorReason::unsupported(
                    "indices of a subslice that begins within a tile of its size",
                ));
            }
        };
        let mut slab = self.slab.clone();
        let first = std::mem::take(&mut slab.at[axis]);
        let builder = &mut lowering.builder;
        let numbers: Vec<Value> =
            within.into_iter().map(|number| builder.binary_const(Binary::Add, number, first as u32)).collect();
        let (memory, shape) = (self.memory.clone(), self.shape.clone());
        let from_start = Self { slab, memory, shape, element: self.element, bytes: self.bytes };
        from_start.pointers(lowering, layout, Some((axis, &numbers)))
    }

    /// Returns the offset, in elements, of a subslice of this shape from the start of the tensor, if the subslice is
    /// contiguous in memory; otherwise `None`.
    fn contiguous_offset(&self, shape: &[u64]) -> Lowered<Option<u64>> {
        let inverse = offsets(&self.memory)?;
        let outs = self.memory.linear.outs();
        let (mut first, mut within, mut bits) = (0, 0, 0);
        for (axis, (&at, &size)) in self.slab.at.iter().zip(shape).enumerate() {
            let columns = (0..outs.bits_of(Dim::tensor(axis))).map(|bit| -> Lowered<u64> {
                let packed = outs.pack(&[(Dim::tensor(axis), 1 << bit)])?;
                Ok(inverse.outs().coordinate(inverse.apply_packed(packed), Dim::OFFSET))
            });
            let columns: Vec<u64> = columns.collect::<Lowered<_>>()?;
            let of_size = size.trailing_zeros() as usize;
            // If the sum of the first coordinate and one within the subslice carries, the offsets of these bits must
            // double from bit to bit.
            let carried = columns.get(at.trailing_zeros() as usize..).unwrap_or_default();
            if at & (size - 1) != 0 && carried.windows(2).any(|pair| pair[1] != 2 * pair[0]) {
                return Ok(None);
            }
            first ^= f2::multiply_vector(&columns, at);
            within |= columns.iter().take(of_size).fold(0, |all, column| all | column);
            bits += of_size;
        }
        Ok((self.memory.padding.is_empty() && within == (1u64 << bits) - 1).then_some(first))
    }
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
    let at = first_coordinates(lowering, lowering.result(op, 0)?)?;
    lowering.set_result(op, LoweredValue::Memory(SharedTensorRef { pointer: slab.pointer, at: at.into() }))
}

fn subslice_offsets(lowering: &Lowering<'_>, op: Op) -> Lowered<Vec<u64>> {
    let offsets = lowering.attribute(op, "offsets").and_then(Attribute::as_unsigned_integers);
    offsets.ok_or_else(|| LowerErrorReason::malformed("it has no offsets"))
}

/// Returns the coordinates at which a tensor in shared memory begins within the tensor of its memory layout; missing
/// ones are zero.
pub(super) fn first_coordinates(lowering: &Lowering<'_>, value: tile::Value) -> Lowered<Vec<u64>> {
    let ValueOrigin::Result(op, _) = lowering.body.value_origin(value) else { return Ok(Vec::new()) };
    match lowering.body.op(op).name() {
        ttg::MEMDESC_INDEX => first_coordinates(lowering, lowering.operand(op, 0)?),
        ttg::MEMDESC_SUBSLICE => {
            let before = first_coordinates(lowering, lowering.operand(op, 0)?)?;
            let (offsets, rank) = (subslice_offsets(lowering, op)?, layout_of(lowering, value)?.shape.len());
            let innermost = &offsets[offsets.len().saturating_sub(rank)..];
            let before = before.into_iter().chain(std::iter::repeat(0));
            Ok(innermost.iter().zip(before).map(|(&offset, before)| offset + before).collect())
        }
        _ => Ok(Vec::new()),
    }
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
