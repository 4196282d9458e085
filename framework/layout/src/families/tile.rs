//! Tiles: direct sums of identities and replications over single dims, written column by column.
//!
//! What most families build is a sum of a dozen such parts. Multiplying layouts would list, compare
//! and move dims a dozen times over; here sizes are added up once, and every column is written once.

use smallvec::SmallVec;

use crate::{Axes, Dim, LayoutError, LinearLayout, Space};

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

/// One part of a tile: so many positions of `input`, along an axis or, replicated, nowhere.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    input: Dim,
    size: u64,
    axis: usize,
    replicated: bool,
}

impl From<(Dim, u64, usize)> for Part {
    /// The identity from positions of an input dim to an axis.
    fn from((input, size, axis): (Dim, u64, usize)) -> Self {
        Self { input, size, axis, replicated: false }
    }
}

impl Part {
    /// So many positions of an input dim that all hold the same.
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

/// [`layout_of`](super::cluster::layout_of) of one block.
pub(super) fn block_of(
    parts: impl Iterator<Item = Part> + Clone,
    order: &[usize],
    shape: &[u64],
) -> Result<LinearLayout, LayoutError> {
    let mut layout = LinearLayout { outs: tensor_space(shape)?, ..LinearLayout::empty() };
    let LinearLayout { ins, outs, columns } = &mut layout;
    let mut covered = SmallVec::<[u32; 4]>::from_elem(0, shape.len());
    let mut bits = [0; 3];
    for part in parts.clone() {
        let more = part.bits()?;
        bits[input_of(part.input)?] += more;
        covered[part.axis] += if part.replicated { 0 } else { more };
    }
    for &axis in order {
        bits[0] += outs.place_at(axis).1.saturating_sub(covered[axis]);
    }
    for (dim, bits) in [(Dim::REGISTER, bits[0]), (Dim::LANE, bits[1]), (Dim::WARP, bits[2]), (Dim::BLOCK, 0)] {
        ins.push_new(dim, bits)?;
    }
    columns.resize(ins.bits() as usize, 0);
    let mut next = [0, bits[0], bits[0] + bits[1]];
    covered.fill(0);
    for part in parts {
        let (more, at) = (part.bits()?, &mut next[input_of(part.input)?]);
        if !part.replicated {
            let (shift, limit) = outs.place_at(part.axis);
            let from = covered[part.axis];
            // Positions beyond the shape hold what others hold.
            let kept = limit.saturating_sub(from).min(more);
            write_units(columns, *at, shift + from, kept);
            covered[part.axis] += more;
        }
        *at += more;
    }
    for &axis in order {
        let (shift, limit) = outs.place_at(axis);
        let missing = limit.saturating_sub(covered[axis]);
        write_units(columns, next[0], shift + covered[axis], missing);
        next[0] += missing;
    }
    Ok(layout)
}

/// Which of the inputs of a distributed layout a dim is.
fn input_of(dim: Dim) -> Result<usize, LayoutError> {
    [Dim::REGISTER, Dim::LANE, Dim::WARP].iter().position(|&input| input == dim).ok_or(LayoutError::NoSuchDim { dim })
}

/// Makes `count` columns from `start` on the unit vectors from bit `unit` on.
fn write_units(columns: &mut [u64], start: u32, unit: u32, count: u32) {
    for (bit, column) in (unit..unit + count).zip(&mut columns[start as usize..]) {
        *column = 1 << bit;
    }
}

/// The axes of a tensor of this rank, the last one first: row-major order.
#[must_use]
pub fn row_major(rank: usize) -> Axes {
    (0..rank).rev().collect()
}

/// The direct sum of the identities over the axes in `order` (the fastest first), `sizes` being
/// listed by axis.
///
/// # Errors
/// A size that is no power of two; an order that repeats an axis gives the sum as it says.
pub fn identity_nd(input: Dim, sizes: &[u64], order: &[usize]) -> Result<LinearLayout, LayoutError> {
    sum_of(spread(input, sizes, order, None))
}

/// The direct sum of identities given one by one as input, size and axis, the lowest bits first.
/// The result lists its axes in `order`, in which [`over_tensor`](super::cluster::over_tensor)
/// repeats it.
///
/// # Errors
/// A size that is no power of two, or more than 64 bits.
pub fn tile_of(order: &[usize], parts: &[(Dim, u64, usize)]) -> Result<LinearLayout, LayoutError> {
    sum_of(listed(order).chain(parts.iter().copied().map(Part::from)))
}

/// As [`tile_of`], from parts of which some may be replicated.
///
/// # Errors
/// As [`tile_of`].
pub fn tile_of_parts(order: &[usize], parts: &[Part]) -> Result<LinearLayout, LayoutError> {
    sum_of(listed(order).chain(parts.iter().copied()))
}

/// Parts that move nothing and list the axes in an order.
fn listed(order: &[usize]) -> impl Iterator<Item = Part> + Clone + '_ {
    order.iter().map(|&axis| Part::from((Dim::REGISTER, 1, axis)))
}

/// The parts of [`identity_nd`]; all positions along the axis `replicated` hold the same.
pub fn spread<'a>(
    input: Dim,
    sizes: &'a [u64],
    order: &'a [usize],
    replicated: Option<usize>,
) -> impl Iterator<Item = Part> + Clone + 'a {
    order.iter().map(move |&axis| Part { input, size: sizes[axis], axis, replicated: replicated == Some(axis) })
}

/// The direct sum of the parts, the lowest bits first; dims are listed as they first occur.
///
/// # Errors
/// A size that is no power of two, or more than 64 bits.
pub(super) fn sum_of(parts: impl Iterator<Item = Part> + Clone) -> Result<LinearLayout, LayoutError> {
    let (mut ins, mut outs) = (Extents::default(), Extents::default());
    for part in parts.clone() {
        let bits = part.bits()?;
        ins.grow(part.input, bits);
        outs.grow(Dim::tensor(part.axis), if part.replicated { 0 } else { bits });
    }
    let mut layout = LinearLayout::empty();
    ins.lay_out(&mut layout.ins)?;
    outs.lay_out(&mut layout.outs)?;
    layout.columns.resize(layout.ins.bits() as usize, 0);
    for part in parts {
        let bits = part.bits()?;
        let start = ins.advance(part.input, bits);
        if !part.replicated && bits > 0 {
            let unit = outs.advance(Dim::tensor(part.axis), bits);
            write_units(&mut layout.columns, start, unit, bits);
        }
    }
    Ok(layout)
}

/// Dims with a number each: first their bits, then the next bit to write.
#[derive(Default)]
struct Extents(SmallVec<[(Dim, u32); 8]>);

impl Extents {
    fn place(&mut self, dim: Dim) -> &mut u32 {
        let index = self.0.iter().position(|&(d, _)| d == dim).unwrap_or_else(|| {
            self.0.push((dim, 0));
            self.0.len() - 1
        });
        &mut self.0[index].1
    }

    fn grow(&mut self, dim: Dim, bits: u32) {
        *self.place(dim) += bits;
    }

    /// Adds these dims to a space; their numbers become their lowest bits in it.
    fn lay_out(&mut self, space: &mut Space) -> Result<(), LayoutError> {
        for (dim, number) in &mut self.0 {
            let start = space.bits();
            space.push_new(*dim, *number)?;
            *number = start;
        }
        Ok(())
    }

    /// The next `bits` bits of a dim, by the lowest.
    fn advance(&mut self, dim: Dim, bits: u32) -> u32 {
        let place = self.place(dim);
        let start = *place;
        *place += bits;
        start
    }
}
