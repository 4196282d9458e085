//! Operations that fit layouts to others: resizing to a shape, solving linear systems, removing a tile.

use crate::f2::{Columns, Solver};

use super::shape::dim_names;
use super::space::scatter;
use super::{Dim, LayoutError, LinearLayout, Space};

/// Solves `a(X(x)) = b(x)` for the layout X; free unknowns of `a` are zero, and columns of `a` are taken in order.
/// Unlike [`LinearLayout::invert_and_compose`] it does not prefer the identity on common dims.
///
/// ```
/// use tilewright_layout::{Dim, LinearLayout, solve_composition};
/// let a = LinearLayout::strided(4, 2, Dim::OFFSET, Dim::tensor(0))?;
/// let b = LinearLayout::from_bases(&[(Dim::LANE, vec![vec![4], vec![6]])], &[(Dim::tensor(0), 8)])?;
/// let x = solve_composition(&a, &b)?;
/// assert_eq!(x.compose(&a)?, b);
/// # Ok::<(), tilewright_layout::LayoutError>(())
/// ```
///
/// # Errors
/// The out dims differ, or `a` does not reach every element that `b` reaches.
#[doc(alias = "lstsq")]
pub fn solve_composition(a: &LinearLayout, b: &LinearLayout) -> Result<LinearLayout, LayoutError> {
    if a.outs.len() != b.outs.len() || b.outs.dims().any(|d| !a.outs.contains(d)) {
        return Err(LayoutError::DimsDiffer { left: dim_names(&a.outs), right: dim_names(&b.outs) });
    }
    let moves = b.outs.embedding(&a.outs)?;
    let solver = Solver::new(&a.columns);
    let mut columns = Columns::new();
    for dim in b.ins.dims() {
        for (bit, &column) in (0..).zip(b.columns_of(dim)) {
            columns.push(solver.solve(scatter(&moves, column)).ok_or(LayoutError::NoSolution { dim, bit })?);
        }
    }
    Ok(LinearLayout { ins: b.ins.clone(), outs: a.ins.clone(), columns })
}

impl LinearLayout {
    /// The layout whose out bits are parities of selected input bits: out bit `i` of a dim is the xor of the packed
    /// input's bits in the dim's mask `i`.
    ///
    /// ```
    /// use tilewright_layout::{Dim, LinearLayout, Space};
    /// // A row-major 4x4 tensor. The row is in the upper two bits of the offset.
    /// let ins = Space::from_sizes(&[(Dim::OFFSET, 16)])?;
    /// let masks = [(Dim::tensor(0), vec![0b0100, 0b1000]), (Dim::tensor(1), vec![0b0001, 0b0010])];
    /// let layout = LinearLayout::from_output_masks(ins, &masks)?;
    /// assert_eq!(layout.bases_of(Dim::OFFSET), [[0, 1], [0, 2], [1, 0], [2, 0]]);
    /// assert_eq!(layout.output_masks(), masks);
    /// # Ok::<(), tilewright_layout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// A mask that selects bits which `ins` lacks, a dim named twice, or more than 64 bits out.
    pub fn from_output_masks(ins: Space, masks: &[(Dim, Vec<u64>)]) -> Result<Self, LayoutError> {
        let mut outs = Space::default();
        let mut columns: Columns = (0..ins.total_bits()).map(|_| 0).collect();
        for (dim, rows) in masks {
            let first = outs.total_bits();
            outs.push(*dim, rows.len() as u32)?;
            for (bit, &mask) in (first..).zip(rows) {
                let missing = 64 - mask.leading_zeros();
                if missing > ins.total_bits() {
                    return Err(LayoutError::MaskTooWide { dim: *dim, mask, bits: ins.total_bits() });
                }
                for (at, column) in columns.iter_mut().enumerate() {
                    *column |= (mask >> at & 1) << bit;
                }
            }
        }
        Ok(Self { ins, outs, columns })
    }

    /// The masks of [`LinearLayout::from_output_masks`], one for each out bit: the out bit is the parity of the bits of
    /// the packed input that its mask selects.
    #[must_use]
    pub fn output_masks(&self) -> Vec<(Dim, Vec<u64>)> {
        let row = |bit: u32| self.columns.iter().rev().fold(0, |mask, column| mask << 1 | (column >> bit & 1));
        let mut first = 0;
        let mut masks = Vec::new();
        for (dim, bits) in self.outs.iter() {
            masks.push((dim, (first..first + bits).map(row).collect()));
            first += bits;
        }
        masks
    }

    /// Whether both layouts are the same map apart from the sizes of out dims: the same input space, the same out dims
    /// in the same order, the same coordinates.
    #[must_use]
    #[doc(alias = "equalIgnoringOutDimSizes")]
    pub fn equal_ignoring_out_sizes(&self, other: &Self) -> bool {
        let same = |(&a, &b): (&u64, &u64)| self.outs.unpack(a).eq(other.outs.unpack(b));
        self.ins == other.ins
            && self.outs.dims().eq(other.outs.dims())
            && self.columns.iter().zip(&other.columns).all(same)
    }

    /// Whether this can be a memory layout (Linear Layouts paper, Definition 4.14): invertible, every column with one
    /// or two bits set.
    #[must_use]
    pub fn is_memory_layout(&self) -> bool {
        self.columns.iter().all(|column| matches!(column.count_ones(), 1 | 2)) && self.is_invertible()
    }

    /// This layout without `tile`, which may lie anywhere in the out space: the tile's bases become zero, the others
    /// stay. `None` if the first bases of each input dim are not the tile's, or another basis has a bit of the tile's
    /// image.
    ///
    /// More general than [`LinearLayout::divide_left`], which needs the tile in the lowest bits: `self(x) = tile(x mod
    /// tile) xor repetitions(x)`.
    #[must_use]
    #[doc(alias = "getReps")]
    pub fn divide_out_tile(&self, tile: &Self) -> Option<Self> {
        let moves = tile.outs.embedding(&self.outs).ok()?;
        let image = tile.columns.iter().fold(0, |all, &column| all | scatter(&moves, column));
        if tile.ins.iter().any(|(dim, bits)| bits > self.ins.bits_of(dim)) {
            return None;
        }
        let mut columns = Columns::new();
        for dim in self.ins.dims() {
            let of_tile = tile.columns_of(dim);
            for (bit, &column) in self.columns_of(dim).iter().enumerate() {
                match of_tile.get(bit) {
                    Some(&own) if scatter(&moves, own) == column => columns.push(0),
                    None if column & image == 0 => columns.push(column),
                    _ => return None,
                }
            }
        }
        Some(Self { ins: self.ins.clone(), outs: self.outs.clone(), columns })
    }

    /// This layout, cut along every out dim that is larger than the given size: basis coordinates beyond the size
    /// become zero, so that registers or lanes there become replicas (Triton `ensureLayoutNotLargerThan`).
    ///
    /// # Errors
    /// A size that is no power of two.
    #[doc(alias = "ensureLayoutNotLargerThan")]
    pub fn ensure_not_larger_than(&self, sizes: &[(Dim, u64)]) -> Result<Self, LayoutError> {
        if let Some(&(dim, size)) = sizes.iter().find(|(_, size)| !size.is_power_of_two()) {
            return Err(LayoutError::NotPowerOfTwo { dim, size });
        }
        let allowed = |dim| sizes.iter().filter(move |&&(d, _)| d == dim).map(|&(_, size)| size.trailing_zeros()).min();
        let cut = |dim, bits: u32| allowed(dim).map_or(bits, |most| bits.min(most));
        if self.outs.iter().all(|(dim, bits)| cut(dim, bits) == bits) {
            Ok(self.clone())
        } else {
            self.with_out_bits(cut)
        }
    }

    /// This layout, repeated along every out dim that is smaller than the given size, in the order of the out dims;
    /// further positions of the first input dim take the repetitions.
    ///
    /// # Errors
    /// A size that is no power of two, or more than 64 bits on a side.
    #[doc(alias = "ensureLayoutNotSmallerThan")]
    pub fn ensure_not_smaller_than(&self, sizes: &[(Dim, u64)]) -> Result<Self, LayoutError> {
        let required = Space::from_sizes(sizes)?;
        let Some(input) = self.ins.dims().next() else { return Ok(self.clone()) };
        self.outs.iter().try_fold(self.clone(), |layout, (dim, bits)| {
            let missing = required.bits_of(dim).saturating_sub(bits);
            if missing == 0 { Ok(layout) } else { layout.direct_sum(&Self::identity(1 << missing, input, dim)?) }
        })
    }
    /// Fits this layout to exactly the out space `outs`, which has the same dims. Larger dims are cut (coordinates
    /// beyond become zero); smaller dims are repeated in this layout's order of out dims, and further positions of
    /// `input` take the repetitions. The result has `input` even without repetitions.
    pub(super) fn fitted(&self, outs: Space, input: Dim) -> Result<Self, LayoutError> {
        if outs.len() != self.outs.len() {
            return Err(LayoutError::DimsDiffer { left: dim_names(&self.outs), right: dim_names(&outs) });
        }
        let resizing = self.outs.resizing(&outs)?;
        let missing = |dim, bits: u32| outs.bits_of(dim).saturating_sub(bits);
        let repeated: u32 = self.outs.iter().map(|(dim, bits)| missing(dim, bits)).sum();
        let mut result = Self::default();
        for (dim, bits) in self.ins.iter() {
            result.ins.push_new(dim, if dim == input { bits + repeated } else { bits })?;
        }
        if !self.ins.contains(input) {
            result.ins.push_new(input, repeated)?;
        }
        let end = result.ins.range_of(input).end - repeated as usize;
        let columns = &mut result.columns;
        columns.extend(self.columns[..end].iter().map(|&column| resizing.apply(column)));
        for (dim, bits) in self.outs.iter() {
            let start = outs.shift_of(dim).unwrap_or(0);
            columns.extend((start + bits..start + bits + missing(dim, bits)).map(|bit| 1 << bit));
        }
        columns.extend(self.columns[end..].iter().map(|&column| resizing.apply(column)));
        result.outs = outs;
        Ok(result)
    }
}
