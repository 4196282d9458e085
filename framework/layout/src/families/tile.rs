//! Tiles: direct sums of identities and replications over single dims, written column by column.
//!
//! Most families are a direct sum of a dozen such parts. Repeated [`LinearLayout::direct_sum`] would list, compare and
//! move dims a dozen times; here sizes are added once and every column is written once.

use smallvec::SmallVec;

use crate::{AxisNumbers, Dim, LayoutError, LinearLayout, Space};

/// The space of a tensor's elements, `dim0` the most minor.
///
/// # Errors
/// A size that is no power of two, or more than 64 bits.
pub(super) fn tensor_space(shape: &[u64]) -> Result<Space, LayoutError> {
    let mut space = Space::default();
    for (axis, &size) in shape.iter().enumerate() {
        let dim = Dim::tensor(axis);
        if !size.is_power_of_two() {
            return Err(LayoutError::NotPowerOfTwo { dim, size });
        }
        space.push_new(dim, size.trailing_zeros())?;
    }
    Ok(space)
}

/// One term of the direct sum that a tile is: `size` positions of the dim `input` that move along `axis`, or that hold
/// replicas (zero bases).
#[derive(Debug, Clone, Copy)]
pub struct TileMode {
    input: Dim,
    size: u64,
    axis: usize,
    replicated: bool,
}

impl From<(Dim, u64, usize)> for TileMode {
    /// The identity from `size` positions of the dim `input` to the tensor axis number `axis`.
    fn from((input, size, axis): (Dim, u64, usize)) -> Self {
        Self { input, size, axis, replicated: false }
    }
}

impl TileMode {
    /// A term of `size` positions of the dim `input` that hold replicas.
    #[must_use]
    pub fn replicated(input: Dim, size: u64) -> Self {
        Self { input, size, axis: 0, replicated: true }
    }

    fn bits(&self) -> Result<u32, LayoutError> {
        if self.size.is_power_of_two() {
            return Ok(self.size.trailing_zeros());
        }
        Err(LayoutError::NotPowerOfTwo { dim: self.input, size: self.size })
    }
}

/// Builds the layout of a tensor of `shape` from the terms of one block's tile, as
/// [`tensor_layout_from_block_tile`](super::cluster::tensor_layout_from_block_tile) for a single block.
pub(super) fn block_of(
    modes: impl Iterator<Item = TileMode> + Clone,
    order: &[usize],
    shape: &[u64],
) -> Result<LinearLayout, LayoutError> {
    let mut layout = LinearLayout { outs: tensor_space(shape)?, ..LinearLayout::empty() };
    let LinearLayout { ins, outs, columns } = &mut layout;
    let mut covered = SmallVec::<[u32; 4]>::from_elem(0, shape.len());
    let mut bits = [0; 3];
    for mode in modes.clone() {
        let more = mode.bits()?;
        bits[input_of(mode.input)?] += more;
        covered[mode.axis] += if mode.replicated { 0 } else { more };
    }
    for &axis in order {
        bits[0] += outs.shift_and_bits(axis).1.saturating_sub(covered[axis]);
    }
    for (dim, bits) in [(Dim::REGISTER, bits[0]), (Dim::LANE, bits[1]), (Dim::WARP, bits[2]), (Dim::BLOCK, 0)] {
        ins.push_new(dim, bits)?;
    }
    columns.resize(ins.total_bits() as usize, 0);
    let mut next = [0, bits[0], bits[0] + bits[1]];
    covered.fill(0);
    for mode in modes {
        let (more, at) = (mode.bits()?, &mut next[input_of(mode.input)?]);
        if !mode.replicated {
            let (shift, limit) = outs.shift_and_bits(mode.axis);
            let from = covered[mode.axis];
            // Positions beyond the shape are replicas.
            let kept = limit.saturating_sub(from).min(more);
            write_units(columns, *at, shift + from, kept);
            covered[mode.axis] += more;
        }
        *at += more;
    }
    for &axis in order {
        let (shift, limit) = outs.shift_and_bits(axis);
        let missing = limit.saturating_sub(covered[axis]);
        write_units(columns, next[0], shift + covered[axis], missing);
        next[0] += missing;
    }
    Ok(layout)
}

/// Returns the index of a dim in the order of the input dims of a distributed layout: register, lane, warp.
fn input_of(dim: Dim) -> Result<usize, LayoutError> {
    [Dim::REGISTER, Dim::LANE, Dim::WARP].iter().position(|&input| input == dim).ok_or(LayoutError::NoSuchDim { dim })
}

/// Writes `count` columns from `start` on: the unit vectors from bit `unit` on.
fn write_units(columns: &mut [u64], start: u32, unit: u32, count: u32) {
    for (bit, column) in (unit..unit + count).zip(&mut columns[start as usize..]) {
        *column = 1 << bit;
    }
}

/// The axes of a tensor of this rank, the last one first: row-major order.
#[must_use]
pub fn row_major_axis_order(rank: usize) -> AxisNumbers {
    (0..rank).rev().collect()
}

/// The direct sum of the identities from the dim `input` to the axes in `order` (the fastest first); `sizes` has one
/// size for each axis of the tensor. If `order` repeats an axis, the result repeats its identity.
///
/// # Errors
/// A size that is no power of two.
#[doc(alias = "identityStandardND")]
pub fn identity_nd(input: Dim, sizes: &[u64], order: &[usize]) -> Result<LinearLayout, LayoutError> {
    direct_sum_of(identity_modes(input, sizes, order, None))
}

/// The direct sum of identities given as (input, size, axis), the lowest bits first. The result lists its axes in
/// `order`, the order of repetition in [`extend_tile_to_tensor`](super::cluster::extend_tile_to_tensor).
///
/// # Errors
/// A size that is no power of two, or more than 64 bits.
pub fn tile_from_identities(order: &[usize], modes: &[(Dim, u64, usize)]) -> Result<LinearLayout, LayoutError> {
    direct_sum_of(listed(order).chain(modes.iter().copied().map(TileMode::from)))
}

/// As [`tile_from_identities`], from terms that may be replicas.
///
/// # Errors
/// As [`tile_from_identities`].
pub fn direct_sum_of_modes(order: &[usize], modes: &[TileMode]) -> Result<LinearLayout, LayoutError> {
    direct_sum_of(listed(order).chain(modes.iter().copied()))
}

/// Returns a term of size one for each axis of `order`; these terms only fix the order of the axes in a direct sum.
fn listed(order: &[usize]) -> impl Iterator<Item = TileMode> + Clone + '_ {
    order.iter().map(|&axis| TileMode::from((Dim::REGISTER, 1, axis)))
}

/// Returns the terms whose direct sum is [`identity_nd`]; positions along the axis `replicated`, if any, hold replicas
/// (zero bases).
pub fn identity_modes<'a>(
    input: Dim,
    sizes: &'a [u64],
    order: &'a [usize],
    replicated: Option<usize>,
) -> impl Iterator<Item = TileMode> + Clone + 'a {
    order.iter().map(move |&axis| TileMode { input, size: sizes[axis], axis, replicated: replicated == Some(axis) })
}

/// The direct sum of the terms, the lowest bits first; dims are listed as they first occur.
///
/// # Errors
/// A size that is no power of two, or more than 64 bits.
pub(super) fn direct_sum_of(modes: impl Iterator<Item = TileMode> + Clone) -> Result<LinearLayout, LayoutError> {
    let (mut ins, mut outs) = (Extents::default(), Extents::default());
    for mode in modes.clone() {
        let bits = mode.bits()?;
        ins.grow(mode.input, bits);
        outs.grow(Dim::tensor(mode.axis), if mode.replicated { 0 } else { bits });
    }
    let mut layout = LinearLayout::empty();
    ins.lay_out(&mut layout.ins)?;
    outs.lay_out(&mut layout.outs)?;
    layout.columns.resize(layout.ins.total_bits() as usize, 0);
    for mode in modes {
        let bits = mode.bits()?;
        let start = ins.advance(mode.input, bits);
        if !mode.replicated && bits > 0 {
            let unit = outs.advance(Dim::tensor(mode.axis), bits);
            write_units(&mut layout.columns, start, unit, bits);
        }
    }
    Ok(layout)
}

/// For each dim a counter: before `lay_out` is called, the dim's number of bits; afterwards, its next unused bit in the
/// space.
#[derive(Default)]
struct Extents(SmallVec<[(Dim, u32); 8]>);

impl Extents {
    fn next_bit(&mut self, dim: Dim) -> &mut u32 {
        let index = self.0.iter().position(|&(d, _)| d == dim).unwrap_or_else(|| {
            self.0.push((dim, 0));
            self.0.len() - 1
        });
        &mut self.0[index].1
    }

    fn grow(&mut self, dim: Dim, bits: u32) {
        *self.next_bit(dim) += bits;
    }

    /// Adds these dims to a space; the counters become their lowest bits in it.
    fn lay_out(&mut self, space: &mut Space) -> Result<(), LayoutError> {
        for (dim, number) in &mut self.0 {
            let start = space.total_bits();
            space.push_new(*dim, *number)?;
            *number = start;
        }
        Ok(())
    }

    /// Takes the next `bits` bits of a dim, and returns the index of the lowest of them.
    fn advance(&mut self, dim: Dim, bits: u32) -> u32 {
        let next_bit = self.next_bit(dim);
        let start = *next_bit;
        *next_bit += bits;
        start
    }
}
