//! Layouts with negative strides, whose values may be negative.

use std::fmt;

use super::coalesce::join_modes;
use super::{CoordinateLayout, CoordinateMode, CuteError, CuteLayout, Tree};

/// A mode of a layout with signed strides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SignedLeaf {
    /// Number of elements of the mode.
    pub shape: u64,
    /// Difference between the values of neighbouring elements of the mode.
    pub stride: i64,
}

/// A map of coordinates to signed offsets: nested shapes and strides, as CuTe's layouts with negative strides. `8:-1`
/// maps `i` to `-i`.
///
/// Operations that need a layout without repetitions from 0 upward, such as complements and inverses, take a
/// [`CuteLayout`].
///
/// ```
/// use tilewright_layout::cute::SignedLayout;
/// let reversed: SignedLayout = "(4,8):(-8,1)".parse()?;
/// assert_eq!(reversed.at(5)?, -7);
/// assert_eq!(reversed.compose(&"8:2".parse()?)?.to_string(), "(2,4):(-16,1)");
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SignedLayout(Tree<SignedLeaf>);

const VALUE: CuteError = CuteError::Overflow { what: "a signed value of the layout" };

impl SignedLayout {
    /// The layout of a tree of modes.
    ///
    /// # Errors
    /// [`CuteError::EmptyMode`] if a size is 0, [`CuteError::Overflow`] if the size does not fit 64 bits, or if the sum
    /// of the distances of all modes does not fit 63 bits.
    pub fn from_tree(modes: Tree<SignedLeaf>) -> Result<Self, CuteError> {
        let distances = modes.map(|mode| super::CuteLeaf { shape: mode.shape, stride: mode.stride.unsigned_abs() });
        let farthest = CuteLayout::from_tree(distances)?.cosize();
        if farthest > i64::MAX as u64 { Err(VALUE) } else { Ok(Self(modes)) }
    }

    /// The modes as a nested tuple.
    pub fn tree(&self) -> &Tree<SignedLeaf> {
        &self.0
    }

    /// Number of coordinates: the product of all sizes.
    pub fn size(&self) -> u64 {
        self.0.leaves().into_iter().map(|mode| mode.shape).product()
    }

    /// Whether a stride is negative.
    pub fn has_negative_strides(&self) -> bool {
        self.0.leaves().into_iter().any(|mode| mode.stride < 0)
    }

    /// The value at an integer coordinate, which may be beyond the size: the last mode continues.
    ///
    /// # Errors
    /// [`CuteError::Overflow`] if the value does not fit 64 bits.
    pub fn at(&self, index: u64) -> Result<i64, CuteError> {
        let parts = self.by_sign()?.at(index)?;
        difference(&parts)
    }

    /// The same map without nesting.
    ///
    /// # Errors
    /// None for a valid layout; it returns a `Result` as every operation does.
    pub fn flatten(&self) -> Result<Self, CuteError> {
        Self::from_flat_modes(self.0.leaves().into_iter().copied().collect())
    }

    /// The same map, without nesting and with as few modes as possible; `1:0` if no mode remains.
    ///
    /// # Errors
    /// None for a valid layout; it returns a `Result` as every operation does.
    pub fn coalesce(&self) -> Result<Self, CuteError> {
        let modes = self.0.leaves().into_iter().copied().filter(|mode| mode.shape != 1);
        let joined = join_modes(modes, |last, next| {
            let distance = i64::try_from(last.shape).ok().and_then(|shape| shape.checked_mul(last.stride));
            let shape = last.shape.checked_mul(next.shape).filter(|_| distance == Some(next.stride))?;
            Some(SignedLeaf { shape, stride: last.stride })
        });
        Self::from_flat_modes(joined)
    }

    /// The composition: the layout `c -> self(inner(c))`.
    ///
    /// # Errors
    /// As [`composition`](super::composition).
    pub fn compose(&self, inner: &CuteLayout) -> Result<Self, CuteError> {
        let composed = self.by_sign()?.compose(inner)?;
        let modes = composed.tree().grow(&mut |mode: &CoordinateMode| {
            Ok(Tree::leaf(SignedLeaf { shape: mode.shape, stride: difference(&mode.stride)? }))
        })?;
        Self::from_tree(modes)
    }

    /// The layout as one of coordinates: the sum of the positive steps, and the sum of the negative ones.
    fn by_sign(&self) -> Result<CoordinateLayout, CuteError> {
        let modes = self.0.map(|mode| {
            let distance = mode.stride.unsigned_abs();
            let stride = if mode.stride < 0 { vec![0, distance] } else { vec![distance, 0] };
            CoordinateMode { shape: mode.shape, stride }
        });
        CoordinateLayout::new(2, modes)
    }

    fn from_flat_modes(modes: Vec<SignedLeaf>) -> Result<Self, CuteError> {
        Self::from_tree(match modes[..] {
            [] => Tree::leaf(SignedLeaf { shape: 1, stride: 0 }),
            [mode] => Tree::leaf(mode),
            _ => Tree::flat(modes),
        })
    }
}

/// The sum of the positive steps minus the sum of the negative ones.
fn difference(parts: &[u64]) -> Result<i64, CuteError> {
    let sum = |part: usize| parts.get(part).copied().and_then(|sum| i64::try_from(sum).ok()).ok_or(VALUE);
    Ok(sum(0)? - sum(1)?)
}

impl fmt::Display for SignedLayout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.0.map(|mode| mode.shape), self.0.map(|mode| mode.stride))
    }
}
