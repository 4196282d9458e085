//! A tensor as a plane of cells: the last axis across, all axes before it down.

use tilewright_layout::{Dim, Space};

use crate::{Band, Grid, PictureError};

/// Log2 of the most cells that a grid is drawn with.
const MOST_BITS: u32 = 16;

/// Where the elements of a tensor are drawn.
#[derive(Debug, Clone)]
pub(crate) struct Plane<'a> {
    space: &'a Space,
    /// The axes, `dim0` first, with their bits.
    axes: Vec<(Dim, u32)>,
}

impl<'a> Plane<'a> {
    /// The plane of a tensor with these axes.
    pub fn new(space: &'a Space) -> Result<Self, PictureError> {
        let mut axes: Vec<_> = space.iter().collect();
        axes.sort_by_key(|&(dim, _)| dim);
        small_enough("the tensor", space.bits())?;
        Ok(Self { space, axes })
    }

    /// Number of rows and columns.
    pub fn size(&self) -> (usize, usize) {
        let columns = self.axes.last().map_or(0, |&(_, bits)| bits);
        (1 << (self.space.bits() - columns), 1 << columns)
    }

    /// The coordinates of an element, `dim0` first.
    pub fn coordinates(&self, packed: u64) -> Vec<u64> {
        self.axes.iter().map(|&(dim, _)| self.space.coordinate(packed, dim)).collect()
    }

    /// The coordinates as text: `3,17`.
    pub fn name(&self, packed: u64) -> String {
        let numbers: Vec<_> = self.coordinates(packed).iter().map(u64::to_string).collect();
        numbers.join(",")
    }

    /// The row and column of an element.
    pub fn place(&self, packed: u64) -> (usize, usize) {
        let mut row = 0;
        let mut column = 0;
        for (index, &(dim, bits)) in self.axes.iter().enumerate() {
            let at = self.space.coordinate(packed, dim) as usize;
            if index + 1 == self.axes.len() {
                column = at;
            } else {
                row = row << bits | at;
            }
        }
        (row, column)
    }

    /// An empty grid with the axes and headings of the tensor.
    pub fn grid(&self) -> Grid {
        let (rows, columns) = self.size();
        let mut grid = Grid::new(rows, columns);
        let names: Vec<_> = self.axes.iter().map(|(dim, _)| dim.to_string()).collect();
        if let Some((last, before)) = names.split_last() {
            grid.column_axis.clone_from(last);
            grid.row_axis = before.join(", ");
        }
        grid.column_headings = (0..columns).map(|column| column.to_string()).collect();
        let inner = self.axes.iter().rev().nth(1).map_or(0, |&(_, bits)| bits);
        grid.row_headings = (0..rows).map(|row| (row & ((1 << inner) - 1)).to_string()).collect();
        if self.axes.len() > 2 {
            grid.row_bands =
                (0..rows).step_by(1 << inner).map(|row| Band::new(row, self.before(row >> inner))).collect();
        }
        grid
    }

    /// The coordinates of the axes before the last two, from their place in order.
    fn before(&self, mut place: usize) -> String {
        let mut parts = Vec::new();
        for &(dim, bits) in self.axes.iter().rev().skip(2) {
            parts.push(format!("{dim} {}", place & ((1 << bits) - 1)));
            place >>= bits;
        }
        parts.reverse();
        parts.join(", ")
    }
}

/// Refuses what has more cells than can be looked at.
pub(crate) fn small_enough(what: &str, bits: u32) -> Result<(), PictureError> {
    if bits <= MOST_BITS {
        return Ok(());
    }
    Err(PictureError::TooLarge {
        what: what.to_owned(),
        bits,
        most: MOST_BITS,
        remedy: "draw a smaller tile of it".to_owned(),
    })
}
