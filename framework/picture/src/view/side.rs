//! Maps the rows, columns or panels of a grid to bits of a packed index.

use std::ops::Range;

use tilewright_layout::{Dim, Space};

use crate::GridAxis;
use crate::text::join;

/// One side of a grid: its rows, columns or panels. Some bits of a packed index select the row (column, panel); the
/// other sides of the grid use the other bits.
#[derive(Debug, Clone)]
pub(super) struct GridSide<'a> {
    space: &'a Space,
    /// The dimension that counts rows or columns within a band (a group with a common heading); `None` if each band has
    /// one row or column.
    pub dim: Option<Dim>,
    /// The name of the rows or columns.
    pub name: String,
    /// The dimensions whose coordinates select the band (a group of rows or columns), most major first.
    pub bands: Vec<Dim>,
    /// All bits of the packed index that this side uses; the first bit distinguishes neighbouring rows or columns.
    bits: Vec<u32>,
    /// Number of bits that select the row or column within a band (a group of rows or columns).
    inner: u32,
    /// Index in `dim` of the lowest bit of `dim` that this side uses.
    first: u32,
}

impl<'a> GridSide<'a> {
    /// Creates a side of a grid (rows, columns or panels) with one position for each coordinate along `dim`; without
    /// `dim`, with one position.
    pub fn new(space: &'a Space, dim: Option<Dim>) -> Self {
        Self::from_bits(space, dim, 0..dim.map_or(0, |dim| space.bits_of(dim)))
    }

    /// Creates a side of a grid (rows, columns or panels) with one position for each value of the bits `bits` of the
    /// coordinate along `dim`; without `dim`, with one position.
    pub fn from_bits(space: &'a Space, dim: Option<Dim>, bits: Range<u32>) -> Self {
        let shift = dim.and_then(|dim| space.shift_of(dim)).unwrap_or(0);
        Self {
            space,
            dim,
            name: dim.map_or_else(String::new, |dim| dim.to_string()),
            bands: Vec::new(),
            inner: bits.end - bits.start,
            first: bits.start,
            bits: bits.map(|bit| shift + bit).collect(),
        }
    }

    /// Repeats the rows or columns in bands: one band for each combination of coordinates along `dims`, which are
    /// listed most major first.
    pub fn with_bands(mut self, dims: Vec<Dim>) -> Self {
        for &dim in dims.iter().rev() {
            self.bits.extend(Self::new(self.space, Some(dim)).bits);
        }
        let names = dims.iter().map(Dim::to_string);
        self.name = join(names.chain(self.dim.map(|_| self.name)), ", ");
        self.bands = dims;
        self
    }

    /// Returns log2 of the number of rows or columns.
    pub fn bit_count(&self) -> usize {
        self.bits.len()
    }

    /// Returns the number of rows or columns.
    pub fn count(&self) -> usize {
        1 << self.bits.len()
    }

    /// Returns the packed index that selects a row or column; the bits of other sides are zero.
    pub fn packed_index(&self, index: usize) -> u64 {
        self.bits.iter().enumerate().fold(0, |packed, (bit, position)| packed | (index as u64 >> bit & 1) << position)
    }

    /// Returns the row or column of a packed index.
    pub fn index_of_packed(&self, packed: u64) -> usize {
        self.bits.iter().enumerate().fold(0, |index, (bit, position)| index | (packed as usize >> position & 1) << bit)
    }

    /// Formats the coordinates of a packed index along the band dimensions, such as `block 0 warp 1`.
    pub fn band_name(&self, packed: u64, equals: &str, separator: &str) -> String {
        join(self.bands.iter().map(|&dim| format!("{dim}{equals}{}", self.space.coordinate(packed, dim))), separator)
    }

    /// Returns the grid axis: coordinates as headings, and a heading per band.
    pub fn to_grid_axis(&self, separator: &str) -> GridAxis {
        let heading = |index: usize| (index & ((1 << self.inner) - 1)) << self.first;
        let starts = (0..self.count()).step_by(1 << self.inner).filter(|_| !self.bands.is_empty());
        let bands = starts.map(|start| (start, self.band_name(self.packed_index(start), " ", separator)));
        GridAxis::new(self.name.clone(), (0..self.count()).map(heading)).with_bands(bands)
    }

    /// Returns the number of rows or columns of the smallest tile, a power of two, that contains all elements whose
    /// bits are in the mask `images`; `None` if this is one row or column, or all.
    pub fn smallest_tile(&self, images: u64) -> Option<usize> {
        let along = self.space.coordinate(images, self.dim?) >> self.first;
        let span = u64::BITS - along.leading_zeros();
        (span > 0 && span < self.inner).then(|| 1 << span)
    }
}
