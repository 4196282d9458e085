//! Complement, inverses, and common parts of two layouts.

use super::coalesce::coalesce_modes;
use super::composition::MOST_POINTS;
use super::{CuteError, CuteLayout, CuteLeaf, composition};

/// Returns the modes of a layout except those of size 1, in ascending order of stride. Each comes with the product of
/// the sizes of the modes before it in the layout, by which its index counts in the integer coordinate.
fn by_stride(layout: &CuteLayout) -> Vec<(CuteLeaf, u64)> {
    let mut domain = 1u64;
    let mut modes: Vec<_> = layout
        .leaf_modes()
        .into_iter()
        .map(|mode| {
            let at = domain;
            domain = domain.saturating_mul(mode.shape);
            (mode, at)
        })
        .filter(|(mode, _)| mode.shape != 1)
        .collect();
    modes.sort_by_key(|(mode, _)| (mode.stride, mode.shape));
    modes
}

/// The complement: a layout of the values that `layout` leaves out. Its values are strictly increasing, all but 0 are
/// outside of `layout`, and each integer below `size` is the sum of exactly one value of `layout` and one of the
/// complement.
///
/// # Errors
/// [`CuteError::NotInjective`] if two coordinates have the same value (modes of stride 0 are ignored),
/// [`CuteError::NoComplement`] if the gaps between the values are not all alike, [`CuteError::Overflow`] if a value
/// does not fit 64 bits.
///
/// ```
/// use tilewright_layout::cute::complement;
/// assert_eq!(complement(&"(2,2):(1,6)".parse()?, 24)?.to_string(), "(3,2):(2,12)");
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
pub fn complement(layout: &CuteLayout, size: u64) -> Result<CuteLayout, CuteError> {
    let (mut block, mut gaps, mut below) = (1u64, Vec::new(), Vec::new());
    for (mode, domain) in by_stride(layout).into_iter().filter(|(mode, _)| mode.stride != 0) {
        let CuteLeaf { shape, stride } = mode;
        if stride % block != 0 {
            let start = stride - stride % block;
            if let Some(first) = coordinate_of(&below, stride) {
                let operation = "complement";
                return Err(CuteError::NotInjective { operation, first, second: domain, value: stride });
            }
            return Err(CuteError::NoComplement { stride, block, start });
        }
        gaps.push(CuteLeaf { shape: stride / block, stride: block });
        block = shape.checked_mul(stride).ok_or(CuteError::Overflow { what: "the completed layout" })?;
        below.push((mode, domain));
    }
    gaps.push(CuteLeaf { shape: size.div_ceil(block).max(1), stride: block });
    CuteLayout::from_flat_modes(&coalesce_modes(&gaps))
}

/// Returns the integer coordinate at which the modes, with ascending strides, have this value; `None` if there is none.
/// Each mode comes with the stride of its index in the integer coordinate.
fn coordinate_of(modes: &[(CuteLeaf, u64)], value: u64) -> Option<u64> {
    let (mut rest, mut index) = (value, 0u64);
    for (mode, domain) in modes.iter().rev() {
        let digit = (rest / mode.stride).min(mode.shape - 1);
        rest -= digit * mode.stride;
        index = index.checked_add(digit.checked_mul(*domain)?)?;
    }
    (rest == 0).then_some(index)
}

/// The largest layout `r` with `layout(r(i)) == i`, built from the modes that continue stride 1.
///
/// # Errors
/// [`CuteError::Overflow`] if a value does not fit 64 bits.
pub fn right_inverse(layout: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let (mut next, mut modes) = (1u64, Vec::new());
    for (mode, domain) in by_stride(layout).into_iter().filter(|(mode, _)| mode.stride != 0) {
        if mode.stride != next {
            break;
        }
        next = mode.shape.checked_mul(next).ok_or(CuteError::Overflow { what: "the inverse" })?;
        modes.push(CuteLeaf { shape: mode.shape, stride: domain });
    }
    CuteLayout::from_flat_modes(&coalesce_modes(&modes))
}

/// A left inverse: a layout `l` with `l(layout(i)) == i`.
///
/// If `layout` has a complement, the left inverse maps the values outside of `layout` to the integers from its size on.
///
/// # Errors
/// [`CuteError::NotInjective`] if two coordinates have the same value; [`CuteError::NotUndone`] with a value that
/// division by the strides does not map back; [`CuteError::TooManyPoints`] if the layout is too large to check every
/// point; [`CuteError::Overflow`] if a value does not fit 64 bits.
pub fn left_inverse(layout: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let modes = by_stride(layout);
    if let Some((_, second)) = modes.iter().find(|(mode, _)| mode.stride == 0) {
        return Err(CuteError::NotInjective { operation: "left inverse", first: 0, second: *second, value: 0 });
    }
    match complement(layout, 1) {
        Ok(rest) => right_inverse(&CuteLayout::from_modes(vec![layout.clone(), rest])?),
        Err(CuteError::NoComplement { .. }) => divided_inverse(layout, &modes),
        Err(CuteError::NotInjective { first, second, value, .. }) => {
            Err(CuteError::NotInjective { operation: "left inverse", first, second, value })
        }
        Err(other) => Err(other),
    }
}

/// The left inverse that derives each digit of the coordinate by dividing the value by the mode's stride. It is right
/// if each stride divides the next one and no mode reaches the next stride; otherwise it is checked at every point.
fn divided_inverse(layout: &CuteLayout, modes: &[(CuteLeaf, u64)]) -> Result<CuteLayout, CuteError> {
    let mut digits = vec![CuteLeaf { shape: modes.first().map_or(1, |(mode, _)| mode.stride), stride: 0 }];
    for (at, (mode, domain)) in modes.iter().enumerate() {
        let room = modes.get(at + 1).map_or(mode.shape, |(next, _)| next.stride / mode.stride);
        digits.push(CuteLeaf { shape: room, stride: *domain });
    }
    let inverse = CuteLayout::from_flat_modes(&coalesce_modes(&digits))?;
    let divides = |pair: &[(CuteLeaf, u64)]| {
        let (mode, next) = (pair[0].0, pair[1].0.stride);
        next.is_multiple_of(mode.stride) && mode.shape <= next / mode.stride
    };
    if !modes.windows(2).all(divides) {
        looked_at(layout, &inverse)?;
    }
    Ok(inverse)
}

fn looked_at(layout: &CuteLayout, inverse: &CuteLayout) -> Result<(), CuteError> {
    let operation = "left inverse";
    let mut first = std::collections::HashMap::new();
    for (index, value) in (0..MOST_POINTS).zip(layout.values()) {
        if let Some(first) = first.insert(value, index) {
            return Err(CuteError::NotInjective { operation, first, second: index, value });
        }
        let found = inverse.at(value)?;
        if found != index {
            return Err(CuteError::NotUndone { value, index, found });
        }
    }
    let (points, most) = (layout.size(), MOST_POINTS);
    if points > most { Err(CuteError::TooManyPoints { operation, points, most }) } else { Ok(()) }
}

/// The layout of the coordinates that a layout maps to 0, built from its modes of stride 0.
///
/// # Errors
/// [`CuteError::Overflow`] if a value does not fit 64 bits.
pub fn nullspace(layout: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let kept = by_stride(layout).into_iter().filter(|(mode, _)| mode.stride == 0);
    let mut kept: Vec<_> = kept.map(|(mode, domain)| CuteLeaf { shape: mode.shape, stride: domain }).collect();
    kept.sort_by_key(|mode| mode.stride);
    CuteLayout::from_flat_modes(&coalesce_modes(&kept))
}

/// The largest layout `r` with `left(r(i)) == right(r(i)) == i`, built from the right inverse of `right`.
///
/// # Errors
/// [`CuteError::Overflow`] if a value does not fit 64 bits.
pub fn max_common_layout(left: &CuteLayout, right: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let modes = right_inverse(right)?.leaf_modes();
    for kept in (0..=modes.len()).rev() {
        let inverse = CuteLayout::from_flat_modes(&modes[..kept])?;
        let Ok(common) = composition(left, &inverse) else { continue };
        let first = coalesce_modes(&common.leaf_modes()).first().copied();
        let Some(CuteLeaf { shape, stride: 1 }) = first else { return CuteLayout::single_mode(1, 0) };
        return composition(&inverse, &CuteLayout::single_mode(shape, 1)?);
    }
    CuteLayout::single_mode(1, 0)
}

/// The size of [`max_common_layout`]: the number of elements that are contiguous in both.
///
/// # Errors
/// As [`max_common_layout`].
pub fn max_common_vector(left: &CuteLayout, right: &CuteLayout) -> Result<u64, CuteError> {
    Ok(max_common_layout(left, right)?.size())
}
