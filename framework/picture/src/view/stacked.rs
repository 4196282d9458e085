//! Maps a tensor to one plane: the last axis across, all other axes down.

use tilewright_layout::Space;

use super::axes::Axes;
use super::side::Side;
use crate::error::check_size;
use crate::{Axis, PictureError};

/// The mapping between the elements of a tensor and the rows and columns of a plane.
#[derive(Debug, Clone)]
pub(super) struct StackedPlane<'a> {
    pub axes: Axes<'a>,
    rows: Side<'a>,
    columns: Side<'a>,
}

impl<'a> StackedPlane<'a> {
    pub fn new(space: &'a Space) -> Result<Self, PictureError> {
        check_size("the tensor", space.bits())?;
        let axes = Axes::new(space);
        let mut dims: Vec<_> = axes.dims.iter().map(|&(dim, _)| dim).collect();
        let columns = Side::new(space, dims.pop());
        let rows = Side::new(space, dims.pop()).in_bands(dims);
        Ok(Self { axes, rows, columns })
    }

    /// Returns the row and the column of the element with the packed coordinates `element`.
    pub fn row_and_column(&self, element: u64) -> (usize, usize) {
        (self.rows.index(element), self.columns.index(element))
    }

    /// Returns the packed coordinates of the element at a row and column.
    pub fn element(&self, row: usize, column: usize) -> u64 {
        self.rows.packed(row) | self.columns.packed(column)
    }

    /// Returns the row axis and the column axis of the plane's grid.
    pub fn grid_axes(&self) -> (Axis, Axis) {
        (self.rows.axis(", "), self.columns.axis(", "))
    }
}
