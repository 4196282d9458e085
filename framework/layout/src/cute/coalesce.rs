//! The same map with fewer modes.

use super::tuple::TupleView;
use super::{CuteError, CuteLayout, CuteMode, IntTuple};

/// Drops modes of size 1 and joins neighbours that continue each other; order stays.
pub(super) fn coalesced(flat: &[CuteMode]) -> Vec<CuteMode> {
    let mut joined: Vec<CuteMode> = Vec::with_capacity(flat.len());
    for &mode in flat.iter().filter(|mode| mode.shape != 1) {
        match joined.last_mut() {
            Some(last) if last.shape.checked_mul(last.stride) == Some(mode.stride) => last.shape *= mode.shape,
            _ => joined.push(mode),
        }
    }
    joined
}

/// The same map, flat, with as few modes as possible; `1:0` where nothing is left.
///
/// # Errors
/// None for a layout that exists; the type is that of every operation.
pub fn coalesce(layout: &CuteLayout) -> Result<CuteLayout, CuteError> {
    CuteLayout::of_flat(&coalesced(&layout.flat()))
}

/// Coalesces the modes under each leaf of a profile; modes that the profile does not name stay.
///
/// # Errors
/// [`CuteError::TooManyModes`] where the profile has more modes than the layout.
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

/// The layout of the same values, each as often as modes of stride 0 do not repeat it: modes of
/// stride 0 and size 1 are gone, the rest is coalesced.
///
/// # Errors
/// None for a layout that exists; the type is that of every operation.
pub fn filter(layout: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let kept: Vec<_> = layout.flat().into_iter().filter(|mode| mode.stride != 0).collect();
    CuteLayout::of_flat(&coalesced(&kept))
}

/// The layout with every mode of stride 0 given size 1; the nesting stays.
///
/// # Errors
/// None for a layout that exists; the type is that of every operation.
pub fn filter_zeros(layout: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let kept = layout.tree().map(|mode| if mode.stride == 0 { CuteMode { shape: 1, stride: 0 } } else { *mode });
    CuteLayout::from_tree(kept)
}
