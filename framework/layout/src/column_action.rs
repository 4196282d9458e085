//! Reordering and dropping of the bases of one input dim, on a layout and on the values it places.

use smallvec::SmallVec;

use crate::f2::Columns;

use super::{Dim, LayoutError, LinearLayout, Space};

/// Takes some bases of one input dim in a new order; the others are dropped.
///
/// An action applied to a layout and to the values of its registers keeps every value at its
/// element: register `r` of the new layout is the old register whose bits are those of `r`, moved.
///
/// ```
/// use tilewright_layout::{ColumnAction, Dim, LinearLayout};
/// let pair = |first, second| {
///     LinearLayout::from_bases(&[(Dim::REGISTER, vec![vec![first], vec![second]])], &[(Dim::tensor(0), 4)])
/// };
/// let swap = ColumnAction::new(Dim::REGISTER, 2, &[1, 0])?;
/// assert_eq!(swap.apply(&pair(1, 2)?)?, pair(2, 1)?);
/// assert_eq!(swap.apply_values(&[10, 11, 12, 13]), [10, 12, 11, 13]);
/// assert!(swap.then(&swap)?.is_identity());
/// # Ok::<(), tilewright_layout::LayoutError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ColumnAction {
    dim: Dim,
    /// Bits of the dim before.
    bits: u32,
    /// The old bit of each new one.
    kept: SmallVec<[u8; 16]>,
}

impl ColumnAction {
    /// New basis `i` of `dim`, which has `bits` bases, is old basis `kept[i]`.
    ///
    /// # Errors
    /// [`LayoutError::NotASelection`] where a basis is named twice or is not there.
    pub fn new(dim: Dim, bits: u32, kept: &[usize]) -> Result<Self, LayoutError> {
        let mut seen = 0u64;
        for &bit in kept {
            if bit >= bits.min(64) as usize || seen >> bit & 1 == 1 {
                return Err(LayoutError::NotASelection { dim, bit, bits });
            }
            seen |= 1 << bit;
        }
        Ok(Self { dim, bits, kept: kept.iter().map(|&bit| bit as u8).collect() })
    }

    /// The action that changes nothing.
    #[must_use]
    pub fn identity(dim: Dim, bits: u32) -> Self {
        Self { dim, bits, kept: (0..bits).map(|bit| bit as u8).collect() }
    }

    /// The given bases first, then the others in their order. The bases must be different ones.
    pub(super) fn first(dim: Dim, bits: u32, places: &[usize]) -> Self {
        let rest = (0..bits as usize).filter(|bit| !places.contains(bit));
        Self { dim, bits, kept: places.iter().copied().chain(rest).map(|bit| bit as u8).collect() }
    }

    /// The bases in their order, the given ones last. The bases must be different ones.
    fn last(dim: Dim, bits: u32, places: &[usize]) -> Self {
        let rest = (0..bits as usize).filter(|bit| !places.contains(bit));
        Self { dim, bits, kept: rest.chain(places.iter().copied()).map(|bit| bit as u8).collect() }
    }

    /// The dim whose bases are taken.
    #[must_use]
    pub fn dim(&self) -> Dim {
        self.dim
    }

    /// The old basis of each new one.
    pub fn kept(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.kept.iter().map(|&bit| usize::from(bit))
    }

    /// Whether nothing changes.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.kept.len() == self.bits as usize && self.kept().enumerate().all(|(new, old)| new == old)
    }

    /// The layout with its bases taken so.
    ///
    /// # Errors
    /// Where the layout's dim has another number of bases than this action is for.
    pub fn apply(&self, layout: &LinearLayout) -> Result<LinearLayout, LayoutError> {
        let have = layout.ins.bits_of(self.dim);
        if have != self.bits {
            return Err(LayoutError::SizeMismatch { dim: self.dim, left: self.bits, right: have });
        }
        let mut ins = Space::default();
        let mut columns = Columns::new();
        for (dim, bits) in layout.ins.iter() {
            let own = layout.columns_of(dim);
            if dim == self.dim {
                ins.push(dim, self.kept.len() as u32)?;
                columns.extend(self.kept().map(|bit| own[bit]));
            } else {
                ins.push(dim, bits)?;
                columns.extend_from_slice(own);
            }
        }
        Ok(LinearLayout { ins, outs: layout.outs.clone(), columns })
    }

    /// The values, one for each index of the dim before, as they are held after. Indices that have
    /// no value are left out.
    #[must_use]
    pub fn apply_values<T: Clone>(&self, values: &[T]) -> Vec<T> {
        let old = |new: usize| self.kept().enumerate().fold(0, |index, (to, from)| index | (new >> to & 1) << from);
        (0..1usize << self.kept.len()).filter_map(|new| values.get(old(new)).cloned()).collect()
    }

    /// The values of all indices before from those held after, where the dropped bases moved
    /// nothing: every copy gets its value back.
    #[must_use]
    pub fn broadcast_values<T: Clone>(&self, values: &[T]) -> Vec<T> {
        let new = |old: usize| self.kept().enumerate().fold(0, |index, (to, from)| index | (old >> from & 1) << to);
        (0..1usize << self.bits).filter_map(|old| values.get(new(old)).cloned()).collect()
    }

    /// The action that undoes this one; `None` where it drops bases.
    #[must_use]
    pub fn inverse(&self) -> Option<Self> {
        let place = |old: u32| self.kept().position(|bit| bit == old as usize).map(|new| new as u8);
        let kept: Option<_> = (0..self.bits).map(place).collect();
        Some(Self { dim: self.dim, bits: self.bits, kept: kept? })
    }

    /// This action, and then another one on what it leaves.
    ///
    /// # Errors
    /// Where the second is for another dim or another number of bases.
    pub fn then(&self, second: &Self) -> Result<Self, LayoutError> {
        if self.dim != second.dim {
            return Err(LayoutError::NoSuchDim { dim: second.dim });
        }
        let left = self.kept.len() as u32;
        if left != second.bits {
            return Err(LayoutError::SizeMismatch { dim: self.dim, left, right: second.bits });
        }
        Ok(Self { dim: self.dim, bits: self.bits, kept: second.kept().map(|bit| self.kept[bit]).collect() })
    }
}

impl LinearLayout {
    /// The action that drops the bases of `dim` that move nothing: copies of one value are kept once.
    #[must_use]
    pub fn without_broadcast(&self, dim: Dim) -> ColumnAction {
        let own = self.columns_of(dim);
        let kept = own.iter().enumerate().filter(|&(_, &column)| column != 0).map(|(bit, _)| bit as u8);
        ColumnAction { dim, bits: own.len() as u32, kept: kept.collect() }
    }

    /// The order of the bases of `dim` in which `self` can be divided by `divisor`
    /// (seed 000, section 5.3, generalised vectorisation): from the left, or from the right where
    /// `above`; `None` where no order does.
    #[must_use]
    pub fn order_for_division(&self, divisor: &Self, dim: Dim, above: bool) -> Option<ColumnAction> {
        let own = self.columns_of(dim);
        let mut places = Vec::new();
        for &required in divisor.columns_of(dim) {
            let matches = |&(bit, &column): &(usize, &u64)| {
                !places.contains(&bit) && self.split_column(column, divisor, above) == (required, 0)
            };
            places.push(own.iter().enumerate().find(matches)?.0);
        }
        let order = if above { ColumnAction::last } else { ColumnAction::first };
        let action = order(dim, own.len() as u32, &places);
        let divided = action.apply(self).ok()?;
        let quotient = if above { divided.divide_right(divisor) } else { divided.divide_left(divisor) };
        quotient.map(|_| action)
    }

    /// The order of the bases of `dim` in which those come first whose part of the image can be
    /// added instead of xored, and how many indices they span: no other column has a bit of theirs.
    /// So `L(x) = L(rest) + L(first)` as packed coordinates, and `L(first)` can be an immediate.
    #[must_use]
    pub fn additive_first(&self, dim: Dim) -> (ColumnAction, u64) {
        let own = self.columns_of(dim);
        let others = self.ins.dims().filter(|&d| d != dim).flat_map(|d| self.columns_of(d));
        let mut taken = others.fold(0, |all, column| all | column);
        let mut additive: Vec<usize> = (0..own.len()).collect();
        // What is not additive takes its bits from the others in turn.
        while let Some(at) = additive.iter().position(|&bit| own[bit] & taken != 0) {
            taken |= own[additive.remove(at)];
        }
        let span = 1 << additive.len();
        (ColumnAction::first(dim, own.len() as u32, &additive), span)
    }
}
