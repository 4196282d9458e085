//! A side of a grid as bits of a packed index.

use std::ops::Range;

use tilewright_layout::{Dim, Space};

use crate::Axis;
use crate::text::join;

/// The rows or the columns of a grid, or its panels: which bits of a packed index count them.
#[derive(Debug, Clone)]
pub(super) struct Side<'a> {
    space: &'a Space,
    /// The dim that counts within a band; `None` if the side has one row or column in each band.
    pub dim: Option<Dim>,
    /// The name of the rows or columns.
    pub name: String,
    /// The dims that tell bands apart, most major first.
    pub bands: Vec<Dim>,
    /// All bits, the fastest first.
    bits: Vec<u32>,
    /// How many of them count within a band.
    inner: u32,
    /// The bit of `dim` from which on it counts.
    first: u32,
}

impl<'a> Side<'a> {
    /// All of a dim.
    pub fn new(space: &'a Space, dim: Option<Dim>) -> Self {
        Self::part(space, dim, 0..dim.map_or(0, |dim| space.bits_of(dim)))
    }

    /// Some bits of a dim.
    pub fn part(space: &'a Space, dim: Option<Dim>, bits: Range<u32>) -> Self {
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

    /// With further dims, most major first, as bands.
    pub fn in_bands(mut self, dims: Vec<Dim>) -> Self {
        for &dim in dims.iter().rev() {
            self.bits.extend(Self::new(self.space, Some(dim)).bits);
        }
        let names = dims.iter().map(Dim::to_string);
        self.name = join(names.chain(self.dim.map(|_| self.name)), ", ");
        self.bands = dims;
        self
    }

    /// Log2 of the number of rows or columns.
    pub fn bit_count(&self) -> usize {
        self.bits.len()
    }

    /// Number of rows or columns.
    pub fn count(&self) -> usize {
        1 << self.bits.len()
    }

    /// The bits of the packed index that a row or column sets.
    pub fn packed(&self, index: usize) -> u64 {
        self.bits.iter().enumerate().fold(0, |packed, (bit, place)| packed | (index as u64 >> bit & 1) << place)
    }

    /// The row or column of a packed index.
    pub fn index(&self, packed: u64) -> usize {
        self.bits.iter().enumerate().fold(0, |index, (bit, place)| index | (packed as usize >> place & 1) << bit)
    }

    /// The coordinates of a packed index along the dims of the bands: `block 0 warp 1`.
    pub fn band_name(&self, packed: u64, equals: &str, separator: &str) -> String {
        join(self.bands.iter().map(|&dim| format!("{dim}{equals}{}", self.space.coordinate(packed, dim))), separator)
    }

    /// The axis of the grid: coordinates as headings, and a heading for each band.
    pub fn axis(&self, separator: &str) -> Axis {
        let heading = |index: usize| (index & ((1 << self.inner) - 1)) << self.first;
        let starts = (0..self.count()).step_by(1 << self.inner).filter(|_| !self.bands.is_empty());
        let bands = starts.map(|start| (start, self.band_name(self.packed(start), " ", separator)));
        Axis::new(self.name.clone(), (0..self.count()).map(heading)).bands(bands)
    }

    /// Rows or columns that something spans whose images have these bits: `None` if they span nothing or all.
    pub fn tile(&self, images: u64) -> Option<usize> {
        let along = self.space.coordinate(images, self.dim?) >> self.first;
        let span = u64::BITS - along.leading_zeros();
        (span > 0 && span < self.inner).then(|| 1 << span)
    }
}
