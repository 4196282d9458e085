//! Division: a layout cut into a tile and the rest.

use super::composition::by_mode;
use super::{CuteError, CuteLayout, Tiler, complement, composition};

/// Divides a layout by a tiler into `(tile, rest)`: the elements that the tiler selects, and the positions at which the
/// tile repeats. A tiler of several modes divides each mode.
///
/// # Errors
/// As [`composition`] and [`complement`]; [`CuteError::TooManyModes`] if the tiler has more modes than the layout.
///
/// ```
/// use tilewright_layout::cute::{Tiler, logical_divide};
/// let divided = logical_divide(&"(4,2,3):(2,1,8)".parse()?, &Tiler::Layout("4:2".parse()?))?;
/// assert_eq!(divided.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
pub fn logical_divide(layout: &CuteLayout, tiler: &Tiler) -> Result<CuteLayout, CuteError> {
    match tiler {
        Tiler::Layout(tile) => {
            let rest = complement(tile, layout.size())?;
            composition(layout, &CuteLayout::from_modes(vec![tile.clone(), rest])?)
        }
        Tiler::Modes(tilers) => by_mode(layout, tilers, logical_divide),
    }
}

/// Divides as [`logical_divide`], then groups the modes as `((tile, tile, ...), (rest, rest, ...))`; modes without a
/// tiler are rest.
///
/// # Errors
/// As [`logical_divide`].
pub fn zipped_divide(layout: &CuteLayout, tiler: &Tiler) -> Result<CuteLayout, CuteError> {
    zip_modes(&logical_divide(layout, tiler)?, tiler)
}

/// Divides as [`logical_divide`], then groups the modes as `((tile, tile, ...), rest, rest, ...)`.
///
/// # Errors
/// As [`logical_divide`].
pub fn tiled_divide(layout: &CuteLayout, tiler: &Tiler) -> Result<CuteLayout, CuteError> {
    unpack_pair(&zipped_divide(layout, tiler)?, false)
}

/// Divides as [`logical_divide`], then groups the modes as `(tile, tile, ..., rest, rest, ...)`.
///
/// # Errors
/// As [`logical_divide`].
pub fn flat_divide(layout: &CuteLayout, tiler: &Tiler) -> Result<CuteLayout, CuteError> {
    unpack_pair(&zipped_divide(layout, tiler)?, true)
}

/// Regroups pairs that are nested as the tiler, `((a, b), (c, d), ...)`, to one pair `((a, c, ...), (b, d, ...))`.
pub(super) fn zip_modes(layout: &CuteLayout, tiler: &Tiler) -> Result<CuteLayout, CuteError> {
    let Tiler::Modes(tilers) = tiler else { return Ok(layout.clone()) };
    let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
    let modes = layout.modes();
    for (mode, tiler) in modes.iter().zip(tilers) {
        let pair = zip_modes(mode, tiler)?.modes();
        firsts.extend(pair.first().cloned());
        seconds.extend(pair.into_iter().skip(1));
    }
    seconds.extend(modes.into_iter().skip(tilers.len()));
    CuteLayout::from_modes(vec![CuteLayout::from_modes(firsts)?, CuteLayout::from_modes(seconds)?])
}

/// Replaces the second mode of a pair, and the first one too if `first_too`, by its own modes at the top.
pub(super) fn unpack_pair(pair: &CuteLayout, first_too: bool) -> Result<CuteLayout, CuteError> {
    let mut modes = Vec::new();
    for (at, mode) in pair.modes().into_iter().enumerate() {
        if at == 0 && !first_too { modes.push(mode) } else { modes.extend(mode.modes()) }
    }
    CuteLayout::from_modes(modes)
}
