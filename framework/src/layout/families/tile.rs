//! Tiles: direct sums of identities and replications over single dims, written column by column.
//!
//! What most families build is a sum of a dozen such parts. Multiplying layouts would list, compare
//! and move dims a dozen times over; here sizes are added up once, and every column is written once.

use smallvec::SmallVec;

use crate::f2::Columns;
use crate::layout::{Axes, Dim, LayoutError, LinearLayout, Space};

/// One part of a tile: so many positions of `input`, along `output` or, replicated, nowhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) input: Dim,
    pub(super) size: u64,
    pub(super) output: Dim,
    pub(super) replicated: bool,
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

/// As [`identity_nd`], but all positions along the axis `replicated` hold the same.
///
/// # Errors
/// As [`identity_nd`].
pub fn identity_but(
    replicated: usize,
    input: Dim,
    sizes: &[u64],
    order: &[usize],
) -> Result<LinearLayout, LayoutError> {
    sum_of(spread(input, sizes, order, Some(replicated)))
}

/// The direct sum of identities given one by one as input, size and axis, the lowest bits first.
/// The result lists its axes in `order`, in which [`over_tensor`](super::cluster::over_tensor)
/// repeats it.
///
/// # Errors
/// A size that is no power of two, or more than 64 bits.
pub fn tile_of(order: &[usize], parts: &[(Dim, u64, usize)]) -> Result<LinearLayout, LayoutError> {
    let listed = order.iter().map(|&axis| (Dim::REGISTER, 1, axis));
    sum_of(listed.chain(parts.iter().copied()).map(|(input, size, axis)| Part {
        input,
        size,
        output: Dim::tensor(axis),
        replicated: false,
    }))
}

/// The parts of [`identity_but`].
pub(super) fn spread<'a>(
    input: Dim,
    sizes: &'a [u64],
    order: &'a [usize],
    replicated: Option<usize>,
) -> impl Iterator<Item = Part> + Clone + 'a {
    order.iter().map(move |&axis| Part {
        input,
        size: sizes[axis],
        output: Dim::tensor(axis),
        replicated: replicated == Some(axis),
    })
}

/// The direct sum of the parts, the lowest bits first; dims are listed as they first occur.
///
/// # Errors
/// A size that is no power of two, or more than 64 bits.
pub(super) fn sum_of(parts: impl Iterator<Item = Part> + Clone) -> Result<LinearLayout, LayoutError> {
    let (mut ins, mut outs) = (Extents::default(), Extents::default());
    for part in parts.clone() {
        if !part.size.is_power_of_two() {
            return Err(LayoutError::NotPowerOfTwo { dim: part.input, size: part.size });
        }
        let bits = part.size.trailing_zeros();
        ins.grow(part.input, bits);
        outs.grow(part.output, if part.replicated { 0 } else { bits });
    }
    let (in_space, out_space) = (ins.laid_out()?, outs.laid_out()?);
    let mut columns = Columns::from_elem(0, in_space.bits() as usize);
    for part in parts {
        let bits = part.size.trailing_zeros();
        let start = ins.advance(part.input, bits) as usize;
        if !part.replicated && bits > 0 {
            let unit = outs.advance(part.output, bits);
            for (bit, column) in (unit..).zip(&mut columns[start..start + bits as usize]) {
                *column = 1 << bit;
            }
        }
    }
    Ok(LinearLayout { ins: in_space, outs: out_space, columns })
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

    /// The space of these dims; their numbers become their lowest bits in it.
    fn laid_out(&mut self) -> Result<Space, LayoutError> {
        let mut space = Space::default();
        for (dim, number) in &mut self.0 {
            let start = space.bits();
            space.push(*dim, *number)?;
            *number = start;
        }
        Ok(space)
    }

    /// The next `bits` bits of a dim, by the lowest.
    fn advance(&mut self, dim: Dim, bits: u32) -> u32 {
        let place = self.place(dim);
        let start = *place;
        *place += bits;
        start
    }
}
