//! Extends one block's tile to the layout of a whole tensor over the blocks of a cluster.

use smallvec::SmallVec;

use crate::{Dim, FamilyError, FamilySpec, IntVec, LayoutError, LinearLayout, Space};

pub use super::tile::{
    TileMode, direct_sum_of_modes, identity_modes, identity_nd, row_major_axis_order, tile_from_identities,
};
use super::tile::{block_of, direct_sum_of, tensor_space};

/// The tensor dims of a shape, `dim0` first.
#[must_use]
pub fn tensor_dims_of_rank(rank: usize) -> SmallVec<[Dim; 8]> {
    (0..rank).map(Dim::tensor).collect()
}

/// Checks the requirements of every family on a shape: 1 to 16 axes, sizes that are powers of two, and coordinates of
/// at most 64 bits together.
///
/// # Errors
/// [`FamilyError::Shape`] if the shape violates a requirement.
pub fn check_family_shape(spec: &FamilySpec, shape: &[u64]) -> Result<(), FamilyError> {
    let wrong = |message: String| FamilyError::Shape { family: spec.name.clone(), shape: shape.to_vec(), message };
    if shape.is_empty() || shape.len() > 16 {
        return Err(wrong(format!("a tensor has 1 to 16 axes, not {}", shape.len())));
    }
    let mut bits = 0;
    for (axis, &size) in shape.iter().enumerate() {
        if !size.is_power_of_two() {
            let message = format!("axis {axis} has {size} elements, which is not a power of two: enlarge it and mask");
            return Err(wrong(message));
        }
        bits += size.trailing_zeros();
    }
    if bits > 64 {
        return Err(wrong(format!("{bits} bits of coordinates: at most 64 fit a layout")));
    }
    Ok(())
}

/// The layout of a cluster's blocks over the grid of blocks of a tensor: from bits of the block index to coordinates of
/// the grid. `bases` is the parameter `cga_layout` of `spec`; without bases there is one block.
///
/// # Errors
/// [`FamilyError::Parameter`] if a basis has the wrong length, or some position of the grid has no block.
pub fn cluster_layout(spec: &FamilySpec, bases: &[Vec<u64>], rank: usize) -> Result<LinearLayout, FamilyError> {
    let wrong = |message: String| FamilyError::Parameter {
        family: spec.name.clone(),
        parameter: "cga_layout".to_owned(),
        message,
    };
    if let Some(basis) = bases.iter().find(|basis| basis.len() != rank) {
        return Err(wrong(format!("a basis has {} coordinates, expected {rank}", basis.len())));
    }
    let build = || -> Result<LinearLayout, LayoutError> {
        let mut outs = Space::default();
        if bases.is_empty() {
            let ins = Space::from_sizes(&[(Dim::BLOCK, 1)])?;
            return Ok(LinearLayout { ins, outs: tensor_space(&IntVec::from_elem(1, rank))?, ..LinearLayout::empty() });
        }
        for axis in 0..rank {
            let extent = bases.iter().fold(0, |all, basis| all | basis[axis]);
            outs.push_new(Dim::tensor(axis), 64 - extent.leading_zeros())?;
        }
        let lists = bases.iter().map(|basis| basis.iter().copied());
        LinearLayout::from_lists([(Dim::BLOCK, lists)].into_iter(), outs)?.require_surjective()
    };
    build().map_err(|error| wrong(error.to_string()))
}

/// The layout of a tensor of `shape` from one block's `tile` and the layout `cluster` of the blocks: the tile is cut to
/// the block's share or repeated over it. Registers take the repetitions, axes in the order that `tile` lists them in.
///
/// # Errors
/// The inputs or the outputs have more than 64 bits together.
pub fn extend_tile_to_tensor(
    tile: &LinearLayout,
    cluster: &LinearLayout,
    shape: &[u64],
) -> Result<LinearLayout, LayoutError> {
    extend_tile_to_tensor_by_input_dim(Dim::REGISTER, tile, cluster, shape)
}

/// As [`extend_tile_to_tensor`], but positions of the dim `input` take the repetitions.
///
/// # Errors
/// The inputs or the outputs have more than 64 bits together.
pub fn extend_tile_to_tensor_by_input_dim(
    input: Dim,
    tile: &LinearLayout,
    cluster: &LinearLayout,
    shape: &[u64],
) -> Result<LinearLayout, LayoutError> {
    if cluster.outs.total_bits() == 0 {
        return with_cluster(tile.fitted(tensor_space(shape)?, input)?, cluster);
    }
    let cluster = ensure_layout_not_larger_than(cluster, shape)?;
    let share = block_share_shape(shape, &cluster);
    with_cluster(tile.fitted(tensor_space(&share)?, input)?, &cluster)
}

/// The layout of a tensor of `shape` from the parts of one block's tile (registers, lanes and warps) and the bases
/// `cluster` of the cluster's blocks: the tile is cut to the block's share or repeated over it by registers, axis by
/// axis in `order`.
///
/// # Errors
/// As [`cluster_layout`]; sizes that are not powers of two; more than 64 bits.
pub fn tensor_layout_from_block_tile(
    spec: &FamilySpec,
    modes: impl Iterator<Item = TileMode> + Clone,
    order: &[usize],
    cluster: &[Vec<u64>],
    shape: &[u64],
) -> Result<LinearLayout, FamilyError> {
    let failed = |error: LayoutError| FamilyError::from_layout_error(&spec.name, &error);
    if cluster.is_empty() {
        return block_of(modes, order, shape).map_err(failed);
    }
    let cluster = ensure_layout_not_larger_than(&cluster_layout(spec, cluster, shape.len())?, shape).map_err(failed)?;
    let block = block_of(modes, order, &block_share_shape(shape, &cluster));
    block.and_then(|block| with_cluster(block, &cluster)).map_err(failed)
}

/// The layout of a tensor of `shape` over the blocks of a cluster with the bases `cluster`; `block` builds the layout
/// of one block's share from the share's shape.
///
/// # Errors
/// Errors of `block` and of [`cluster_layout`], or more than 64 bits.
pub fn extend_to_blocks(
    spec: &FamilySpec,
    cluster: &[Vec<u64>],
    shape: &[u64],
    block: impl FnOnce(&[u64]) -> Result<LinearLayout, FamilyError>,
) -> Result<LinearLayout, FamilyError> {
    let failed = |error: LayoutError| FamilyError::from_layout_error(&spec.name, &error);
    if cluster.is_empty() {
        let mut single_block = block(shape)?;
        single_block.ins.push(Dim::BLOCK, 0).map_err(failed)?;
        return Ok(single_block);
    }
    let cluster = ensure_layout_not_larger_than(&cluster_layout(spec, cluster, shape.len())?, shape).map_err(failed)?;
    with_cluster(block(&block_share_shape(shape, &cluster))?, &cluster).map_err(failed)
}

/// Fits `layout` to exactly the given shape, with the out dims listed from `dim0` on: it is cut as
/// [`ensure_layout_not_larger_than`] cuts it, and repeated as [`ensure_layout_not_smaller_than`] repeats it.
///
/// # Errors
/// The layout's out dims are not the axes of the shape, or more than 64 bits.
pub fn fit_layout_to_shape(layout: &LinearLayout, shape: &[u64], input: Dim) -> Result<LinearLayout, LayoutError> {
    layout.fitted(tensor_space(shape)?, input)
}

/// Adds the blocks of the layout `cluster` to one block's layout `block`, which lists the same axes.
fn with_cluster(mut block: LinearLayout, cluster: &LinearLayout) -> Result<LinearLayout, LayoutError> {
    if !cluster.columns.is_empty() || cluster.outs.total_bits() > 0 {
        return block.direct_sum(cluster);
    }
    for dim in cluster.ins.dims() {
        if !block.ins.contains(dim) {
            block.ins.push_new(dim, 0)?;
        }
    }
    Ok(block)
}

/// The shape of one block's share of a tensor of `shape`; the cluster must not be larger than the tensor along any
/// axis.
#[must_use]
pub fn block_share_shape(shape: &[u64], cluster: &LinearLayout) -> IntVec {
    let block_size =
        |(axis, &size): (usize, &u64)| size.checked_shr(cluster.out_bits(Dim::tensor(axis))).unwrap_or(0).max(1);
    shape.iter().enumerate().map(block_size).collect()
}

/// Cuts the out dims that are larger than the shape: coordinates beyond it become replication (zero bases).
///
/// # Errors
/// A size that is no power of two.
pub fn ensure_layout_not_larger_than(layout: &LinearLayout, shape: &[u64]) -> Result<LinearLayout, LayoutError> {
    let sizes: SmallVec<[(Dim, u64); 8]> =
        shape.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size)).collect();
    layout.ensure_not_larger_than(&sizes)
}

/// Repeats a layout over the out dims that are smaller than the shape, in the layout's order of out dims; further
/// positions of the dim `input` take the repetitions. The result has `input` even without repetitions.
///
/// # Errors
/// The inputs or the outputs have more than 64 bits together.
pub fn ensure_layout_not_smaller_than(
    layout: &LinearLayout,
    shape: &[u64],
    input: Dim,
) -> Result<LinearLayout, LayoutError> {
    let missing = layout.outs().iter().filter_map(|(dim, have)| {
        let axis = dim.as_tensor_axis()?;
        let size = shape.get(axis)?;
        Some(TileMode::from((input, 1 << size.trailing_zeros().saturating_sub(have), axis)))
    });
    layout.direct_sum(&direct_sum_of(missing)?)
}
