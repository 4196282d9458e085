//! Contiguity of a layout: runs of consecutive elements, and vectors of registers.

use crate::f2::Subspace;

use super::space::low_mask;
use super::{ColumnAction, Dim, LinearLayout};

impl LinearLayout {
    /// The length of the runs of consecutive elements along the first input dim, at least one: the largest V with `L(a
    /// V + v) = L(a V) + v` for all `v < V`, where the input counts along the first input dim and the output along the
    /// first out dim.
    ///
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// let run = LinearLayout::identity(4, Dim::REGISTER, Dim::tensor(0))?;
    /// let lanes = LinearLayout::identity(32, Dim::LANE, Dim::tensor(0))?;
    /// assert_eq!(run.direct_sum(&lanes)?.consecutive_elements(), 4);
    /// assert_eq!(lanes.direct_sum(&run)?.transpose_ins(&[Dim::REGISTER, Dim::LANE])?.consecutive_elements(), 1);
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    #[must_use]
    #[doc(alias = "getNumConsecutiveInOut")]
    pub fn consecutive_elements(&self) -> u64 {
        let first_bits = |space: &super::Space| space.iter().next().map_or(0, |(_, bits)| bits);
        let most = first_bits(&self.ins).min(first_bits(&self.outs));
        let in_order =
            self.columns.iter().enumerate().take_while(|&(bit, &column)| (bit as u32) < most && column == 1 << bit);
        let in_order = in_order.count();
        // The run of consecutive elements ends below the lowest bit that any other column sets.
        let lowest = self.columns[in_order..].iter().fold(0, |all, column| all | column).trailing_zeros();
        1 << (in_order as u32).min(lowest)
    }

    /// The largest n such that this layout reaches all coordinates `0..n` along `dim`; one if the dim is absent.
    #[must_use]
    #[doc(alias = "contiguousElemsAlongOutputDim")]
    pub fn contiguous_along_out(&self, dim: Dim) -> u64 {
        let along = self.columns.iter().map(|&column| self.outs.coordinate(column, dim));
        let reached = Subspace::span(along);
        let run = (0..self.outs.bits_of(dim)).take_while(|&bit| reached.contains(1 << bit)).count();
        1u64.checked_shl(run as u32).unwrap_or(u64::MAX)
    }

    /// Returns the number of elements of the widest vector access under a map from (register, ...) to (offset, ...),
    /// and the order of the register bases that makes these elements contiguous (Linear Layouts paper, section 5.3).
    /// The number is a power of two of at most `widest`.
    ///
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// // Registers hold offsets 0, 2, 1, 3: four of them side by side once two bases are exchanged.
    /// let map = LinearLayout::from_bases(&[(Dim::REGISTER, vec![vec![2], vec![1]])], &[(Dim::OFFSET, 4)])?;
    /// let (elements, order) = map.widest_vector_access(Dim::REGISTER, Dim::OFFSET, 8);
    /// assert_eq!((elements, order.apply_values(&['a', 'b', 'c', 'd'])), (4, vec!['a', 'c', 'b', 'd']));
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    #[must_use]
    #[doc(alias = "largestVectorisation")]
    pub fn widest_vector_access(&self, register: Dim, offset: Dim, widest: u64) -> (u64, ColumnAction) {
        let none = || (1, ColumnAction::identity(register, self.ins.bits_of(register)));
        let Some(shift) = self.outs.shift_of(offset) else { return none() };
        let most = self.outs.bits_of(offset).min(widest.max(1).ilog2()).min(self.ins.bits_of(register));
        let own = self.columns_of(register);
        let index_of = |bit: u32| own.iter().position(|&column| column == 1 << (shift + bit));
        let alone = |bits: u32| {
            let low = low_mask(bits) << shift;
            self.columns.iter().filter(|&&column| column & low != 0).count() == bits as usize
        };
        for bits in (1..=most).rev() {
            let bit_indices: Option<Vec<usize>> = (0..bits).map(index_of).collect();
            if let Some(bit_indices) = bit_indices.filter(|_| alone(bits)) {
                return (1 << bits, ColumnAction::first(register, own.len() as u32, &bit_indices));
            }
        }
        none()
    }

    /// Whether this layout is the identity from the input dim `dim` to the out dim `dim`: both have one size, and no
    /// other input dim moves along the out dim. The input dim may also move along other out dims.
    #[must_use]
    #[doc(alias = "isIdentityOnOutDim")]
    pub fn is_identity_on_out(&self, dim: Dim) -> bool {
        let (Some(start), true) = (self.ins.shift_of(dim), self.outs.contains(dim)) else { return false };
        let bits = self.ins.bits_of(dim);
        bits == self.outs.bits_of(dim)
            && self.columns.iter().enumerate().all(|(at, &column)| {
                let own = (at as u32).checked_sub(start).filter(|&bit| bit < bits);
                self.outs.coordinate(column, dim) == own.map_or(0, |bit| 1 << bit)
            })
    }
}
