//! Direct sum, division, composition and inversion of linear layouts.

use smallvec::SmallVec;

use crate::f2::{Columns, Solver, Subspace, multiply};

use super::shape::listed;
use super::space::{Moves, low_mask, place_columns, scatter};
use super::{Dim, LayoutError, LinearLayout, Space};

impl LinearLayout {
    /// The direct sum `self * outer` (seed 000, Definition 4.3): `outer` acts on higher input bits
    /// than `self` where they share an input dim, and on higher out bits where they share an out dim.
    ///
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// let part = |size| LinearLayout::identity(size, Dim::LANE, Dim::tensor(0));
    /// assert_eq!(part(4)?.direct_sum(&part(2)?)?, part(8)?);
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    ///
    /// Dims that one of the two lacks are listed where its other dims put them; where the two list
    /// their shared dims in different orders, `self`'s has precedence.
    ///
    /// # Errors
    /// More than 64 bits on a side.
    pub fn direct_sum(&self, outer: &Self) -> Result<Self, LayoutError> {
        let mut sum = Self::default();
        let mut places = [Moves::new(), Moves::new()];
        if !self.ins.join(&outer.ins, &mut sum.ins, &mut places) {
            (sum.ins, places) = self.ins.joined(&outer.ins, &supremum(&self.ins, &outer.ins)?)?;
        }
        let mut moves = [Moves::new(), Moves::new()];
        if !self.outs.join(&outer.outs, &mut sum.outs, &mut moves) {
            (sum.outs, moves) = self.outs.joined(&outer.outs, &supremum(&self.outs, &outer.outs)?)?;
        }
        sum.columns.resize(sum.ins.bits() as usize, 0);
        place_columns(&self.columns, &places[0], &moves[0], &mut sum.columns);
        place_columns(&outer.columns, &places[1], &moves[1], &mut sum.columns);
        Ok(sum)
    }

    /// `outer(self(x))`; `outer` may have larger input dims than `self` has out dims.
    ///
    /// # Errors
    /// Where `self`'s out dims are not `outer`'s input dims, or one does not fit.
    pub fn compose(&self, outer: &Self) -> Result<Self, LayoutError> {
        if self.outs.len() != outer.ins.len() || self.outs.dims().any(|d| !outer.ins.contains(d)) {
            return Err(LayoutError::DimsDiffer { left: listed(&self.outs), right: listed(&outer.ins) });
        }
        let mut result = Self { ins: self.ins.clone(), outs: outer.outs.clone(), columns: Columns::new() };
        if self.outs == outer.ins {
            result.columns.extend(self.columns.iter().map(|&column| multiply(&outer.columns, column)));
        } else {
            let moves = self.outs.embedding(&outer.ins)?;
            result.columns.extend(self.columns.iter().map(|&column| multiply(&outer.columns, scatter(&moves, column))));
        }
        Ok(result)
    }

    /// The inverse of an invertible layout.
    ///
    /// # Errors
    /// [`LayoutError::NotInvertible`].
    pub fn invert(&self) -> Result<Self, LayoutError> {
        let solver = Solver::new(&self.columns);
        let (rank, ins, outs) = (solver.rank(), self.ins.bits(), self.outs.bits());
        if rank != ins || rank != outs {
            return Err(LayoutError::NotInvertible { rank, ins, outs });
        }
        Ok(self.backwards(&solver))
    }

    /// A right inverse of a surjective layout: X with `self(X(y)) = y`, free variables zero.
    ///
    /// # Errors
    /// [`LayoutError::NotSurjective`].
    pub fn pseudoinvert(&self) -> Result<Self, LayoutError> {
        let solver = Solver::new(&self.columns);
        let bits = self.outs.bits();
        if solver.rank() != bits {
            return Err(LayoutError::NotSurjective { rank: solver.rank(), bits });
        }
        Ok(self.backwards(&solver))
    }

    /// From the out space to the input space, by this layout's solver, which reaches all of it.
    fn backwards(&self, solver: &Solver) -> Self {
        let mut result = Self { ins: self.outs.clone(), outs: self.ins.clone(), columns: Columns::new() };
        for bit in 0..self.outs.bits() {
            result.columns.extend(solver.solve(1 << bit));
        }
        result
    }

    /// The C with `self(x) = outer(C(x))`.
    ///
    /// Where `outer` is not injective several C are right. The witness: a dim in which both have
    /// the same bases is mapped by the identity, unless `outer`'s other dims reach its image too;
    /// every other unknown that is free is zero, columns of `outer` being taken in order.
    ///
    /// # Errors
    /// Where the out dims differ, or `outer` does not reach all that `self` reaches.
    pub fn invert_and_compose(&self, outer: &Self) -> Result<Self, LayoutError> {
        if self.outs.len() != outer.outs.len() || self.outs.dims().any(|d| !outer.outs.contains(d)) {
            return Err(LayoutError::DimsDiffer { left: listed(&self.outs), right: listed(&outer.outs) });
        }
        let moves = self.outs.embedding(&outer.outs)?;
        let mut targets = Columns::new();
        targets.extend(self.columns.iter().map(|&column| scatter(&moves, column)));
        let kept = self.dims_kept(outer, &targets);
        let solver = Solver::new(&outer.columns);
        let mut result = Self { ins: self.ins.clone(), outs: outer.ins.clone(), columns: Columns::new() };
        let mut at = 0;
        for (dim, bits) in self.ins.iter() {
            let same = kept.contains(&dim).then(|| outer.ins.shift_of(dim)).flatten();
            for bit in 0..bits {
                let column = match same {
                    Some(shift) => 1 << (shift + bit),
                    None => solver.solve(targets[at]).ok_or(LayoutError::NoSolution { dim, bit })?,
                };
                result.columns.push(column);
                at += 1;
            }
        }
        Ok(result)
    }

    /// The dims that [`LinearLayout::invert_and_compose`] maps by the identity.
    fn dims_kept(&self, outer: &Self, targets: &[u64]) -> SmallVec<[Dim; 5]> {
        let mut kept = SmallVec::new();
        let mut at = 0;
        for (dim, bits) in self.ins.iter() {
            let own = &targets[at..at + bits as usize];
            at += bits as usize;
            if !outer.ins.contains(dim) || outer.columns_of(dim) != own {
                continue;
            }
            let place = outer.ins.range_of(dim);
            let others = || outer.columns[..place.start].iter().chain(&outer.columns[place.end..]).copied();
            let bits = |columns: &mut dyn Iterator<Item = u64>| columns.fold(0, |all, column| all | column);
            // No bit in common, as in most layouts, is no element in common.
            let apart = bits(&mut others()) & bits(&mut own.iter().copied()) == 0;
            if apart || Subspace::span(others()).intersection(&Subspace::span(own.iter().copied())).dimension() == 0 {
                kept.push(dim);
            }
        }
        kept
    }

    /// The C with `self = inner * C`, or `None` where `self` is not such a direct sum
    /// (seed 000, Definition 4.4, label by label). C keeps all dims of `self`.
    #[must_use]
    pub fn divide_left(&self, inner: &Self) -> Option<Self> {
        self.divide(inner, false)
    }

    /// The C with `self = C * outer`, or `None` where `self` is not such a direct sum. C keeps all
    /// dims of `self`.
    #[must_use]
    pub fn divide_right(&self, outer: &Self) -> Option<Self> {
        self.divide(outer, true)
    }

    fn divide(&self, divisor: &Self, divisor_above: bool) -> Option<Self> {
        let mut ins = Space::default();
        let mut outs = Space::default();
        for dim in divisor.ins.dims().filter(|&d| !self.ins.contains(d)) {
            if divisor.ins.bits_of(dim) > 0 {
                return None;
            }
        }
        for dim in divisor.outs.dims().filter(|&d| !self.outs.contains(d)) {
            if divisor.outs.bits_of(dim) > 0 {
                return None;
            }
        }
        for (dim, bits) in self.ins.iter() {
            ins.push(dim, bits.checked_sub(divisor.ins.bits_of(dim))?).ok()?;
        }
        for (dim, bits) in self.outs.iter() {
            outs.push(dim, bits.checked_sub(divisor.outs.bits_of(dim))?).ok()?;
        }
        let split = |column: u64| self.split_column(column, divisor, divisor_above);
        let mut columns = Columns::new();
        for (dim, bits) in self.ins.iter() {
            let taken = divisor.ins.bits_of(dim);
            let divisor_bits = if divisor_above { bits - taken..bits } else { 0..taken };
            let mut of_divisor = divisor.columns_of(dim).iter();
            for (bit, &column) in (0..bits).zip(self.columns_of(dim)) {
                let (part, rest) = split(column);
                if divisor_bits.contains(&bit) {
                    if rest != 0 || of_divisor.next() != Some(&part) {
                        return None;
                    }
                } else if part != 0 {
                    return None;
                } else {
                    columns.push(rest);
                }
            }
        }
        Some(Self { ins, outs, columns })
    }

    /// The bits of a column that belong to the divisor, packed as the divisor's out coordinate,
    /// and the others, packed as the quotient's.
    pub(super) fn split_column(&self, column: u64, divisor: &Self, divisor_above: bool) -> (u64, u64) {
        let (mut part, mut rest, mut rest_shift) = (0u64, 0u64, 0);
        for (dim, value) in self.outs.unpack(column) {
            let taken = divisor.outs.bits_of(dim);
            let left = self.outs.bits_of(dim).saturating_sub(taken);
            let (own, other) = if divisor_above {
                (value.checked_shr(left).unwrap_or(0), value & low_mask(left))
            } else {
                (value & low_mask(taken), value.checked_shr(taken).unwrap_or(0))
            };
            part |= divisor.outs.shift_of(dim).and_then(|s| own.checked_shl(s)).unwrap_or(0);
            rest |= other.checked_shl(rest_shift).unwrap_or(0);
            rest_shift += left;
        }
        (part, rest)
    }

    /// Whether, on each of the given dims, this is the identity and nothing else touches it:
    /// the dim occurs on both sides with one size, and no terms cross either way.
    #[must_use]
    pub fn is_trivial_over(&self, dims: &[Dim]) -> bool {
        dims.iter().all(|&dim| {
            let (Some(in_shift), Some(out_shift)) = (self.ins.shift_of(dim), self.outs.shift_of(dim)) else {
                return false;
            };
            let bits = self.ins.bits_of(dim);
            let mask = self.outs.mask_of(dim);
            bits == self.outs.bits_of(dim)
                && self.columns.iter().enumerate().all(|(at, &column)| {
                    match (at as u32).checked_sub(in_shift).filter(|&bit| bit < bits) {
                        Some(bit) => column == 1 << (out_shift + bit),
                        None => column & mask == 0,
                    }
                })
        })
    }

    /// What is left once the given dims, over which this layout is trivial, are taken away;
    /// `None` where it is not trivial over them.
    #[must_use]
    pub fn quotient(&self, dims: &[Dim]) -> Option<Self> {
        if !self.is_trivial_over(dims) {
            return None;
        }
        let ins: Vec<_> = self.ins.dims().filter(|d| !dims.contains(d)).collect();
        let outs: Vec<_> = self.outs.dims().filter(|d| !dims.contains(d)).collect();
        self.sublayout(&ins, &outs).ok()
    }
}

/// The dims of both spaces, each without bits.
///
/// Both lists are read from the front. A dim that the other list lacks goes first, the left one
/// before the right one. Where each front dim waits for the other list, no order respects both:
/// the one that the other list has earlier goes first, the left one where they are level.
fn supremum(left: &Space, right: &Space) -> Result<Space, LayoutError> {
    let mut result = Space::default();
    let place = |space: &Space, dim| space.dims().position(|d| d == dim);
    let (mut lefts, mut rights) = (left.dims().peekable(), right.dims().peekable());
    loop {
        while lefts.next_if(|&dim| result.contains(dim)).is_some() {}
        while rights.next_if(|&dim| result.contains(dim)).is_some() {}
        let dim = match (lefts.peek().copied(), rights.peek().copied()) {
            (None, None) => return Ok(result),
            (Some(dim), None) | (None, Some(dim)) => dim,
            (Some(l), Some(r)) => match (place(right, l), place(left, r)) {
                (Some(_), None) => r,
                (Some(in_right), Some(in_left)) if in_right > in_left => r,
                _ => l,
            },
        };
        result.push_new(dim, 0)?;
    }
}
