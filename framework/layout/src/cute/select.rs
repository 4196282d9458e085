//! Selection of parts of layouts by coordinate, and comparison of shapes.

use super::tuple::TupleView;
use super::{CuteError, CuteLayout, IntTuple, Tree, composition};

/// A coordinate with open positions: `None` (`_` in text) selects all of a mode.
pub type PartialCoordinate = Tree<Option<u64>>;

impl Tree<u64> {
    /// Whether coordinates of this shape are coordinates of `other` too: the shapes are equal, or a size here is the
    /// product of a whole tuple there.
    ///
    /// # Errors
    /// [`CuteError::Overflow`] if a product of sizes does not fit 64 bits.
    pub fn is_compatible(&self, other: &Self) -> Result<bool, CuteError> {
        match (self.view(), other.view()) {
            (TupleView::Leaf(&size), _) => Ok(size == other.product()?),
            (TupleView::Tuple(items), TupleView::Tuple(others)) if items.len() == others.len() => {
                items.iter().zip(others).try_fold(true, |all, (items, other)| Ok(all && items.is_compatible(other)?))
            }
            _ => Ok(false),
        }
    }
}

impl<T> Tree<T> {
    /// Whether the nesting of this tree is coarser than or equal to that of `other`: a value here may correspond to any
    /// tree there.
    pub fn is_weakly_congruent<U>(&self, other: &Tree<U>) -> bool {
        match (self.view(), other.view()) {
            (TupleView::Leaf(_), _) => true,
            (TupleView::Tuple(items), TupleView::Tuple(others)) => {
                items.len() == others.len()
                    && items.iter().zip(others).all(|(items, other)| items.is_weakly_congruent(other))
            }
            (TupleView::Tuple(_), TupleView::Leaf(_)) => false,
        }
    }
}

impl CuteLayout {
    /// Slices this layout: returns the modes that `selection` leaves open, and the offset of the coordinates that it
    /// fixes. The returned layout at `c` plus the offset is this layout at the selection with `c` filled in. Open modes
    /// within partly open tuples become modes at the top.
    ///
    /// # Errors
    /// [`CuteError::NotCongruent`] if the selection is nested differently from the layout, [`CuteError::Overflow`] if
    /// the offset does not fit 64 bits.
    ///
    /// ```
    /// use tilewright_layout::cute::CuteLayout;
    /// let tile: CuteLayout = "((2,4),8):((1,16),2)".parse()?;
    /// let (row, offset) = tile.slice(&"((1,_),3)".parse()?)?;
    /// assert_eq!((row.to_string().as_str(), offset), ("(4):(16)", 7));
    /// # Ok::<(), tilewright_layout::cute::CuteError>(())
    /// ```
    pub fn slice(&self, selection: &PartialCoordinate) -> Result<(Self, u64), CuteError> {
        let fixed = selection.map(|coordinate| coordinate.unwrap_or(0));
        let offset = self.at_coordinate(&fixed)?;
        Ok((self.select_modes(selection, true)?, offset))
    }

    /// Returns the modes whose coordinates `selection` fixes, as a layout (CuTe `dice`).
    ///
    /// # Errors
    /// As [`CuteLayout::slice`].
    pub fn dice(&self, selection: &PartialCoordinate) -> Result<Self, CuteError> {
        self.select_modes(selection, false)
    }

    /// Returns the modes whose coordinate in the selection is open (`None`) if `open`, else those whose coordinate is
    /// fixed.
    fn select_modes(&self, selection: &PartialCoordinate, open: bool) -> Result<Self, CuteError> {
        if let TupleView::Leaf(coordinate) = selection.view() {
            return if coordinate.is_none() == open { Ok(self.clone()) } else { Self::from_modes(Vec::new()) };
        }
        let mut kept = Vec::new();
        self.pick(selection, open, &mut kept)?;
        Self::from_modes(kept)
    }

    fn pick(&self, selection: &PartialCoordinate, open: bool, kept: &mut Vec<Self>) -> Result<(), CuteError> {
        match (selection.view(), self.tree().view()) {
            (TupleView::Leaf(coordinate), _) => {
                if coordinate.is_none() == open {
                    kept.push(self.clone());
                }
                Ok(())
            }
            (TupleView::Tuple(coordinates), TupleView::Tuple(modes)) if coordinates.len() == modes.len() => {
                let modes = self.modes();
                coordinates.iter().zip(&modes).try_for_each(|(coordinate, mode)| mode.pick(coordinate, open, kept))
            }
            _ => Err(CuteError::NotCongruent {
                left: selection
                    .map(|coordinate| coordinate.map_or("_".to_owned(), |coordinate| coordinate.to_string()))
                    .to_string(),
                right: self.shape().to_string(),
                remedy: "a selection has one coordinate for all of a mode, or one for each of its modes",
            }),
        }
    }

    /// The layout with the same values over another shape: its value at a coordinate of `shape` is this layout's value
    /// at the same integer coordinate.
    ///
    /// # Errors
    /// As [`composition`]: no such layout exists if a mode of the shape ends within a mode of the layout.
    pub fn with_shape(&self, shape: &IntTuple) -> Result<Self, CuteError> {
        composition(self, &Self::from_compact_shape(shape)?)
    }

    /// The layout with one top-level mode replaced by another layout.
    ///
    /// # Errors
    /// [`CuteError::TooManyModes`] if the layout has no such mode; as [`CuteLayout::new`].
    pub fn replace(&self, mode: usize, by: &Self) -> Result<Self, CuteError> {
        let mut modes = self.modes();
        let most = modes.len();
        let old_mode =
            modes.get_mut(mode).ok_or(CuteError::TooManyModes { what: "the layout", have: mode + 1, most })?;
        *old_mode = by.clone();
        if let TupleView::Leaf(_) = self.tree().view() { Ok(by.clone()) } else { Self::from_modes(modes) }
    }
}
