//! From one block's tile to the layout of a whole tensor over a cluster.

use crate::layout::{Dim, FamilyError, FamilySpec, LayoutError, LinearLayout};

/// The tensor dims of a shape, `dim0` first.
#[must_use]
pub fn tensor_dims(rank: usize) -> Vec<Dim> {
    (0..rank).map(Dim::tensor).collect()
}

/// Checks what every family needs of a shape: axes that are powers of two, 64 bits at most.
///
/// # Errors
/// [`FamilyError::Shape`].
pub fn check_shape(spec: &FamilySpec, shape: &[u64]) -> Result<(), FamilyError> {
    let wrong = |message: String| FamilyError::Shape { family: spec.name.clone(), shape: shape.to_vec(), message };
    if shape.is_empty() || shape.len() > 16 {
        return Err(wrong(format!("a tensor has 1 to 16 axes, not {}", shape.len())));
    }
    let mut bits = 0;
    for (axis, &size) in shape.iter().enumerate() {
        if !size.is_power_of_two() {
            let message = format!("axis {axis} has {size} elements, which is no power of two: enlarge it and mask");
            return Err(wrong(message));
        }
        bits += size.trailing_zeros();
    }
    if bits > 64 {
        return Err(wrong(format!("{bits} bits of coordinates: at most 64 fit a layout")));
    }
    Ok(())
}

/// The direct sum of the identities over the axes in `order` (the fastest first), `sizes` being
/// listed by axis.
///
/// # Errors
/// A size that is no power of two; an order that repeats an axis gives the sum as it says.
pub fn identity_nd(input: Dim, sizes: &[u64], order: &[usize]) -> Result<LinearLayout, LayoutError> {
    order.iter().try_fold(LinearLayout::empty(), |sum, &axis| {
        sum.direct_sum(&LinearLayout::identity(sizes[axis], input, Dim::tensor(axis))?)
    })
}

/// As [`identity_nd`], but all positions along the axis `replicated` hold the same.
///
/// # Errors
/// As [`identity_nd`].
pub fn identity_but(
    replicated: usize,
    input: Dim,
    sizes: &[u64],
    order: &[usize],
) -> Result<LinearLayout, LayoutError> {
    order.iter().try_fold(LinearLayout::empty(), |sum, &axis| {
        let dim = Dim::tensor(axis);
        let part = if axis == replicated {
            LinearLayout::zeros(sizes[axis], input, dim, 1)?
        } else {
            LinearLayout::identity(sizes[axis], input, dim)?
        };
        sum.direct_sum(&part)
    })
}

/// The direct sum of identities given one by one as input, size and axis, the lowest bits first.
/// The result lists its axes in `order`, in which [`over_tensor`] repeats it.
///
/// # Errors
/// A size that is no power of two, or more than 64 bits.
pub fn tile_of(order: &[usize], parts: &[(Dim, u64, usize)]) -> Result<LinearLayout, LayoutError> {
    let listed = order.iter().map(|&axis| (Dim::REGISTER, 1, axis));
    listed.chain(parts.iter().copied()).try_fold(LinearLayout::empty(), |sum, (input, size, axis)| {
        sum.direct_sum(&LinearLayout::identity(size, input, Dim::tensor(axis))?)
    })
}

/// The axes of a tensor of this rank, the last one first: row-major order.
#[must_use]
pub fn row_major(rank: usize) -> Vec<usize> {
    (0..rank).rev().collect()
}

/// The part of the cluster in a spec: `cga_layout`, from bits of the block index to units of the
/// grid of blocks; without it, one block.
///
/// # Errors
/// [`FamilyError::Parameter`] where a basis has the wrong length, or no block has some unit.
pub fn cluster_layout(spec: &FamilySpec, bases: &[Vec<u64>], rank: usize) -> Result<LinearLayout, FamilyError> {
    let wrong = |message: String| FamilyError::Parameter {
        family: spec.name.clone(),
        parameter: "cga_layout".to_owned(),
        message,
    };
    if let Some(basis) = bases.iter().find(|basis| basis.len() != rank) {
        return Err(wrong(format!("a basis has {} coordinates, expected {rank}", basis.len())));
    }
    let extent = |axis: usize| bases.iter().fold(0, |all, basis| all | basis[axis]) + 1;
    let sizes: Vec<_> = (0..rank).map(|axis| (Dim::tensor(axis), extent(axis).next_power_of_two())).collect();
    let layout = LinearLayout::from_bases(&[(Dim::BLOCK, bases.to_vec())], &sizes);
    layout.and_then(LinearLayout::require_surjective).map_err(|error| wrong(error.to_string()))
}

/// The layout of a tensor of `shape` from one block's `tile` and the `cluster`: the tile is cut to
/// the block's share or repeated over it, axes in the order in which `tile` lists them, registers
/// taking the repetitions.
///
/// # Errors
/// More than 64 bits.
pub fn over_tensor(tile: &LinearLayout, cluster: &LinearLayout, shape: &[u64]) -> Result<LinearLayout, LayoutError> {
    let cluster = no_larger_than(cluster, shape)?;
    let share = share_of(shape, &cluster);
    let mut block = no_smaller_than(tile, &share, Dim::REGISTER)?;
    block = no_larger_than(&block, &share)?;
    let whole = block.transpose_outs(&tensor_dims(shape.len()))?.direct_sum(&cluster)?;
    whole.transpose_outs(&tensor_dims(shape.len()))
}

/// One block's share of a tensor of `shape`, by axis; the cluster is no larger than the tensor.
#[must_use]
pub fn share_of(shape: &[u64], cluster: &LinearLayout) -> Vec<u64> {
    let part = |(axis, &size): (usize, &u64)| size.checked_shr(cluster.out_bits(Dim::tensor(axis))).unwrap_or(0).max(1);
    shape.iter().enumerate().map(part).collect()
}

/// Cuts out dims that are larger than the shape: coordinates beyond it become replication.
///
/// # Errors
/// A size that is no power of two.
pub fn no_larger_than(layout: &LinearLayout, shape: &[u64]) -> Result<LinearLayout, LayoutError> {
    let sizes: Vec<(Dim, u64)> = tensor_dims(shape.len()).into_iter().zip(shape.iter().copied()).collect();
    layout.no_larger_than(&sizes)
}

/// Repeats a layout over out dims that are smaller than the shape, in the layout's order of out
/// dims, by more positions of `input`, which the result has even where nothing is repeated.
///
/// # Errors
/// More than 64 bits.
pub fn no_smaller_than(layout: &LinearLayout, shape: &[u64], input: Dim) -> Result<LinearLayout, LayoutError> {
    let mut result = layout.clone();
    for dim in layout.outs().dims() {
        let Some(&size) = dim.tensor_axis().and_then(|axis| shape.get(axis)) else { continue };
        let have = layout.out_bits(dim);
        let missing = size.trailing_zeros().saturating_sub(have);
        result = result.direct_sum(&LinearLayout::identity(1 << missing, input, dim)?)?;
    }
    Ok(result)
}
