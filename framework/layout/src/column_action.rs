//! Reordering and dropping of the bases of one input dim, on a layout and on the values of its registers.

use smallvec::SmallVec;

use crate::f2::Columns;

use super::{Dim, LayoutError, LinearLayout, Space};

/// An action on the bases (columns) of one input dim: keeps some of them in a new order and drops the others.
///
/// If the action is applied both to a layout and to the values of its registers, each value stays at its element:
/// register `r` of the new layout has the value of the old register whose index has each bit of `r` at the old position
/// of that bit's basis.
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
    /// Number of bases of the dim before the action.
    bits: u32,
    /// For each basis after the action, its index before the action.
    kept: SmallVec<[u8; 16]>,
}

impl ColumnAction {
    /// The action on `dim`, which has `bits` bases, after which basis `i` is the old basis `kept[i]`.
    ///
    /// # Errors
    /// [`LayoutError::NotASelection`] if a basis is named twice or is not there.
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

    /// The action that keeps all `bits` bases of `dim` in their order.
    #[must_use]
    pub fn identity(dim: Dim, bits: u32) -> Self {
        Self { dim, bits, kept: (0..bits).map(|bit| bit as u8).collect() }
    }

    /// The action that moves the bases at the indices `first_bits`, which must be distinct, to the front; the others
    /// keep their order.
    pub(super) fn first(dim: Dim, bits: u32, first_bits: &[usize]) -> Self {
        let rest = (0..bits as usize).filter(|bit| !first_bits.contains(bit));
        Self { dim, bits, kept: first_bits.iter().copied().chain(rest).map(|bit| bit as u8).collect() }
    }

    /// The action that moves the bases at the indices `first_bits`, which must be distinct, to the end; the others keep
    /// their order.
    fn last(dim: Dim, bits: u32, first_bits: &[usize]) -> Self {
        let rest = (0..bits as usize).filter(|bit| !first_bits.contains(bit));
        Self { dim, bits, kept: rest.chain(first_bits.iter().copied()).map(|bit| bit as u8).collect() }
    }

    /// The dim whose bases are reordered.
    #[must_use]
    pub fn dim(&self) -> Dim {
        self.dim
    }

    /// For each basis after the action, its index before the action.
    pub fn kept_bases(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.kept.iter().map(|&bit| usize::from(bit))
    }

    /// Whether the action changes nothing.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.kept.len() == self.bits as usize && self.kept_bases().enumerate().all(|(new, old)| new == old)
    }

    /// Applies the action to a layout's bases.
    ///
    /// # Errors
    /// The layout's dim has another number of bases than this action is for.
    pub fn apply(&self, layout: &LinearLayout) -> Result<LinearLayout, LayoutError> {
        let have = layout.ins.bits_of(self.dim);
        if have != self.bits {
            return Err(LayoutError::SizeMismatch { dim: self.dim, left: self.bits, right: have });
        }
        let mut ins = Space::default();
        let mut columns = Columns::new();
        for (dim, bits) in layout.ins.iter() {
            let dim_columns = layout.columns_of(dim);
            if dim == self.dim {
                ins.push(dim, self.kept.len() as u32)?;
                columns.extend(self.kept_bases().map(|bit| dim_columns[bit]));
            } else {
                ins.push(dim, bits)?;
                columns.extend_from_slice(dim_columns);
            }
        }
        Ok(LinearLayout { ins, outs: layout.outs.clone(), columns })
    }

    /// Applies the action to `values`, which has one value for each index of the dim before the action; returns one
    /// value for each index after it. If `values` is shorter, the indices without a value are left out.
    #[must_use]
    pub fn apply_values<T: Clone>(&self, values: &[T]) -> Vec<T> {
        let old =
            |new: usize| self.kept_bases().enumerate().fold(0, |index, (to, from)| index | (new >> to & 1) << from);
        (0..1usize << self.kept.len()).filter_map(|new| values.get(old(new)).cloned()).collect()
    }

    /// Restores the values before the action from the values after it, provided that the dropped bases were zero
    /// (broadcast): every replica gets its value back.
    #[must_use]
    pub fn broadcast_values<T: Clone>(&self, values: &[T]) -> Vec<T> {
        let new =
            |old: usize| self.kept_bases().enumerate().fold(0, |index, (to, from)| index | (old >> from & 1) << to);
        (0..1usize << self.bits).filter_map(|old| values.get(new(old)).cloned()).collect()
    }

    /// The action that undoes this one; `None` if it drops bases.
    #[must_use]
    pub fn inverse(&self) -> Option<Self> {
        let index_of = |old: u32| self.kept_bases().position(|bit| bit == old as usize).map(|new| new as u8);
        let kept: Option<_> = (0..self.bits).map(index_of).collect();
        Some(Self { dim: self.dim, bits: self.bits, kept: kept? })
    }

    /// The composition: this action, then `second` on its result.
    ///
    /// # Errors
    /// The second action is for another dim or another number of bases.
    pub fn then(&self, second: &Self) -> Result<Self, LayoutError> {
        if self.dim != second.dim {
            return Err(LayoutError::NoSuchDim { dim: second.dim });
        }
        let left = self.kept.len() as u32;
        if left != second.bits {
            return Err(LayoutError::SizeMismatch { dim: self.dim, left, right: second.bits });
        }
        Ok(Self { dim: self.dim, bits: self.bits, kept: second.kept_bases().map(|bit| self.kept[bit]).collect() })
    }
}

impl LinearLayout {
    /// The action that drops the zero bases of `dim`, so that each value of a broadcast is kept once.
    #[must_use]
    #[doc(alias = "actionRemoveBroadcastedRegs")]
    pub fn remove_broadcast_action(&self, dim: Dim) -> ColumnAction {
        let dim_columns = self.columns_of(dim);
        let kept = dim_columns.iter().enumerate().filter(|&(_, &column)| column != 0).map(|(bit, _)| bit as u8);
        ColumnAction { dim, bits: dim_columns.len() as u32, kept: kept.collect() }
    }

    /// Returns the order of the bases of `dim` that lets `divisor` divide this layout (Linear Layouts paper, section
    /// 5.3, generalised vectorisation): from the left ([`LinearLayout::divide_left`]), or from the right if `above`.
    /// `None` if no order does.
    #[must_use]
    #[doc(alias = "regPermForDivide")]
    pub fn division_order(&self, divisor: &Self, dim: Dim, above: bool) -> Option<ColumnAction> {
        let dim_columns = self.columns_of(dim);
        let mut first_bits = Vec::new();
        for &required in divisor.columns_of(dim) {
            let matches = |&(bit, &column): &(usize, &u64)| {
                !first_bits.contains(&bit) && self.split_column(column, divisor, above) == (required, 0)
            };
            first_bits.push(dim_columns.iter().enumerate().find(matches)?.0);
        }
        let order = if above { ColumnAction::last } else { ColumnAction::first };
        let action = order(dim, dim_columns.len() as u32, &first_bits);
        let divided = action.apply(self).ok()?;
        let quotient = if above { divided.divide_right(divisor) } else { divided.divide_left(divisor) };
        quotient.map(|_| action)
    }

    /// Returns the order of the bases of `dim` that puts the additive bases first, and the number of indices that the
    /// additive bases span. A basis is additive if no other column has a bit of its image. For an input `x = first +
    /// rest`, where `first` has only the bits of additive bases and `rest` only the other bits, `L(x) = L(rest) +
    /// L(first)` as packed coordinates; so `L(first)` can be an immediate offset of an instruction.
    #[must_use]
    #[doc(alias = "actionAdditiveStrides")]
    pub fn order_additive_bases_first(&self, dim: Dim) -> (ColumnAction, u64) {
        let dim_columns = self.columns_of(dim);
        let others = self.ins.dims().filter(|&d| d != dim).flat_map(|d| self.columns_of(d));
        let mut taken = others.fold(0, |all, column| all | column);
        let mut additive: Vec<usize> = (0..dim_columns.len()).collect();
        // The bits of a basis that is removed may also be set in bases that have passed already, so the search starts
        // again.
        while let Some(at) = additive.iter().position(|&bit| dim_columns[bit] & taken != 0) {
            taken |= dim_columns[additive.remove(at)];
        }
        let span = 1 << additive.len();
        (ColumnAction::first(dim, dim_columns.len() as u32, &additive), span)
    }
}
