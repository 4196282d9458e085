//! The division of tensors among the blocks of a cluster.

use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_plan::movement::{GlobalTensor, MovementError};

use crate::LaunchConfig;
use crate::layouts::{to_canonical_dim_order, unpack_coordinates};

/// The division of a tensor among the blocks of a cluster: for each bit of a block's index, one coordinate for each
/// axis, which the bit adds to the coordinates of the block's elements. A bit with only zeros numbers replicas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterPartition(Vec<Vec<u64>>);

impl ClusterPartition {
    /// Returns the division that a tensor's layout states, for 2^`block_bits` blocks. In a layout without a block dim,
    /// every block has all elements.
    #[must_use]
    pub fn from_layout(layout: &LinearLayout, block_bits: u32) -> Self {
        let rank = layout.outs().len();
        let mut bits: Vec<_> =
            layout.columns_of(Dim::BLOCK).iter().map(|&column| unpack_coordinates(layout, column)).collect();
        bits.resize(block_bits as usize, vec![0; rank]);
        Self(bits)
    }

    /// Divides a tensor of this shape: each bit of a block's index halves an axis, or numbers replicas (`None`). If
    /// several bits halve one axis, the first adds the size of one block's share to the coordinate, and each further
    /// bit adds twice as much as the one before.
    #[must_use]
    pub fn from_axes(shape: &[u64], axes: &[Option<usize>]) -> Self {
        let mut sizes = shape.to_vec();
        let axes_of_size = axes.iter().flatten();
        axes_of_size.for_each(|&axis| sizes[axis] = (sizes[axis] / 2).max(1));
        let bits = axes.iter().map(|axis| {
            let mut bit = vec![0; shape.len()];
            if let Some(axis) = *axis {
                bit[axis] = sizes[axis];
                sizes[axis] *= 2;
            }
            bit
        });
        Self(bits.collect())
    }

    /// Returns, for each bit of a block's index, the axis along which it divides the tensor; `None` if it numbers
    /// replicas, or divides along several axes.
    #[must_use]
    pub fn axis_of_each_bit(&self) -> Vec<Option<usize>> {
        let only = |bit: &Vec<u64>| {
            let mut axes = bit.iter().enumerate().filter(|(_, by)| **by != 0).map(|(axis, _)| axis);
            axes.next().filter(|_| axes.next().is_none())
        };
        self.0.iter().map(only).collect()
    }

    /// Whether the blocks hold different elements along an axis, instead of replicas.
    #[must_use]
    pub fn divides_axis(&self, axis: usize) -> bool {
        self.0.iter().any(|bit| bit.get(axis).is_some_and(|&by| by != 0))
    }

    /// Returns the shape of one block's share of a tensor of this shape.
    #[must_use]
    pub fn block_share_shape(&self, shape: &[u64]) -> Vec<u64> {
        let divided = |axis: usize| self.axis_of_each_bit().iter().filter(|of| **of == Some(axis)).count();
        shape.iter().enumerate().map(|(axis, &size)| (size >> divided(axis)).max(1)).collect()
    }

    /// Extends the layout of one block's share of a tensor to the whole tensor of all blocks, with shape `shape`.
    ///
    /// # Errors
    /// [`LayoutError`] if a size in `shape` is not a power of two, or a coordinate of the share is outside the tensor.
    pub fn extend_share_to_tensor(&self, share: &LinearLayout, shape: &[u64]) -> Result<LinearLayout, LayoutError> {
        let dims: Vec<(Dim, u64)> = shape.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size)).collect();
        let outs = Space::from_sizes(&dims)?;
        let pack = |at: &[u64]| {
            let named: Vec<_> = at.iter().enumerate().map(|(axis, &at)| (Dim::tensor(axis), at)).collect();
            outs.pack(&named)
        };
        let mut ins = Space::default();
        let mut columns = Vec::new();
        for (dim, bits) in share.ins().iter().filter(|(dim, _)| *dim != Dim::BLOCK) {
            ins.push(dim, bits)?;
            for &column in share.columns_of(dim) {
                columns.push(pack(&unpack_coordinates(share, column))?);
            }
        }
        ins.push(Dim::BLOCK, self.0.len() as u32)?;
        for bit in &self.0 {
            columns.push(pack(bit)?);
        }
        LinearLayout::from_columns(ins, outs, &columns)
    }

    /// Returns the layout of a tensor with this division that coalesces accesses of row-major memory.
    ///
    /// # Errors
    /// [`MovementError`] if the launch's number of lanes or warps, or a size of the tensor, is not a power of two.
    pub fn coalesced_layout(&self, shape: &[u64], config: &LaunchConfig<'_>) -> Result<LinearLayout, MovementError> {
        let memory = GlobalTensor::row_major(&self.block_share_shape(shape), 4);
        let threads = [config.lanes, config.warps].map(u64::from);
        let share = config.context.find_coalesced_layout(&memory, 32, threads)?;
        Ok(self.extend_share_to_tensor(&to_canonical_dim_order(&share)?, shape)?)
    }
}

/// Returns the layout of a tensor that coalesces accesses of `memory` by all threads of a cluster. The blocks divide
/// the tensor along its first axes.
pub(crate) fn coalesced_over_blocks(
    memory: &GlobalTensor,
    element_bits: u32,
    config: &LaunchConfig<'_>,
) -> Result<LinearLayout, MovementError> {
    let threads = [config.lanes, config.warps].map(u64::from);
    if config.context.blocks == 1 {
        return config.context.find_coalesced_layout(memory, element_bits, threads);
    }
    let mut shape = vec![1; memory.axes.len()];
    for &(dim, size, _) in &memory.axes {
        if let Some(of_axis) = dim.as_tensor_axis().and_then(|axis| shape.get_mut(axis)) {
            *of_axis = size;
        }
    }
    let division = ClusterPartition::from_axes(&shape, &first_axes(&shape, config.context.blocks.trailing_zeros()));
    let (share, mut of_block) = (division.block_share_shape(&shape), memory.clone());
    for (dim, size, _) in &mut of_block.axes {
        *size = dim.as_tensor_axis().and_then(|axis| share.get(axis).copied()).unwrap_or(*size);
    }
    let layout = config.context.find_coalesced_layout(&of_block, element_bits, threads)?;
    Ok(division.extend_share_to_tensor(&to_canonical_dim_order(&layout)?, &shape)?)
}

/// Returns for each block bit the first axis that it can halve; `None` if no axis is left.
fn first_axes(shape: &[u64], block_bits: u32) -> Vec<Option<usize>> {
    let mut left = shape.to_vec();
    let halved = |_| {
        let axis = left.iter().position(|&size| size > 1)?;
        left[axis] /= 2;
        Some(axis)
    };
    (0..block_bits).map(halved).collect()
}

/// Returns a layout of the same tensor that gives each block all elements along the axes that `is_replicated` selects.
/// Block bits that move along such an axis number replicas, and additional registers hold the elements instead. `None`
/// if `layout` already has this form.
///
/// # Errors
/// [`LayoutError`] if an output dim of the layout is not a tensor axis.
pub fn replicate_axes_in_blocks(
    layout: &LinearLayout,
    is_replicated: impl Fn(usize) -> bool,
) -> Result<Option<LinearLayout>, LayoutError> {
    let layout = to_canonical_dim_order(layout)?;
    let moves = |column: u64| {
        let at = unpack_coordinates(&layout, column);
        at.iter().enumerate().any(|(axis, &by)| by != 0 && is_replicated(axis))
    };
    let (blocks, mut registers) = (layout.columns_of(Dim::BLOCK).to_vec(), layout.columns_of(Dim::REGISTER).to_vec());
    registers.extend(blocks.iter().copied().filter(|&column| moves(column)));
    if registers.len() == layout.in_bits(Dim::REGISTER) as usize {
        return Ok(None);
    }
    let blocks: Vec<u64> = blocks.iter().map(|&column| if moves(column) { 0 } else { column }).collect();
    let mut ins = Space::default();
    let mut columns = Vec::new();
    for (dim, of_dim) in [
        (Dim::REGISTER, &registers[..]),
        (Dim::LANE, layout.columns_of(Dim::LANE)),
        (Dim::WARP, layout.columns_of(Dim::WARP)),
        (Dim::BLOCK, &blocks),
    ] {
        ins.push(dim, of_dim.len() as u32)?;
        columns.extend_from_slice(of_dim);
    }
    LinearLayout::from_columns(ins, layout.outs().clone(), &columns).map(Some)
}
