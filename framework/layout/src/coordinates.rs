//! The coordinates of one element by dim: the result of applying a layout.

use std::fmt;
use std::ops::{Deref, DerefMut};

use smallvec::SmallVec;

use super::{Dim, Space};

/// A coordinate along each dim of a space, in the order of its dims: a slice of pairs.
///
/// Up to sixteen dims, as many axes as a family's tensor can have, are held without heap allocation.
///
/// ```
/// use tilewright_layout::{Dim, LinearLayout};
/// let lanes = LinearLayout::identity(8, Dim::LANE, Dim::tensor(0))?;
/// let place = lanes.apply(&[(Dim::LANE, 5)])?;
/// assert_eq!(place, [(Dim::tensor(0), 5)]);
/// for (dim, coordinate) in place {
///     assert_eq!(dim.as_tensor_axis().map(|axis| axis as u64 + coordinate), Some(5));
/// }
/// # Ok::<(), tilewright_layout::LayoutError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Coordinates(SmallVec<[(Dim, u64); 16]>);

impl Coordinates {
    /// Unpacks the coordinates of `packed` in `space`.
    #[inline]
    pub(super) fn unpack(space: &Space, packed: u64) -> Self {
        Self(space.unpack(packed).collect())
    }
}

impl Deref for Coordinates {
    type Target = [(Dim, u64)];

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Coordinates {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl fmt::Debug for Coordinates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl IntoIterator for Coordinates {
    type Item = (Dim, u64);
    type IntoIter = smallvec::IntoIter<[(Dim, u64); 16]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Coordinates {
    type Item = &'a (Dim, u64);
    type IntoIter = std::slice::Iter<'a, (Dim, u64)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<const N: usize> PartialEq<[(Dim, u64); N]> for Coordinates {
    fn eq(&self, other: &[(Dim, u64); N]) -> bool {
        **self == *other
    }
}

impl PartialEq<[(Dim, u64)]> for Coordinates {
    fn eq(&self, other: &[(Dim, u64)]) -> bool {
        **self == *other
    }
}

impl PartialEq<Vec<(Dim, u64)>> for Coordinates {
    fn eq(&self, other: &Vec<(Dim, u64)>) -> bool {
        **self == **other
    }
}

impl From<Coordinates> for Vec<(Dim, u64)> {
    fn from(coordinates: Coordinates) -> Self {
        coordinates.0.into_vec()
    }
}
