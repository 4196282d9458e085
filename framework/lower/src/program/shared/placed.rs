//! Tensors in shared memory at an address, and the addresses of their elements.

use std::sync::Arc;

use tilewright_assign::layouts::{ClusterPartition, tensor_shape_from_layout};
use tilewright_kernel::{Binary, Type, Value};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout, f2};
use tilewright_plan::movement::{SharedAccessPlan, emit_f2_product, plan_shared_access};
use tilewright_target::Direction;
use tilewright_tile as tile;

use super::layout::{SharedLayout, carrying_axis, in_full_tensor, layout_of, offset_of, offsets};
use crate::program::error::{LowerErrorReason, Lowered};
use crate::program::lowered::{LoweredValue, SharedTensorRef};
use crate::program::lowering::Lowering;
use crate::program::tensor_coordinates::{map_coordinates, thread_columns, unpack_coordinates};
use crate::shared_memory::Offsets;

/// A tensor in shared memory with its address and memory layout.
pub(crate) struct Placed {
    pub(super) slab: SharedTensorRef,
    pub(super) memory: MemoryLayout,
    /// The shape of the tensor that the memory layout covers.
    pub shape: Vec<u64>,
    /// The type of an element in memory.
    pub element: Type,
    /// Number of bytes of an element.
    pub(super) bytes: u64,
}

/// Returns the address of a tensor in shared memory that covers its whole memory layout.
pub(crate) fn placed_at(lowering: &Lowering<'_>, value: tile::Value) -> Lowered<Value> {
    Ok(placed(lowering, value)?.slab.pointer)
}

pub(crate) fn placed(lowering: &Lowering<'_>, value: tile::Value) -> Lowered<Placed> {
    let LoweredValue::Memory(slab) = lowering.lowered(value)?.clone() else {
        return Err(LowerErrorReason::malformed("a tensor in memory is expected"));
    };
    let SharedLayout { memory, shape, element, .. } = layout_of(lowering, value)?;
    Ok(Placed { slab, memory, shape, element, bytes: u64::from(element.bits() / 8) })
}

impl Placed {
    /// Number of bytes of one tensor of the allocation.
    pub(super) fn size(&self) -> u64 {
        self.memory.allocated_elements() * self.bytes
    }

    /// Plans the accesses of all elements by registers of the layout `layout`. `None` if no accesses of several lanes
    /// fit a part of a tensor; then each element has its own address.
    pub(super) fn plan(
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
    pub(super) fn own_layout(
        &self,
        lowering: &Lowering<'_>,
        layout: &LinearLayout,
    ) -> Lowered<Option<Arc<LinearLayout>>> {
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
    pub(super) fn offsets_of_part(&self, sizes: &[u64]) -> Lowered<Offsets> {
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
    pub(super) fn is_full_tensor(&self, layout: &LinearLayout) -> bool {
        self.slab.at.iter().all(|&at| at == 0) && layout.outs().total_bits() == self.memory.linear.outs().total_bits()
    }

    /// Emits the address of each register's element in the subslice.
    ///
    /// The first coordinates of the subslice and the coordinates within it have disjoint bits, so that their offsets
    /// add over F2. `indices` has an axis and an index for each register: the coordinate of its element along this
    /// axis, in place of the one of `layout`.
    pub(crate) fn pointers(
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
    pub(super) fn contiguous_offset(&self, shape: &[u64]) -> Lowered<Option<u64>> {
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
