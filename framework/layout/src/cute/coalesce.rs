//! Coalescing: the same map with fewer modes.

use super::tuple::TupleView;
use super::{CuteError, CuteLayout, CuteLeaf, IntTuple};

/// Drops modes of size 1 and joins neighbours that continue each other; order stays.
pub(super) fn coalesce_modes(flat: &[CuteLeaf]) -> Vec<CuteLeaf> {
    join_modes(flat.iter().copied().filter(|mode| mode.shape != 1), |last, next| {
        let continues = last.shape.checked_mul(last.stride) == Some(next.stride);
        continues.then(|| CuteLeaf { shape: last.shape.saturating_mul(next.shape), stride: last.stride })
    })
}

/// Replaces neighbours by the mode that `join` returns for them, if it returns one.
pub(super) fn join_modes<M: Copy>(modes: impl Iterator<Item = M>, join: impl Fn(M, M) -> Option<M>) -> Vec<M> {
    let mut joined: Vec<M> = Vec::new();
    for mode in modes {
        match joined.last_mut().and_then(|last| Some((join(*last, mode)?, last))) {
            Some((both, last)) => *last = both,
            None => joined.push(mode),
        }
    }
    joined
}

/// Coalesces modes whose last one is unbounded, so that it counts even if its size is 1 (CuTe `coalesce_x`). The size
/// of the last mode of the result has no meaning.
pub(super) fn coalesce_unbounded(flat: &[CuteLeaf]) -> Vec<CuteLeaf> {
    let mut flat = flat.to_vec();
    if let Some(last) = flat.last_mut() {
        last.shape = last.shape.max(2);
    }
    coalesce_modes(&flat)
}

/// The same map, without nesting and with as few modes as possible; `1:0` if no mode remains.
///
/// # Errors
/// None for a valid layout; it returns a `Result` as every operation does.
pub fn coalesce(layout: &CuteLayout) -> Result<CuteLayout, CuteError> {
    CuteLayout::from_flat_modes(&coalesce_modes(&layout.leaf_modes()))
}

/// Coalesces, for each leaf of the tuple `profile`, the mode of the layout at its position; modes beyond the profile
/// stay.
///
/// # Errors
/// [`CuteError::TooManyModes`] if the profile has more modes than the layout.
pub fn coalesce_by(layout: &CuteLayout, profile: &IntTuple) -> Result<CuteLayout, CuteError> {
    let TupleView::Tuple(profiles) = profile.view() else {
        return coalesce(layout);
    };
    if profiles.len() > layout.rank() {
        let (have, most) = (profiles.len(), layout.rank());
        return Err(CuteError::TooManyModes { what: "the profile", have, most });
    }
    let mut modes = layout.modes();
    for (mode, profile) in modes.iter_mut().zip(profiles) {
        *mode = coalesce_by(mode, profile)?;
    }
    CuteLayout::from_modes(modes)
}

/// Drops the modes of stride 0, which only repeat values, and coalesces the remaining modes.
///
/// # Errors
/// None for a valid layout; it returns a `Result` as every operation does.
pub fn filter(layout: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let kept: Vec<_> = layout.leaf_modes().into_iter().filter(|mode| mode.stride != 0).collect();
    CuteLayout::from_flat_modes(&coalesce_modes(&kept))
}

/// The layout with every mode of stride 0 given size 1; the nesting stays.
///
/// # Errors
/// None for a valid layout; it returns a `Result` as every operation does.
pub fn filter_zeros(layout: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let kept = layout.tree().map(|mode| if mode.stride == 0 { CuteLeaf { shape: 1, stride: 0 } } else { *mode });
    CuteLayout::from_tree(kept)
}
