//! Layouts of the same memory in elements of another width.

use super::{CuteError, CuteLayout, CuteLeaf, Tree};

/// The layout of the same memory in wider elements, each of `ratio` old elements: a mode of stride below `ratio` gets
/// fewer elements, other strides are divided by `ratio`. If the mode does not fill its last new element, the rest of
/// that element lies outside of the old layout.
///
/// # Errors
/// [`CuteError::NotDivisible`] if a stride neither divides nor is divided by `ratio`; [`CuteError::Inexact`] if the
/// modes of smaller stride reach beyond one new element together.
pub fn upcast(layout: &CuteLayout, ratio: u64) -> Result<CuteLayout, CuteError> {
    let operation = "upcast";
    let wrong = |number| CuteError::NotDivisible { operation, number, divisor: ratio };
    if ratio == 0 {
        return Err(wrong(0));
    }
    let wide = layout.tree().grow(&mut |&CuteLeaf { shape, stride }| {
        let mode = if stride == 0 || ratio == 1 {
            CuteLeaf { shape, stride }
        } else if stride.is_multiple_of(ratio) {
            CuteLeaf { shape, stride: stride / ratio }
        } else if ratio.is_multiple_of(stride) {
            CuteLeaf { shape: shape.div_ceil(ratio / stride), stride: 1 }
        } else {
            return Err(wrong(stride));
        };
        Ok(Tree::leaf(mode))
    })?;
    check_within_element(layout, ratio)?;
    CuteLayout::from_tree(wide)
}

/// Checks that each new element contains all old elements that the modes of stride below `ratio` reach together, given
/// that each of these modes alone stays within one new element.
fn check_within_element(layout: &CuteLayout, ratio: u64) -> Result<(), CuteError> {
    let (mut reach, mut index, mut domain) = (0u64, 0u64, 1u64);
    for mode in layout.leaf_modes() {
        if mode.stride != 0 && mode.stride < ratio {
            let digit = (mode.shape - 1).min(ratio / mode.stride - 1);
            reach = reach.saturating_add(digit * mode.stride);
            index += digit * domain;
        }
        domain = domain.saturating_mul(mode.shape);
    }
    if reach < ratio {
        return Ok(());
    }
    Err(CuteError::Inexact { operation: "upcast", index, exact: reach / ratio, candidate: 0 })
}

/// The layout of the same memory in narrower elements, `ratio` for each old element: a mode of stride 1 grows, the
/// other strides are multiplied, each mode separately as in CuTe. A layout with several modes of stride 1 grows in
/// each.
///
/// # Errors
/// [`CuteError::NotDivisible`] if `ratio` is 0, [`CuteError::Overflow`] if a size or stride does not fit 64 bits.
pub fn downcast(layout: &CuteLayout, ratio: u64) -> Result<CuteLayout, CuteError> {
    if ratio == 0 {
        return Err(CuteError::NotDivisible { operation: "downcast", number: 1, divisor: 0 });
    }
    let product = |a: u64| a.checked_mul(ratio).ok_or(CuteError::Overflow { what: "the narrower layout" });
    CuteLayout::from_tree(layout.tree().grow(&mut |&CuteLeaf { shape, stride }| {
        Ok(Tree::leaf(match stride {
            1 => CuteLeaf { shape: product(shape)?, stride },
            _ => CuteLeaf { shape, stride: product(stride)? },
        }))
    })?)
}

/// Converts a layout in elements of `old` bits to one of the same memory in elements of `new` bits.
///
/// # Errors
/// [`CuteError::NotDivisible`] if neither width divides the other, and as [`upcast`] and
/// [`downcast`].
pub fn recast(layout: &CuteLayout, old: u64, new: u64) -> Result<CuteLayout, CuteError> {
    match (new.checked_rem(old), old.checked_rem(new)) {
        (Some(0), Some(_)) => upcast(layout, new / old),
        (_, Some(0)) => downcast(layout, old / new),
        _ => Err(CuteError::NotDivisible { operation: "recast", number: old, divisor: new }),
    }
}
