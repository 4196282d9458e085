//! Memory layouts of tensors in shared memory, and the offsets of their elements.

use tilewright_assign::layouts::ClusterPartition;
use tilewright_kernel::Type;
use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout};
use tilewright_tile as tile;

use crate::program::error::{LowerErrorReason, Lowered};
use crate::program::lowering::Lowering;
use crate::program::tensor_coordinates::map_coordinates;
use crate::program::types::{carrier, stored};

/// The memory layout that a tensor has by its type.
pub(crate) struct SharedLayout {
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
pub(super) fn in_full_tensor(
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
pub(super) fn offset_of(memory: &MemoryLayout, at: &[u64]) -> Lowered<u64> {
    let named: Vec<(Dim, u64)> = at.iter().enumerate().map(|(axis, &at)| (Dim::tensor(axis), at)).collect();
    let packed = memory.linear.outs().pack(&named)?;
    let inverse = offsets(memory)?;
    Ok(inverse.outs().coordinate(inverse.apply_packed(packed), Dim::OFFSET))
}

/// Returns the inverse of a memory layout: from coordinates to the offset in a block's memory and, for a cluster, the
/// block. If several blocks hold the same elements, it gives the block whose index has zeros for the bits that number
/// replicas.
pub(super) fn offsets(memory: &MemoryLayout) -> Lowered<LinearLayout> {
    Ok(memory.linear.remove_zero_bases(Dim::BLOCK).invert()?)
}

/// Returns an axis along which a part of a tensor does not begin at a multiple of its size, so that the sum of its
/// first coordinate and a coordinate within it carries. `layout` is the part's register layout.
pub(super) fn carrying_axis(layout: &LinearLayout, first: &[u64]) -> Option<usize> {
    let carries = |&(axis, at): &(usize, u64)| at & ((1u64 << layout.outs().bits_of(Dim::tensor(axis))) - 1) != 0;
    first.iter().copied().enumerate().find(carries).map(|(axis, _)| axis)
}

pub(crate) fn layout_of(lowering: &Lowering<'_>, value: tile::Value) -> Lowered<SharedLayout> {
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
