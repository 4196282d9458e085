//! The axes of a tensor as rows, columns and slices of a picture.

use tilewright_layout::{Dim, Space};

use crate::PictureError;

/// Columns up to which a tensor of one axis is a single row, as a power of two.
const ONE_ROW: u32 = 5;

/// Slices that are drawn, as a power of two.
const MOST_SLICES: u32 = 6;

/// The axes of a tensor with their bits, as shaped: tensor axes by number, others most major first.
pub(super) fn in_order(outs: &Space) -> Vec<(Dim, u32)> {
    let mut axes: Vec<_> = outs.iter().rev().collect();
    if axes.iter().all(|(dim, _)| dim.tensor_axis().is_some()) {
        axes.sort();
    }
    axes
}

/// Which bits of an element's packed coordinate are its row and its column in a grid, and which
/// tell its slice.
pub(super) struct Plane {
    axes: Vec<(Dim, u32)>,
    pub rows: Side,
    pub columns: Side,
    /// The other axes, most major first.
    pub slices: Vec<(Dim, u32)>,
}

/// One side of a grid.
pub(super) struct Side {
    /// The axis; none where the tensor has none for this side.
    dim: Option<Dim>,
    /// From which bit of the axis on, and how many.
    from: u32,
    pub bits: u32,
}

impl Side {
    /// The axis' name, empty for none.
    pub fn name(&self) -> String {
        self.dim.map_or_else(String::new, |dim| dim.to_string())
    }

    /// The coordinate of a row or column along its axis; of a wrapped axis the part that it adds.
    pub fn coordinate(&self, index: u64) -> u64 {
        index << self.from
    }

    /// Rows or columns that something spans whose images along this side's axis have these bits:
    /// none where they span nothing or all.
    pub fn tile(&self, outs: &Space, images: u64) -> Option<usize> {
        let along = outs.coordinate(images, self.dim?) >> self.from;
        let span = u64::BITS - along.leading_zeros();
        (span > 0 && span < self.bits).then(|| 1 << span)
    }
}

impl Plane {
    /// The last two axes, or those that `shown` names; one long axis is wrapped.
    pub fn new(outs: &Space, shown: Option<(Dim, Dim)>) -> Result<Self, PictureError> {
        let axes = in_order(outs);
        let bits_of = |dim: Dim| axes.iter().find(|&&(d, _)| d == dim).map(|&(_, bits)| bits);
        let names = || axes.iter().map(|(dim, _)| dim.to_string()).collect::<Vec<_>>().join(", ");
        let whole = |dim: Dim| {
            let bits = bits_of(dim).ok_or_else(|| PictureError::NotDrawable {
                what: format!("the plane of {dim}"),
                reason: format!("the tensor's axes are {}", names()),
                remedy: "name two of them".to_owned(),
            })?;
            Ok::<_, PictureError>(Side { dim: Some(dim), from: 0, bits })
        };
        let (rows, columns) = match (shown, axes.as_slice()) {
            (Some((row, column)), _) if row == column => {
                return Err(PictureError::NotDrawable {
                    what: format!("the plane of {row} and {row}"),
                    reason: "rows and columns are the same axis".to_owned(),
                    remedy: format!("name two of {}", names()),
                });
            }
            (Some((row, column)), _) => (whole(row)?, whole(column)?),
            (None, []) => (Side { dim: None, from: 0, bits: 0 }, Side { dim: None, from: 0, bits: 0 }),
            (None, &[(dim, bits)]) => {
                let across = bits.min(ONE_ROW);
                let above = Side { dim: Some(dim), from: across, bits: bits - across };
                (
                    if above.bits == 0 { Side { dim: None, ..above } } else { above },
                    Side { dim: Some(dim), from: 0, bits: across },
                )
            }
            (None, [.., (row, _), (column, _)]) => (whole(*row)?, whole(*column)?),
        };
        let slices: Vec<_> =
            axes.iter().copied().filter(|&(dim, _)| Some(dim) != rows.dim && Some(dim) != columns.dim).collect();
        let bits = slices.iter().map(|&(_, bits)| bits).sum();
        if bits > MOST_SLICES {
            return Err(PictureError::TooLarge {
                what: "the slices of the tensor's other axes".to_owned(),
                bits,
                most: MOST_SLICES,
                remedy: format!("choose other rows and columns among {}, or a smaller shape", names()),
            });
        }
        Ok(Self { axes, rows, columns, slices })
    }

    /// Number of slices.
    pub fn slice_count(&self) -> u64 {
        1 << self.slices.iter().map(|&(_, bits)| bits).sum::<u32>()
    }

    /// The coordinates of a slice along its axes.
    pub fn slice(&self, number: u64) -> Vec<(Dim, u64)> {
        let mut rest = number;
        let mut fixed: Vec<_> = self
            .slices
            .iter()
            .rev()
            .map(|&(dim, bits)| {
                let at = rest & ((1 << bits) - 1);
                rest >>= bits;
                (dim, at)
            })
            .collect();
        fixed.reverse();
        fixed
    }

    /// The packed coordinate of a cell of a slice.
    pub fn element(&self, outs: &Space, fixed: &[(Dim, u64)], row: u64, column: u64) -> u64 {
        let shifted = |side: &Side, index: u64| {
            side.dim.and_then(|dim| outs.shift_of(dim)).map_or(0, |shift| side.coordinate(index) << shift)
        };
        let of_slice = fixed.iter().map(|&(dim, at)| outs.shift_of(dim).map_or(0, |shift| at << shift)).sum::<u64>();
        of_slice | shifted(&self.rows, row) | shifted(&self.columns, column)
    }

    /// An element's coordinates, in the order of the axes.
    pub fn coordinates(&self, outs: &Space, element: u64) -> Vec<u64> {
        self.axes.iter().map(|&(dim, _)| outs.coordinate(element, dim)).collect()
    }
}
