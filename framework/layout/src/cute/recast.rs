//! Layouts of the same memory in elements of another width.

use super::{CuteError, CuteLayout, CuteMode, Tree};

/// The layout of elements each of which is `factor` old ones: a mode of stride below the factor
/// shrinks, the other strides are divided. The last element of a mode may be in part outside.
///
/// # Errors
/// [`CuteError::NotDivisible`] where a stride neither divides nor is divided by the factor;
/// [`CuteError::Inexact`] where old elements of one new element add up to the next one.
pub fn upcast(layout: &CuteLayout, factor: u64) -> Result<CuteLayout, CuteError> {
    let operation = "upcast";
    let wrong = |number| CuteError::NotDivisible { operation, number, divisor: factor };
    if factor == 0 {
        return Err(wrong(0));
    }
    let wide = layout.tree().grow(&mut |&CuteMode { shape, stride }| {
        let mode = if stride == 0 || factor == 1 {
            CuteMode { shape, stride }
        } else if stride.is_multiple_of(factor) {
            CuteMode { shape, stride: stride / factor }
        } else if factor.is_multiple_of(stride) {
            CuteMode { shape: shape.div_ceil(factor / stride), stride: 1 }
        } else {
            return Err(wrong(stride));
        };
        Ok(Tree::leaf(mode))
    })?;
    inside_one(layout, factor)?;
    CuteLayout::from_tree(wide)
}

/// The old elements that modes of small strides put into one new element must stay in it.
fn inside_one(layout: &CuteLayout, factor: u64) -> Result<(), CuteError> {
    let (mut reach, mut index, mut domain) = (0u64, 0u64, 1u64);
    for mode in layout.flat() {
        if mode.stride != 0 && mode.stride < factor {
            let digit = (mode.shape - 1).min(factor / mode.stride - 1);
            reach = reach.saturating_add(digit * mode.stride);
            index += digit * domain;
        }
        domain = domain.saturating_mul(mode.shape);
    }
    if reach < factor {
        return Ok(());
    }
    Err(CuteError::Inexact { operation: "upcast", index, exact: reach / factor, candidate: 0 })
}

/// The layout of elements of which `factor` are an old one: a mode of stride 1 grows, the other
/// strides are multiplied, each mode for itself as in CuTe. A layout with several modes of stride
/// 1 grows in each.
///
/// # Errors
/// [`CuteError::NotDivisible`] for 0, [`CuteError::Overflow`].
pub fn downcast(layout: &CuteLayout, factor: u64) -> Result<CuteLayout, CuteError> {
    if factor == 0 {
        return Err(CuteError::NotDivisible { operation: "downcast", number: 1, divisor: 0 });
    }
    let product = |a: u64| a.checked_mul(factor).ok_or(CuteError::Overflow { what: "the narrower layout" });
    CuteLayout::from_tree(layout.tree().grow(&mut |&CuteMode { shape, stride }| {
        Ok(Tree::leaf(match stride {
            1 => CuteMode { shape: product(shape)?, stride },
            _ => CuteMode { shape, stride: product(stride)? },
        }))
    })?)
}

/// The layout in elements of `new` bits of one in elements of `old` bits.
///
/// # Errors
/// [`CuteError::NotDivisible`] where neither width divides the other, and as [`upcast`] and
/// [`downcast`].
pub fn recast(layout: &CuteLayout, old: u64, new: u64) -> Result<CuteLayout, CuteError> {
    match (new.checked_rem(old), old.checked_rem(new)) {
        (Some(0), Some(_)) => upcast(layout, new / old),
        (_, Some(0)) => downcast(layout, old / new),
        _ => Err(CuteError::NotDivisible { operation: "recast", number: old, divisor: new }),
    }
}
