//! Elementwise operations, whose tensors have one layout, and reductions, whose result forgets an axis.

use super::Unsatisfied;
use super::composite::{differs, named};
use tilewright_layout::{Dim, LinearLayout, Space};

/// Whether all tensors of an elementwise operation have the same layout; each comes with its name.
///
/// # Errors
/// [`Unsatisfied`] with the first register, lane or warp at which one has another element than the first.
pub fn elementwise(tensors: &[(&str, &LinearLayout)]) -> Result<(), Unsatisfied> {
    let Some((first, others)) = tensors.split_first() else { return Ok(()) };
    others.iter().try_for_each(|other| equal("elementwise", *first, *other))
}

/// The layout of a tensor that was reduced along an axis: the axis is forgotten, those behind it move up. Threads and
/// registers that differed along it hold the same.
///
/// # Errors
/// [`Unsatisfied::Layout`] where there is no such axis.
pub fn reduced(layout: &LinearLayout, axis: usize) -> Result<LinearLayout, Unsatisfied> {
    let gone = Dim::tensor(axis);
    if !layout.outs().contains(gone) {
        return Err(tilewright_layout::LayoutError::NoSuchDim { dim: gone }.into());
    }
    let dims: Vec<(Dim, u32)> = layout.outs().iter().filter(|(dim, _)| *dim != gone).collect();
    let mut outs = Space::default();
    for &(dim, bits) in &dims {
        let moved = dim.tensor_axis().map_or(dim, |own| Dim::tensor(if own > axis { own - 1 } else { own }));
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

/// Whether `result` is what is left of `layout` reduced along an axis, as each thread holds it.
///
/// # Errors
/// [`Unsatisfied`] with the register, lane or warp that leads elsewhere.
pub fn reduction(layout: &LinearLayout, result: &LinearLayout, axis: usize) -> Result<(), Unsatisfied> {
    // What registers repeat once the axis is gone may be held once.
    let whole = reduced(layout, axis)?;
    let once = whole.remove_zero_bases(Dim::REGISTER);
    let repeats = result.in_bits(Dim::REGISTER) == whole.in_bits(Dim::REGISTER);
    equal("reduce", ("the reduced tensor", if repeats { &whole } else { &once }), ("the result", result))
}

/// Whether two layouts are the same map.
pub(super) fn equal(
    constraint: &'static str,
    (first, left): (&str, &LinearLayout),
    (second, right): (&str, &LinearLayout),
) -> Result<(), Unsatisfied> {
    let sizes = |dim: Dim, a: u32, b: u32| match a == b {
        true => Ok(()),
        false => {
            Err(Unsatisfied::Sizes { constraint, dim, first: first.into(), second: second.into(), left: a, right: b })
        }
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
                Space::of_sizes(&[(dim, 1 << left.in_bits(dim))])?,
                left.outs().clone(),
                left.columns_of(dim),
            )?;
            return Err(differs(constraint, named(&own, bit), (first, a), (second, b), left.outs()));
        }
    }
    Ok(())
}
