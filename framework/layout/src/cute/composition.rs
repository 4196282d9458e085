//! Composition: the layout of `outer(inner(c))`, exact or rejected with a counterexample.
//!
//! Each mode of the inner layout has at most one result, since a flat coalesced layout is determined by its values. If
//! the strides divide the outer sizes, the result follows from strides and sizes. It is exact if the indices that the
//! inner modes reach in an outer mode never add up to the outer mode's size, so that no addition carries into the next
//! outer mode. Otherwise the result is derived from values and checked at every point.

use super::coalesce::coalesce_unbounded;
use super::layout::value_at;
use super::{CuteError, CuteLayout, CuteLeaf, IntTuple, TupleView};

/// Maximum number of points at which a result is checked if strides and sizes do not decide whether it is exact; a
/// result with more points is rejected as [`CuteError::TooManyPoints`].
pub(super) const MOST_POINTS: u64 = 1 << 20;

const NAME: &str = "composition";

/// A tiler of CuTe: one layout that tiles a layout as a whole, or a tiler for each of a layout's first modes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Tiler {
    /// One layout over integer coordinates.
    Layout(CuteLayout),
    /// A tiler for each of the first modes; later modes stay.
    Modes(Vec<Tiler>),
}

impl Tiler {
    /// Creates the tiler of a tile shape: each integer `n` of the shape becomes the layout `n:1`, which cuts its mode
    /// into tiles of `n` consecutive elements.
    ///
    /// # Errors
    /// As [`CuteLayout::new`].
    pub fn from_shape(shape: &IntTuple) -> Result<Self, CuteError> {
        match shape.view() {
            TupleView::Leaf(&size) => Ok(Self::Layout(CuteLayout::single_mode(size, 1)?)),
            TupleView::Tuple(modes) => Ok(Self::Modes(modes.iter().map(Self::from_shape).collect::<Result<_, _>>()?)),
        }
    }
}

/// The composition: the layout `c -> outer(inner(c))`, nested as `inner`.
///
/// The last mode of the outer layout is unbounded, as in CuTe, even if its size is 1.
///
/// # Errors
/// [`CuteError::Inexact`] with a counterexample if no layout compatible with the inner one is this map;
/// [`CuteError::TooManyPoints`] if strides that do not divide leave a map too large to be checked;
/// [`CuteError::Overflow`] if a value does not fit 64 bits.
///
/// ```
/// use tilewright_layout::cute::composition;
/// let exact = composition(&"(4,5):(1,12)".parse()?, &"6:2".parse()?)?;
/// assert_eq!(exact.to_string(), "(2,3):(2,12)");
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
pub fn composition(outer: &CuteLayout, inner: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let outer = Outer::of(outer);
    let (mut divided_pieces, mut domain, mut read_off) = (Vec::new(), 1u64, true);
    for mode in inner.leaf_modes() {
        let piece_modes = match outer.divide_pieces(mode, domain)? {
            Some(piece_modes) => piece_modes,
            None => {
                read_off = false;
                outer.derive_pieces(mode, domain)?
            }
        };
        divided_pieces.push(piece_modes);
        domain = domain.saturating_mul(mode.shape);
    }
    let mut next = divided_pieces.iter();
    let result = CuteLayout::from_tree(inner.tree().grow(&mut |_| {
        let piece_modes = next.next().map_or(&[][..], Vec::as_slice);
        Ok(CuteLayout::from_flat_modes(&piece_modes.iter().map(|piece| piece.mode).collect::<Vec<_>>())?.tree().clone())
    })?)?;
    match read_off.then(|| outer.carry(&divided_pieces)) {
        Some(None) => Ok(result),
        Some(Some(index)) => Err(outer.differs(&result, inner, index)?.unwrap_or(CuteError::TooManyPoints {
            operation: NAME,
            points: result.size(),
            most: MOST_POINTS,
        })),
        None => outer.checked(result, inner),
    }
}

/// Composes each mode of a layout with its tiler; modes without a tiler stay.
///
/// # Errors
/// As [`composition`]; [`CuteError::TooManyModes`] if there are more tilers than modes.
pub fn composition_by(layout: &CuteLayout, tiler: &Tiler) -> Result<CuteLayout, CuteError> {
    match tiler {
        Tiler::Layout(inner) => composition(layout, inner),
        Tiler::Modes(tilers) => by_mode(layout, tilers, composition_by),
    }
}

/// Applies `operation` to each top-level mode and its tiler; modes without a tiler stay.
pub(super) fn by_mode(
    layout: &CuteLayout,
    tilers: &[Tiler],
    operation: fn(&CuteLayout, &Tiler) -> Result<CuteLayout, CuteError>,
) -> Result<CuteLayout, CuteError> {
    let mut modes = layout.modes();
    if tilers.len() > modes.len() {
        return Err(CuteError::TooManyModes { what: "the tiler", have: tilers.len(), most: modes.len() });
    }
    for (mode, tiler) in modes.iter_mut().zip(tilers) {
        *mode = operation(mode, tiler)?;
    }
    CuteLayout::from_modes(modes)
}

/// A mode of the composition, which results from one inner mode and steps through one outer mode.
struct Piece {
    mode: CuteLeaf,
    /// Index of the outer mode, and the number of positions by which one step of this mode moves the index in that
    /// outer mode.
    digit: (usize, u64),
    /// The number of steps of the composition's integer coordinate that correspond to one step of this mode.
    domain: u64,
}

struct Outer {
    flat: Vec<CuteLeaf>,
}

impl Outer {
    fn of(layout: &CuteLayout) -> Self {
        let mut flat = coalesce_unbounded(&layout.leaf_modes());
        if flat.is_empty() {
            flat.push(CuteLeaf { shape: 1, stride: 0 });
        }
        Self { flat }
    }

    fn at(&self, index: u64) -> Result<u64, CuteError> {
        value_at(&self.flat, index)
    }

    /// Returns the modes of the composition (pieces) for one inner mode, one for each outer mode that it steps through;
    /// `domain` is the step of the inner mode in the integer coordinate. `None` if strides and sizes do not divide each
    /// other.
    fn divide_pieces(&self, inner: CuteLeaf, mut domain: u64) -> Result<Option<Vec<Piece>>, CuteError> {
        let (mut left, mut step, mut pieces) = (inner.shape, inner.stride, Vec::new());
        if left == 1 || step == 0 {
            let mode = CuteLeaf { shape: left, stride: 0 };
            return Ok(Some(vec![Piece { mode, digit: (0, 0), domain }]));
        }
        let last = self.flat.len() - 1;
        for (at, outer) in self.flat.iter().enumerate() {
            let shape = if at == last {
                left
            } else if step % outer.shape == 0 {
                step /= outer.shape;
                continue;
            } else if outer.shape % step == 0 {
                left.min(outer.shape / step)
            } else {
                return Ok(None);
            };
            if left % shape != 0 {
                return Ok(None);
            }
            let stride = outer.stride.checked_mul(step).ok_or(CuteError::Overflow { what: "a stride" })?;
            pieces.push(Piece { mode: CuteLeaf { shape, stride }, digit: (at, step), domain });
            (left, step, domain) = (left / shape, 1, domain.saturating_mul(shape));
            if left == 1 {
                break;
            }
        }
        Ok(Some(pieces))
    }

    /// Finds an integer coordinate of the composition at which the index in an outer mode carries into the next outer
    /// mode; `None` if none does. `divided_pieces` has the modes of the composition for each inner mode.
    fn carry(&self, divided_pieces: &[Vec<Piece>]) -> Option<u64> {
        (0..self.flat.len() - 1).find_map(|at| {
            let (mut digit, mut index) = (0u64, 0u64);
            for piece in divided_pieces.iter().flatten().filter(|piece| piece.digit.0 == at && piece.digit.1 != 0) {
                let step = piece.digit.1;
                let most = (piece.mode.shape - 1).min((self.flat[at].shape - digit).div_ceil(step));
                digit += most * step;
                index += most * piece.domain;
                if digit >= self.flat[at].shape {
                    return Some(index);
                }
            }
            None
        })
    }

    /// Derives the modes of the composition (pieces) for one inner mode from its values; no others are possible.
    /// `domain` is the step of the inner mode in the integer coordinate.
    fn derive_pieces(&self, inner: CuteLeaf, domain: u64) -> Result<Vec<Piece>, CuteError> {
        let (mut left, mut step, mut pieces) = (inner.shape, 1u64, Vec::new());
        while left > 1 {
            let first = self.along(inner, step)?;
            // A piece ends before the first index whose value is not the first value times the index.
            let bound = left.min(MOST_POINTS);
            let mut end = None;
            for i in 2..bound {
                let value = self.along(inner, i * step)?;
                if first.checked_mul(i) != Some(value) {
                    end = Some((i, value));
                    break;
                }
            }
            let shape = match end {
                Some((i, exact)) if left % i != 0 => {
                    let candidate = first.saturating_mul(i);
                    let index = domain.saturating_mul(i * step);
                    return Err(CuteError::Inexact { operation: NAME, index, exact, candidate });
                }
                Some((i, _)) => i,
                None if bound < left => return Err(too_many(left)),
                None => left,
            };
            let at = domain.saturating_mul(step);
            pieces.push(Piece { mode: CuteLeaf { shape, stride: first }, digit: (0, 0), domain: at });
            (left, step) = (left / shape, step.saturating_mul(shape));
        }
        Ok(pieces)
    }

    /// Returns the value of the composition at index `index` of one inner mode, with all other inner indices at zero.
    fn along(&self, inner: CuteLeaf, index: u64) -> Result<u64, CuteError> {
        let inside = inner.stride.checked_mul(index).ok_or(CuteError::Overflow { what: "the inner value" })?;
        self.at(inside)
    }

    fn differs(&self, result: &CuteLayout, inner: &CuteLayout, index: u64) -> Result<Option<CuteError>, CuteError> {
        let (exact, candidate) = (self.at(inner.at(index)?)?, result.at(index)?);
        Ok((exact != candidate).then_some(CuteError::Inexact { operation: NAME, index, exact, candidate }))
    }

    /// Returns `result` if it equals the composition with `inner` at every point; otherwise an error with the first
    /// index at which they differ. Also an error if there are more than [`MOST_POINTS`] points.
    fn checked(&self, result: CuteLayout, inner: &CuteLayout) -> Result<CuteLayout, CuteError> {
        if result.size() > MOST_POINTS {
            return Err(too_many(result.size()));
        }
        for (index, (inside, candidate)) in inner.values().zip(result.values()).enumerate() {
            let exact = self.at(inside)?;
            if exact != candidate {
                return Err(CuteError::Inexact { operation: NAME, index: index as u64, exact, candidate });
            }
        }
        Ok(result)
    }
}

fn too_many(points: u64) -> CuteError {
    CuteError::TooManyPoints { operation: NAME, points, most: MOST_POINTS }
}
