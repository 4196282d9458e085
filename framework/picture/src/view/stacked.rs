//! Maps a tensor to one plane: the last axis across, all other axes down.

use tilewright_layout::Space;

use super::axes::TensorAxes;
use super::side::GridSide;
use crate::error::check_size;
use crate::{GridAxis, PictureError};

/// The mapping between the elements of a tensor and the rows and columns of a plane.
#[derive(Debug, Clone)]
pub(super) struct StackedPlane<'a> {
    pub axes: TensorAxes<'a>,
    rows: GridSide<'a>,
    columns: GridSide<'a>,
}

impl<'a> StackedPlane<'a> {
    pub fn new(space: &'a Space) -> Result<Self, PictureError> {
        check_size("the tensor", space.total_bits())?;
        let axes = TensorAxes::new(space);
        let mut dims: Vec<_> = axes.dims.iter().map(|&(dim, _)| dim).collect();
        let columns = GridSide::new(space, dims.pop());
        let rows = GridSide::new(space, dims.pop()).with_bands(dims);
        Ok(Self { axes, rows, columns })
    }

    /// Returns the row and the column of the element with the packed coordinates `element`.
    pub fn position_of_element(&self, element: u64) -> (usize, usize) {
        (self.rows.index_of_packed(element), self.columns.index_of_packed(element))
    }

    /// Returns the packed coordinates of the element at a row and column.
    pub fn element_at(&self, row: usize, column: usize) -> u64 {
        self.rows.packed_index(row) | self.columns.packed_index(column)
    }

    /// Returns the row axis and the column axis of the plane's grid.
    pub fn grid_axes(&self) -> (GridAxis, GridAxis) {
        (self.rows.to_grid_axis(", "), self.columns.to_grid_axis(", "))
    }
}
