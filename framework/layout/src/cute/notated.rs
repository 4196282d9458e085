//! Layouts of every kind that CuTe's notation has, as maps from coordinates to values.

use std::fmt;
use std::str::FromStr;

use super::{ComposedLayout, CoordinateLayout, CuteError, IntTuple, SignedLayout, TupleView, coalesce};

/// A layout in CuTe's notation, whether a linear layout has this map or not: sizes may be no powers of two, strides
/// negative, and values coordinates.
///
/// ```
/// use tilewright_layout::cute::NotatedLayout;
/// let reversed: NotatedLayout = "(2,3):(-3,1)".parse()?;
/// assert_eq!(reversed.values_at(3)?, [-2]);
/// let tile: NotatedLayout = "(_2,_3):(_1@1,_1@0)".parse()?;
/// assert_eq!((tile.sizes()?, tile.values_at(3)?), (vec![2, 3], vec![1, 1]));
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotatedLayout {
    /// A layout with offsets from 0, with or without swizzles and an offset.
    Composed(ComposedLayout),
    /// A layout with negative strides.
    Signed(SignedLayout),
    /// A layout whose values are coordinates.
    Coordinates(CoordinateLayout),
}

impl NotatedLayout {
    /// The sizes of the outermost modes.
    ///
    /// # Errors
    /// [`CuteError::Overflow`] if a size does not fit 64 bits.
    pub fn sizes(&self) -> Result<Vec<u64>, CuteError> {
        let shape = match self {
            Self::Composed(layout) => layout.layout().shape(),
            Self::Signed(layout) => layout.tree().map(|mode| mode.shape),
            Self::Coordinates(layout) => layout.shape(),
        };
        match shape.view() {
            TupleView::Leaf(size) => Ok(vec![*size]),
            TupleView::Tuple(modes) => modes.iter().map(IntTuple::product).collect(),
        }
    }

    /// The value at an integer coordinate: the offset, or a coordinate along each axis.
    ///
    /// # Errors
    /// [`CuteError::Overflow`] if a value does not fit 63 bits.
    pub fn values_at(&self, index: u64) -> Result<Vec<i64>, CuteError> {
        let signed = |value: u64| i64::try_from(value).map_err(|_| CuteError::Overflow { what: "a value" });
        match self {
            Self::Composed(layout) => Ok(vec![signed(layout.at(index)?)?]),
            Self::Signed(layout) => Ok(vec![layout.at(index)?]),
            Self::Coordinates(layout) => layout.at(index)?.into_iter().map(signed).collect(),
        }
    }

    /// The same map without nesting; `None` if the values are coordinates.
    ///
    /// # Errors
    /// None for a valid layout; it returns a `Result` as every operation does.
    pub fn flatten(&self) -> Result<Option<Self>, CuteError> {
        Ok(match self {
            Self::Composed(layout) => Some(Self::Composed(layout.with_layout(layout.layout().flatten()?)?)),
            Self::Signed(layout) => Some(Self::Signed(layout.flatten()?)),
            Self::Coordinates(_) => None,
        })
    }

    /// The same map, without nesting and with as few modes as possible; `None` if the values are coordinates.
    ///
    /// # Errors
    /// None for a valid layout; it returns a `Result` as every operation does.
    pub fn coalesce(&self) -> Result<Option<Self>, CuteError> {
        Ok(match self {
            Self::Composed(layout) => Some(Self::Composed(layout.with_layout(coalesce(layout.layout())?)?)),
            Self::Signed(layout) => Some(Self::Signed(layout.coalesce()?)),
            Self::Coordinates(_) => None,
        })
    }
}

impl FromStr for NotatedLayout {
    type Err = CuteError;

    /// Reads a layout of the first kind that has this text. The error is the one of layouts with offsets from 0.
    fn from_str(text: &str) -> Result<Self, CuteError> {
        text.parse().map(Self::Composed).or_else(|error| {
            let signed = text.parse().map(Self::Signed);
            signed.or_else(|_| text.parse().map(Self::Coordinates)).map_err(|_| error)
        })
    }
}

impl fmt::Display for NotatedLayout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Composed(layout) => layout.fmt(out),
            Self::Signed(layout) => layout.fmt(out),
            Self::Coordinates(layout) => layout.fmt(out),
        }
    }
}
