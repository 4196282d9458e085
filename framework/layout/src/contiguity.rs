//! What a layout keeps together: runs of elements, and vectors of registers.

use crate::f2::Subspace;

use super::space::low_mask;
use super::{ColumnAction, Dim, LinearLayout};

impl LinearLayout {
    /// The largest V with `L(a V + v) = L(a V) + v` for all `v < V`, counted on the first input dim
    /// and the first out dim; one where there is no such run.
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
    pub fn consecutive_elements(&self) -> u64 {
        let first_bits = |space: &super::Space| space.iter().next().map_or(0, |(_, bits)| bits);
        let most = first_bits(&self.ins).min(first_bits(&self.outs));
        let in_order =
            self.columns.iter().enumerate().take_while(|&(bit, &column)| (bit as u32) < most && column == 1 << bit);
        let in_order = in_order.count();
        // Every other column must leave the run's bits alone.
        let lowest = self.columns[in_order..].iter().fold(0, |all, column| all | column).trailing_zeros();
        1 << (in_order as u32).min(lowest)
    }

    /// The largest n such that the coordinates along `dim` that this layout reaches hold all of
    /// `0..n`; one where the dim is absent.
    #[must_use]
    pub fn contiguous_along_out(&self, dim: Dim) -> u64 {
        let along = self.columns.iter().map(|&column| self.outs.coordinate(column, dim));
        let reached = Subspace::span(along);
        let run = (0..self.outs.bits_of(dim)).take_while(|&bit| reached.contains(1 << bit)).count();
        1u64.checked_shl(run as u32).unwrap_or(u64::MAX)
    }

    /// The most elements that one access can move, of a map from (register, ...) to (offset, ...),
    /// and the order of registers in which they are `0..n` of the first (seed 000, section 5.3):
    /// powers of two, of at most `widest` elements.
    ///
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// // Registers hold offsets 0, 2, 1, 3: four of them side by side once two bases are exchanged.
    /// let map = LinearLayout::from_bases(&[(Dim::REGISTER, vec![vec![2], vec![1]])], &[(Dim::OFFSET, 4)])?;
    /// let (elements, order) = map.largest_vector(Dim::REGISTER, Dim::OFFSET, 8);
    /// assert_eq!((elements, order.apply_values(&['a', 'b', 'c', 'd'])), (4, vec!['a', 'c', 'b', 'd']));
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    #[must_use]
    pub fn largest_vector(&self, register: Dim, offset: Dim, widest: u64) -> (u64, ColumnAction) {
        let none = || (1, ColumnAction::identity(register, self.ins.bits_of(register)));
        let Some(shift) = self.outs.shift_of(offset) else { return none() };
        let most = self.outs.bits_of(offset).min(widest.max(1).ilog2()).min(self.ins.bits_of(register));
        let own = self.columns_of(register);
        let place = |bit: u32| own.iter().position(|&column| column == 1 << (shift + bit));
        let alone = |bits: u32| {
            let low = low_mask(bits) << shift;
            self.columns.iter().filter(|&&column| column & low != 0).count() == bits as usize
        };
        for bits in (1..=most).rev() {
            let places: Option<Vec<usize>> = (0..bits).map(place).collect();
            if let Some(places) = places.filter(|_| alone(bits)) {
                return (1 << bits, ColumnAction::first(register, own.len() as u32, &places));
            }
        }
        none()
    }

    /// Whether, on out dim `dim`, this is the identity from the input dim of that name: as large,
    /// and reached by nothing else. That input dim may also move along other out dims.
    #[must_use]
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
