//! Complement, inverses, and what two layouts have in common.

use super::coalesce::coalesced;
use super::composition::MOST_POINTS;
use super::{CuteError, CuteLayout, CuteMode, composition};

/// Modes with their stride in the integer coordinate, the smallest stride first; no mode of size 1.
fn by_stride(layout: &CuteLayout) -> Vec<(CuteMode, u64)> {
    let mut domain = 1u64;
    let mut modes: Vec<_> = layout
        .flat()
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

/// The layout of what `layout` leaves out: strictly increasing, each of its values but 0 outside of
/// `layout`, and each integer below `size` exactly one sum of a value of both.
///
/// # Errors
/// [`CuteError::NotInjective`] (modes of stride 0 aside, which are ignored), [`CuteError::NoComplement`]
/// where the gaps are not all alike, [`CuteError::Overflow`].
///
/// ```
/// use tilewright_layout::cute::complement;
/// assert_eq!(complement(&"(2,2):(1,6)".parse()?, 24)?.to_string(), "(3,2):(2,12)");
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
pub fn complement(layout: &CuteLayout, size: u64) -> Result<CuteLayout, CuteError> {
    let (mut block, mut gaps, mut below) = (1u64, Vec::new(), Vec::new());
    for (mode, domain) in by_stride(layout).into_iter().filter(|(mode, _)| mode.stride != 0) {
        let CuteMode { shape, stride } = mode;
        if stride % block != 0 {
            let start = stride - stride % block;
            if let Some(first) = coordinate_of(&below, stride) {
                let operation = "complement";
                return Err(CuteError::NotInjective { operation, first, second: domain, value: stride });
            }
            return Err(CuteError::NoComplement { stride, block, start });
        }
        gaps.push(CuteMode { shape: stride / block, stride: block });
        block = shape.checked_mul(stride).ok_or(CuteError::Overflow { what: "the completed layout" })?;
        below.push((mode, domain));
    }
    gaps.push(CuteMode { shape: size.div_ceil(block).max(1), stride: block });
    CuteLayout::of_flat(&coalesced(&gaps))
}

/// The coordinate at which modes, the smallest stride first, have a value.
fn coordinate_of(modes: &[(CuteMode, u64)], value: u64) -> Option<u64> {
    let (mut rest, mut index) = (value, 0u64);
    for (mode, domain) in modes.iter().rev() {
        let digit = (rest / mode.stride).min(mode.shape - 1);
        rest -= digit * mode.stride;
        index = index.checked_add(digit.checked_mul(*domain)?)?;
    }
    (rest == 0).then_some(index)
}

/// The largest layout `r` with `layout(r(i)) == i` that the strides 1, and on from there, give.
///
/// # Errors
/// [`CuteError::Overflow`].
pub fn right_inverse(layout: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let (mut next, mut modes) = (1u64, Vec::new());
    for (mode, domain) in by_stride(layout).into_iter().filter(|(mode, _)| mode.stride != 0) {
        if mode.stride != next {
            break;
        }
        next = mode.shape.checked_mul(next).ok_or(CuteError::Overflow { what: "the inverse" })?;
        modes.push(CuteMode { shape: mode.shape, stride: domain });
    }
    CuteLayout::of_flat(&coalesced(&modes))
}

/// A layout `l` with `l(layout(i)) == i`.
///
/// Values that `layout` leaves out are counted behind those that it has, where it has a complement.
///
/// # Errors
/// [`CuteError::NotInjective`]; [`CuteError::NotUndone`] with a value that division by the strides
/// does not send back; [`CuteError::TooManyPoints`], [`CuteError::Overflow`].
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

/// Each digit read off by dividing by its stride. Right where each stride divides the next and no
/// digit reaches it; elsewhere looked at point by point.
fn divided_inverse(layout: &CuteLayout, modes: &[(CuteMode, u64)]) -> Result<CuteLayout, CuteError> {
    let mut digits = vec![CuteMode { shape: modes.first().map_or(1, |(mode, _)| mode.stride), stride: 0 }];
    for (at, (mode, domain)) in modes.iter().enumerate() {
        let room = modes.get(at + 1).map_or(mode.shape, |(next, _)| next.stride / mode.stride);
        digits.push(CuteMode { shape: room, stride: *domain });
    }
    let inverse = CuteLayout::of_flat(&coalesced(&digits))?;
    let divides = |pair: &[(CuteMode, u64)]| {
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

/// The coordinates that a layout sends to 0: a layout of the modes of stride 0.
///
/// # Errors
/// [`CuteError::Overflow`].
pub fn nullspace(layout: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let kept = by_stride(layout).into_iter().filter(|(mode, _)| mode.stride == 0);
    let mut kept: Vec<_> = kept.map(|(mode, domain)| CuteMode { shape: mode.shape, stride: domain }).collect();
    kept.sort_by_key(|mode| mode.stride);
    CuteLayout::of_flat(&coalesced(&kept))
}

/// The largest layout `r`, begun from the right inverse of `right`, with `left(r(i)) == right(r(i)) == i`.
///
/// # Errors
/// [`CuteError::Overflow`].
pub fn max_common_layout(left: &CuteLayout, right: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let modes = right_inverse(right)?.flat();
    for kept in (0..=modes.len()).rev() {
        let inverse = CuteLayout::of_flat(&modes[..kept])?;
        let Ok(common) = composition(left, &inverse) else { continue };
        let first = coalesced(&common.flat()).first().copied();
        let Some(CuteMode { shape, stride: 1 }) = first else { return CuteLayout::of(1, 0) };
        return composition(&inverse, &CuteLayout::of(shape, 1)?);
    }
    CuteLayout::of(1, 0)
}

/// The size of [`max_common_layout`]: so many elements lie one behind the other in both.
///
/// # Errors
/// As [`max_common_layout`].
pub fn max_common_vector(left: &CuteLayout, right: &CuteLayout) -> Result<u64, CuteError> {
    Ok(max_common_layout(left, right)?.size())
}
