//! Constraints of elementwise operations, whose tensors have equal layouts, and of reductions, whose result lacks an
//! axis.

use super::LayoutConstraintError;
use super::composite::{differs, named};
use tilewright_layout::{Dim, LinearLayout, Space};

/// Checks that all tensors of an elementwise operation, each given by name and layout, have the same layout.
///
/// # Errors
/// [`LayoutConstraintError::Sizes`] if the sizes of another tensor's layout differ from the first's;
/// [`LayoutConstraintError::Differ`] if a register, lane or warp has different elements in the first tensor and in
/// another.
pub fn check_elementwise(tensors: &[(&str, &LinearLayout)]) -> Result<(), LayoutConstraintError> {
    let Some((first, others)) = tensors.split_first() else { return Ok(()) };
    others.iter().try_for_each(|other| equal("elementwise", *first, *other))
}

/// Returns the layout of a tensor after reduction along an axis: the axis is removed, and the number of each later axis
/// decreases by one. Threads and registers that differed along the axis become replicas.
///
/// # Errors
/// [`LayoutConstraintError::Layout`] if the axis does not exist.
pub fn solve_reduction(layout: &LinearLayout, axis: usize) -> Result<LinearLayout, LayoutConstraintError> {
    let removed_dim = Dim::tensor(axis);
    if !layout.outs().contains(removed_dim) {
        return Err(tilewright_layout::LayoutError::NoSuchDim { dim: removed_dim }.into());
    }
    let dims: Vec<(Dim, u32)> = layout.outs().iter().filter(|(dim, _)| *dim != removed_dim).collect();
    let mut outs = Space::default();
    for &(dim, bits) in &dims {
        let moved = dim.as_tensor_axis().map_or(dim, |own| Dim::tensor(if own > axis { own - 1 } else { own }));
        outs.push(moved, bits)?;
    }
    let column = |&packed: &u64| {
        let mut first = 0;
        dims.iter().fold(0, |all, &(dim, bits)| {
            let own = layout.outs().coordinate(packed, dim) << first;
            first += bits;
            all | own
        })
    };
    let columns: Vec<u64> = layout.columns().iter().map(column).collect();
    Ok(LinearLayout::from_columns(layout.ins().clone(), outs, &columns)?)
}

/// Checks that `result` is the layout of a tensor of layout `layout` after reduction along an axis, with or without the
/// registers that become replicas.
///
/// # Errors
/// [`LayoutConstraintError::Layout`] if the axis does not exist; [`LayoutConstraintError::Sizes`] if the sizes of
/// `result` differ from the reduced layout's; [`LayoutConstraintError::Differ`] if `result` maps a register, lane or
/// warp to another element.
pub fn check_reduction(layout: &LinearLayout, result: &LinearLayout, axis: usize) -> Result<(), LayoutConstraintError> {
    // The result may lack the registers that become replicas when the axis is removed.
    let with_repeats = solve_reduction(layout, axis)?;
    let once = with_repeats.remove_zero_bases(Dim::REGISTER);
    let repeats = result.in_bits(Dim::REGISTER) == with_repeats.in_bits(Dim::REGISTER);
    equal("reduce", ("the reduced tensor", if repeats { &with_repeats } else { &once }), ("the result", result))
}

/// Checks that two layouts, each with its name for the error, have equal sizes and map each position to the same
/// element.
pub(super) fn equal(
    constraint: &'static str,
    (first, left): (&str, &LinearLayout),
    (second, right): (&str, &LinearLayout),
) -> Result<(), LayoutConstraintError> {
    let sizes = |dim: Dim, a: u32, b: u32| match a == b {
        true => Ok(()),
        false => Err(LayoutConstraintError::Sizes {
            constraint,
            dim,
            first: first.into(),
            second: second.into(),
            left: a,
            right: b,
        }),
    };
    for dim in [Dim::REGISTER, Dim::LANE, Dim::WARP, Dim::BLOCK] {
        sizes(dim, left.in_bits(dim), right.in_bits(dim))?;
    }
    for (dim, bits) in left.outs().iter() {
        sizes(dim, bits, right.out_bits(dim))?;
    }
    let order: Vec<Dim> = left.outs().dims().collect();
    let ins: Vec<Dim> = left.ins().dims().collect();
    let right = right.transpose_outs(&order)?;
    for dim in ins {
        let pairs = left.columns_of(dim).iter().zip(right.columns_of(dim));
        if let Some((bit, (&a, &b))) = pairs.enumerate().find(|(_, (a, b))| a != b) {
            let own = LinearLayout::from_columns(
                Space::from_sizes(&[(dim, 1 << left.in_bits(dim))])?,
                left.outs().clone(),
                left.columns_of(dim),
            )?;
            return Err(differs(constraint, named(&own, bit), (first, a), (second, b), left.outs()));
        }
    }
    Ok(())
}
