//! Splits a tensor into planes of two axes, one plane per slice along the other axes.

use tilewright_layout::{Dim, Space};

use super::axes::TensorAxes;
use super::side::GridSide;
use crate::PictureError;
use crate::text::join;

/// Log2 of the max number of columns for which a tensor of one axis is drawn in a single row.
const ONE_ROW: u32 = 5;

/// Log2 of the max number of slices of a tensor, each drawn as a grid.
const MOST_SLICES: u32 = 6;

/// The axes of a tensor that are drawn as rows, as columns and as slices.
#[derive(Debug)]
pub(super) struct SlicedPlane<'a> {
    pub axes: TensorAxes<'a>,
    pub rows: GridSide<'a>,
    pub columns: GridSide<'a>,
    pub slices: GridSide<'a>,
}

impl<'a> SlicedPlane<'a> {
    /// Splits a tensor into planes with the axes `shown` as rows and columns, by default the last two. The only axis of
    /// a tensor is wrapped into several rows if it is long.
    pub fn new(space: &'a Space, shown: Option<(Dim, Dim)>) -> Result<Self, PictureError> {
        let axes = TensorAxes::new(space);
        let names = join(axes.dims.iter().map(|(dim, _)| dim), ", ");
        let (rows, columns) = match (shown, axes.dims.as_slice()) {
            (Some((row, column)), dims) => {
                if row == column {
                    return Err(PictureError::not_drawable(
                        format!("the plane of {row} and {row}"),
                        "rows and columns are the same axis",
                        format!("name two of {names}"),
                    ));
                }
                if let Some(lacking) = [row, column].into_iter().find(|&dim| dims.iter().all(|&(d, _)| d != dim)) {
                    return Err(PictureError::not_drawable(
                        format!("the plane of {lacking}"),
                        format!("the tensor's axes are {names}"),
                        "name two of them",
                    ));
                }
                (GridSide::new(space, Some(row)), GridSide::new(space, Some(column)))
            }
            (None, []) => (GridSide::new(space, None), GridSide::new(space, None)),
            (None, &[(dim, bits)]) => {
                let across = bits.min(ONE_ROW);
                let above = (bits > across).then_some(dim);
                (GridSide::from_bits(space, above, across..bits), GridSide::from_bits(space, Some(dim), 0..across))
            }
            (None, [.., (row, _), (column, _)]) => {
                (GridSide::new(space, Some(*row)), GridSide::new(space, Some(*column)))
            }
        };
        let others = axes.dims.iter().map(|&(dim, _)| dim);
        let others = others.filter(|&dim| Some(dim) != rows.dim && Some(dim) != columns.dim);
        let slices = GridSide::new(space, None).with_bands(others.collect());
        let remedy = format!("choose other rows and columns among {names}, or a smaller shape");
        let bits = slices.bit_count() as u32;
        PictureError::limit("the slices of the tensor's other axes", bits, MOST_SLICES, remedy)?;
        Ok(Self { axes, rows, columns, slices })
    }

    /// Returns the packed coordinates of the element at a row and column of a slice.
    pub fn element_at(&self, slice: usize, row: usize, column: usize) -> u64 {
        self.slices.packed_index(slice) | self.rows.packed_index(row) | self.columns.packed_index(column)
    }
}
