//! Direct sum, division, composition and inversion of linear layouts.

use smallvec::SmallVec;

use crate::f2::{Columns, Solver, multiply_vector};

use super::shape::dim_names;
use super::space::{Moves, low_mask, scatter, scatter_columns};
use super::{Dim, LayoutError, LinearLayout, Space};

impl LinearLayout {
    /// The direct sum `self * outer` (Linear Layouts paper, Definition 4.3): in dims that both layouts have, input or
    /// out, `outer` acts on higher bits than `self`.
    ///
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// let part = |size| LinearLayout::identity(size, Dim::LANE, Dim::tensor(0));
    /// assert_eq!(part(4)?.direct_sum(&part(2)?)?, part(8)?);
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    ///
    /// A dim that one of the two lacks keeps its position among the other's dims. If they list shared dims in different
    /// orders, `self`'s order has precedence.
    ///
    /// # Errors
    /// The inputs or the outputs have more than 64 bits together.
    #[doc(alias = "operator*")]
    #[doc(alias = "mul")]
    pub fn direct_sum(&self, outer: &Self) -> Result<Self, LayoutError> {
        let mut sum = Self::default();
        let mut moved_bits = [Moves::new(), Moves::new()];
        if !self.ins.join(&outer.ins, &mut sum.ins, &mut moved_bits) {
            (sum.ins, moved_bits) = self.ins.direct_sum(&outer.ins, &supremum(&self.ins, &outer.ins)?)?;
        }
        let mut moves = [Moves::new(), Moves::new()];
        if !self.outs.join(&outer.outs, &mut sum.outs, &mut moves) {
            (sum.outs, moves) = self.outs.direct_sum(&outer.outs, &supremum(&self.outs, &outer.outs)?)?;
        }
        sum.columns.resize(sum.ins.total_bits() as usize, 0);
        scatter_columns(&self.columns, &moved_bits[0], &moves[0], &mut sum.columns);
        scatter_columns(&outer.columns, &moved_bits[1], &moves[1], &mut sum.columns);
        Ok(sum)
    }

    /// The composition `x -> outer(self(x))`; `outer` may have larger input dims than `self` has out dims.
    ///
    /// # Errors
    /// The out dims of `self` are not the input dims of `outer`, or one of them is larger in `self` than in `outer`.
    ///
    /// # Examples
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// // Lanes own offsets, and offsets are elements in reverse order of their bits.
    /// let lanes = LinearLayout::identity(4, Dim::LANE, Dim::OFFSET)?;
    /// let reversed = LinearLayout::from_bases(&[(Dim::OFFSET, vec![vec![2], vec![1]])], &[(Dim::tensor(0), 4)])?;
    /// assert_eq!(lanes.compose(&reversed)?.apply(&[(Dim::LANE, 1)])?, [(Dim::tensor(0), 2)]);
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    pub fn compose(&self, outer: &Self) -> Result<Self, LayoutError> {
        if self.outs.len() != outer.ins.len() || self.outs.dims().any(|d| !outer.ins.contains(d)) {
            return Err(LayoutError::DimsDiffer { left: dim_names(&self.outs), right: dim_names(&outer.ins) });
        }
        let mut result = Self { ins: self.ins.clone(), outs: outer.outs.clone(), columns: Columns::new() };
        if self.outs == outer.ins {
            result.columns.extend(self.columns.iter().map(|&column| multiply_vector(&outer.columns, column)));
        } else {
            let moves = self.outs.embedding(&outer.ins)?;
            result
                .columns
                .extend(self.columns.iter().map(|&column| multiply_vector(&outer.columns, scatter(&moves, column))));
        }
        Ok(result)
    }

    /// The inverse of an invertible layout.
    ///
    /// # Errors
    /// [`LayoutError::NotInvertible`] if two inputs have the same output, or an output has no input.
    ///
    /// # Examples
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// let lanes = LinearLayout::identity(8, Dim::LANE, Dim::tensor(0))?;
    /// assert_eq!(lanes.invert()?.apply(&[(Dim::tensor(0), 5)])?, [(Dim::LANE, 5)]);
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    pub fn invert(&self) -> Result<Self, LayoutError> {
        let solver = Solver::new(&self.columns);
        let (rank, ins, outs) = (solver.rank(), self.ins.total_bits(), self.outs.total_bits());
        if rank != ins || rank != outs {
            return Err(LayoutError::NotInvertible { rank, ins, outs });
        }
        Ok(self.backwards(&solver))
    }

    /// The right inverse X of a surjective layout, `self(X(y)) = y`, whose free variables are zero.
    ///
    /// # Errors
    /// [`LayoutError::NotSurjective`] if an output has no input.
    ///
    /// # Examples
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// // Lanes 4 to 7 have replicas of the elements of lanes 0 to 3.
    /// let lanes = LinearLayout::from_bases(&[(Dim::LANE, vec![vec![1], vec![2], vec![0]])], &[(Dim::tensor(0), 4)])?;
    /// assert_eq!(lanes.pseudoinvert()?.apply(&[(Dim::tensor(0), 3)])?, [(Dim::LANE, 3)]);
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    pub fn pseudoinvert(&self) -> Result<Self, LayoutError> {
        let solver = Solver::new(&self.columns);
        let bits = self.outs.total_bits();
        if solver.rank() != bits {
            return Err(LayoutError::NotSurjective { rank: solver.rank(), bits });
        }
        Ok(self.backwards(&solver))
    }

    /// Returns the right inverse of this surjective layout; `solver` holds the reduced matrix of this layout.
    fn backwards(&self, solver: &Solver) -> Self {
        let mut result = Self { ins: self.outs.clone(), outs: self.ins.clone(), columns: Columns::new() };
        for bit in 0..self.outs.total_bits() {
            result.columns.extend(solver.solve(1 << bit));
        }
        result
    }

    /// The layout C with `self(x) = outer(C(x))`.
    ///
    /// If `outer` is not injective, several C are right. The result maps an input dim by the identity if both layouts
    /// have it with the same bases, and no basis of any other dim of either layout has a set bit in common with these.
    /// Every other free unknown is zero; columns of `outer` are taken in order. Triton 3.9 chooses the same C.
    ///
    /// # Errors
    /// The out dims differ, or `outer` does not reach every element that `self` reaches.
    ///
    /// # Examples
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout};
    /// // In which register of the second layout is the element of lane 5 of the first?
    /// let lanes = LinearLayout::identity(8, Dim::LANE, Dim::tensor(0))?;
    /// let registers = LinearLayout::identity(8, Dim::REGISTER, Dim::tensor(0))?;
    /// let places = lanes.invert_and_compose(&registers)?;
    /// assert_eq!(places.apply(&[(Dim::LANE, 5)])?, [(Dim::REGISTER, 5)]);
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    #[doc(alias = "invertAndCompose")]
    pub fn invert_and_compose(&self, outer: &Self) -> Result<Self, LayoutError> {
        if self.outs.len() != outer.outs.len() || self.outs.dims().any(|d| !outer.outs.contains(d)) {
            return Err(LayoutError::DimsDiffer { left: dim_names(&self.outs), right: dim_names(&outer.outs) });
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

    /// Returns the input dims that [`LinearLayout::invert_and_compose`] maps by the identity. `targets` are the columns
    /// of this layout, converted to packed coordinates of `outer`'s out space.
    fn dims_kept(&self, outer: &Self, targets: &[u64]) -> SmallVec<[Dim; 5]> {
        let mut kept = SmallVec::new();
        let mut at = 0;
        let any = |columns: &[u64]| columns.iter().fold(0, |all, column| all | column);
        for (dim, bits) in self.ins.iter() {
            let range = at..at + bits as usize;
            at = range.end;
            if !outer.ins.contains(dim) || outer.columns_of(dim) != &targets[range.clone()] {
                continue;
            }
            let within = outer.ins.range_of(dim);
            let others = any(&outer.columns[..within.start])
                | any(&outer.columns[within.end..])
                | any(&targets[..range.start])
                | any(&targets[range.end..]);
            if any(&targets[range]) & others == 0 {
                kept.push(dim);
            }
        }
        kept
    }

    /// The quotient C with `self = inner * C`, or `None` if `self` is no such direct sum (Linear Layouts paper,
    /// Definition 4.4, dim by dim). C keeps all dims of `self`.
    #[must_use]
    #[doc(alias = "divideLeft")]
    pub fn divide_left(&self, inner: &Self) -> Option<Self> {
        self.divide(inner, false)
    }

    /// The quotient C with `self = C * outer`, or `None` if `self` is no such direct sum. C keeps all dims of `self`.
    #[must_use]
    #[doc(alias = "divideRight")]
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
                let (divisor_column, rest) = split(column);
                if divisor_bits.contains(&bit) {
                    if rest != 0 || of_divisor.next() != Some(&divisor_column) {
                        return None;
                    }
                } else if divisor_column != 0 {
                    return None;
                } else {
                    columns.push(rest);
                }
            }
        }
        Some(Self { ins, outs, columns })
    }

    /// Splits the bits of a column into those that belong to the divisor, packed as the divisor's out coordinate, and
    /// the others, packed as the quotient's out coordinate. The divisor has the upper bits of each out dim if
    /// `divisor_above`, else the lower ones.
    pub(super) fn split_column(&self, column: u64, divisor: &Self, divisor_above: bool) -> (u64, u64) {
        let (mut divisor_column, mut rest, mut rest_shift) = (0u64, 0u64, 0);
        for (dim, value) in self.outs.unpack(column) {
            let taken = divisor.outs.bits_of(dim);
            let left = self.outs.bits_of(dim).saturating_sub(taken);
            let (own, other) = if divisor_above {
                (value.checked_shr(left).unwrap_or(0), value & low_mask(left))
            } else {
                (value & low_mask(taken), value.checked_shr(taken).unwrap_or(0))
            };
            divisor_column |= divisor.outs.shift_of(dim).and_then(|s| own.checked_shl(s)).unwrap_or(0);
            rest |= other.checked_shl(rest_shift).unwrap_or(0);
            rest_shift += left;
        }
        (divisor_column, rest)
    }

    /// Whether this layout is the identity on each of the given dims and nothing else touches them: the dim occurs on
    /// both sides with one size, and no other dim maps to it or from it.
    #[must_use]
    #[doc(alias = "isTrivialOver")]
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

    /// This layout without the given dims, over which it is trivial; `None` if it is not trivial over them.
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

/// Merges the dims of both spaces into one order; the result gives only the order, so all its dims have size one.
///
/// Both lists are read from the front. A dim that the other list lacks goes first, the left one before the right one.
/// If each front dim also stands further back in the other list, no order respects both: the dim that stands earlier in
/// the other list goes first, the left one if they are equally far.
fn supremum(left: &Space, right: &Space) -> Result<Space, LayoutError> {
    let mut result = Space::default();
    let index_of = |space: &Space, dim| space.dims().position(|d| d == dim);
    let (mut lefts, mut rights) = (left.dims().peekable(), right.dims().peekable());
    loop {
        while lefts.next_if(|&dim| result.contains(dim)).is_some() {}
        while rights.next_if(|&dim| result.contains(dim)).is_some() {}
        let dim = match (lefts.peek().copied(), rights.peek().copied()) {
            (None, None) => return Ok(result),
            (Some(dim), None) | (None, Some(dim)) => dim,
            (Some(l), Some(r)) => match (index_of(right, l), index_of(left, r)) {
                (Some(_), None) => r,
                (Some(in_right), Some(in_left)) if in_right > in_left => r,
                _ => l,
            },
        };
        result.push_new(dim, 0)?;
    }
}
