//! Parts of layouts by coordinate, and shapes compared.

use super::tuple::TupleView;
use super::{CuteError, CuteLayout, IntTuple, Tree, composition};

/// A coordinate with places left open: `None` (`_` in text) takes all of a mode.
pub type Selection = Tree<Option<u64>>;

impl Tree<u64> {
    /// Whether coordinates of this shape are coordinates of `other` too: the shapes agree, or a
    /// size here is the product of a whole tuple there.
    ///
    /// # Errors
    /// [`CuteError::Overflow`].
    pub fn is_compatible(&self, other: &Self) -> Result<bool, CuteError> {
        match (self.view(), other.view()) {
            (TupleView::Leaf(&size), _) => Ok(size == other.product()?),
            (TupleView::Tuple(own), TupleView::Tuple(others)) if own.len() == others.len() => {
                own.iter().zip(others).try_fold(true, |all, (own, other)| Ok(all && own.is_compatible(other)?))
            }
            _ => Ok(false),
        }
    }
}

impl<T> Tree<T> {
    /// Whether the nesting of this tree is a coarser one of `other`: a value here may stand for
    /// anything there.
    pub fn is_weakly_congruent<U>(&self, other: &Tree<U>) -> bool {
        match (self.view(), other.view()) {
            (TupleView::Leaf(_), _) => true,
            (TupleView::Tuple(own), TupleView::Tuple(others)) => {
                own.len() == others.len() && own.iter().zip(others).all(|(own, other)| own.is_weakly_congruent(other))
            }
            (TupleView::Tuple(_), TupleView::Leaf(_)) => false,
        }
    }
}

impl CuteLayout {
    /// The modes that a selection leaves open, and the offset of the places that it fixes: the
    /// layout at `c` plus the offset is this layout at the selection with `c` filled in. Open modes
    /// within tuples that are not open as a whole become modes at the top.
    ///
    /// # Errors
    /// [`CuteError::NotCongruent`] where the selection is nested deeper than the layout,
    /// [`CuteError::Overflow`].
    ///
    /// ```
    /// use tilewright_layout::cute::CuteLayout;
    /// let tile: CuteLayout = "((2,4),8):((1,16),2)".parse()?;
    /// let (row, offset) = tile.slice(&"((1,_),3)".parse()?)?;
    /// assert_eq!((row.to_string().as_str(), offset), ("(4):(16)", 7));
    /// # Ok::<(), tilewright_layout::cute::CuteError>(())
    /// ```
    pub fn slice(&self, selection: &Selection) -> Result<(Self, u64), CuteError> {
        let fixed = selection.map(|place| place.unwrap_or(0));
        let offset = self.at_coordinate(&fixed)?;
        Ok((self.picked(selection, true)?, offset))
    }

    /// The modes that a selection fixes: the layout of its places.
    ///
    /// # Errors
    /// As [`CuteLayout::slice`].
    pub fn dice(&self, selection: &Selection) -> Result<Self, CuteError> {
        self.picked(selection, false)
    }

    /// The modes whose place in the selection is open, or is not; all of the layout for one place.
    fn picked(&self, selection: &Selection, open: bool) -> Result<Self, CuteError> {
        if let TupleView::Leaf(place) = selection.view() {
            return if place.is_none() == open { Ok(self.clone()) } else { Self::from_modes(Vec::new()) };
        }
        let mut kept = Vec::new();
        self.pick(selection, open, &mut kept)?;
        Self::from_modes(kept)
    }

    fn pick(&self, selection: &Selection, open: bool, kept: &mut Vec<Self>) -> Result<(), CuteError> {
        match (selection.view(), self.tree().view()) {
            (TupleView::Leaf(place), _) => {
                if place.is_none() == open {
                    kept.push(self.clone());
                }
                Ok(())
            }
            (TupleView::Tuple(places), TupleView::Tuple(modes)) if places.len() == modes.len() => {
                let modes = self.modes();
                places.iter().zip(&modes).try_for_each(|(place, mode)| mode.pick(place, open, kept))
            }
            _ => Err(CuteError::NotCongruent {
                left: selection.map(|place| place.map_or("_".to_owned(), |place| place.to_string())).to_string(),
                right: self.shape().to_string(),
                remedy: "a selection has one place for all of a mode, or one for each of its modes",
            }),
        }
    }

    /// The same values over another shape: the layout at the integer of a coordinate of `shape`.
    ///
    /// # Errors
    /// As [`composition`]: a shape whose modes end within a mode of the layout has no such layout.
    pub fn with_shape(&self, shape: &IntTuple) -> Result<Self, CuteError> {
        composition(self, &Self::compact(shape)?)
    }

    /// The layout with another mode in the place of one at the top.
    ///
    /// # Errors
    /// [`CuteError::TooManyModes`] where there is no such mode; as [`CuteLayout::new`].
    pub fn replace(&self, mode: usize, by: &Self) -> Result<Self, CuteError> {
        let mut modes = self.modes();
        let most = modes.len();
        let place = modes.get_mut(mode).ok_or(CuteError::TooManyModes { what: "the layout", have: mode + 1, most })?;
        *place = by.clone();
        if let TupleView::Leaf(_) = self.tree().view() { Ok(by.clone()) } else { Self::from_modes(modes) }
    }
}
