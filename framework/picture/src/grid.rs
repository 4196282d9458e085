//! A grid of cells: two axes with headings and bands, the cells, and names of runs (consecutive cells of a row).

use std::ops::Range;

use crate::{Cell, EmphasisColour};

/// A band: rows or columns from `start` up to the next band, with a thick border before them and a common heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadedGridBand {
    /// Index of the first row or column of the band.
    pub start: usize,
    /// The heading of the band; empty for a thick border alone.
    pub heading: String,
}

/// The rows or the columns of a grid: their number, name, headings and bands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GridAxis {
    /// The name of the axis; empty if it has none.
    pub name: String,
    /// Headings of the rows or columns in order; those beyond the last heading have none.
    pub headings: Vec<String>,
    /// The bands (groups of rows or columns), by ascending start.
    pub bands: Vec<HeadedGridBand>,
    count: usize,
}

/// A run: cells `start..end` of one row with a common name, which is drawn across them if they are too small for their
/// own texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellRun {
    /// Index of the run's row.
    pub row: usize,
    /// Index of the first column of the run.
    pub start: usize,
    /// Index of the column after the last column of the run.
    pub end: usize,
    /// Name of the run, drawn across its cells.
    pub name: String,
}

/// A heavy frame around a rectangle of cells; text renderers omit it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// Indices of the rectangle's rows.
    pub rows: Range<usize>,
    /// Indices of the rectangle's columns.
    pub columns: Range<usize>,
    /// The colour of the frame.
    pub tone: EmphasisColour,
}

/// A grid of cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grid {
    /// Number, name, headings and bands of the rows.
    pub row_axis: GridAxis,
    /// Number, name, headings and bands of the columns.
    pub column_axis: GridAxis,
    /// Names of runs (consecutive cells of a row), which large grids show instead of the cells' texts.
    pub runs: Vec<CellRun>,
    /// Whether all cells are drawn large enough for their texts even if the grid has many.
    pub in_full: bool,
    /// Heavy frames around rectangles of cells.
    pub outlines: Vec<Outline>,
    cells: Vec<Cell>,
}

impl GridAxis {
    /// Creates an axis with one row or column per heading.
    #[must_use]
    pub fn new<T: ToString>(name: impl Into<String>, headings: impl IntoIterator<Item = T>) -> Self {
        let headings: Vec<_> = headings.into_iter().map(|heading| heading.to_string()).collect();
        Self { name: name.into(), count: headings.len(), headings, bands: Vec::new() }
    }

    /// Creates an axis of `count` rows or columns without headings.
    #[must_use]
    pub fn without_headings(name: impl Into<String>, count: usize) -> Self {
        Self { name: name.into(), count, ..Self::default() }
    }

    /// Sets the bands (groups of rows or columns) by their starts and headings.
    #[must_use]
    pub fn with_bands<T: Into<String>>(mut self, bands: impl IntoIterator<Item = (usize, T)>) -> Self {
        self.bands =
            bands.into_iter().map(|(start, heading)| HeadedGridBand { start, heading: heading.into() }).collect();
        self
    }

    /// Sets a thick border every `size` rows or columns.
    #[must_use]
    pub fn with_borders_every(self, size: usize) -> Self {
        let starts = (0..self.count).step_by(size.max(1));
        self.with_bands(starts.map(|start| (start, "")))
    }

    /// Returns the number of rows or columns.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the heading of a row or column; empty if it has none.
    #[must_use]
    pub fn heading(&self, index: usize) -> &str {
        self.headings.get(index).map_or("", String::as_str)
    }

    /// Returns the band that begins at a row or column; `None` if none does.
    #[must_use]
    pub fn band_starting_at(&self, start: usize) -> Option<&HeadedGridBand> {
        self.bands.iter().find(|band| band.start == start)
    }

    /// Returns each band with the index after its last row or column.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (&HeadedGridBand, usize)> {
        let ends = self.bands.iter().skip(1).map(|band| band.start).chain([self.count]);
        self.bands.iter().zip(ends).filter(|(band, end)| band.start < *end && *end <= self.count)
    }

    /// Returns the part of the axis in a range of rows or columns. A band that begins before the range and reaches into
    /// it begins at the start of the range.
    fn cropped(&self, range: &Range<usize>) -> Self {
        let starts_later = |next: Option<&HeadedGridBand>| next.is_none_or(|next| next.start > range.start);
        let reaches = |&(index, band): &(usize, &HeadedGridBand)| {
            band.start < range.end && starts_later(self.bands.get(index + 1))
        };
        let bands = self.bands.iter().enumerate().filter(reaches);
        let bands = bands.map(|(_, band)| (band.start.max(range.start) - range.start, band.heading.clone()));
        Self::new(self.name.clone(), range.clone().map(|index| self.heading(index))).with_bands(bands)
    }
}

impl From<usize> for GridAxis {
    fn from(count: usize) -> Self {
        Self::without_headings("", count)
    }
}

impl Grid {
    /// Creates a grid of empty cells.
    #[must_use]
    pub fn new(rows: impl Into<GridAxis>, columns: impl Into<GridAxis>) -> Self {
        Self::from_fn(rows, columns, |_, _| Cell::default())
    }

    /// Creates a grid whose cell at each position is `cell(row, column)`.
    #[must_use]
    pub fn from_fn(
        rows: impl Into<GridAxis>,
        columns: impl Into<GridAxis>,
        mut cell: impl FnMut(usize, usize) -> Cell,
    ) -> Self {
        let (row_axis, column_axis) = (rows.into(), columns.into());
        let mut cells = Vec::with_capacity(row_axis.count * column_axis.count);
        for row in 0..row_axis.count {
            cells.extend((0..column_axis.count).map(|column| cell(row, column)));
        }
        Self { row_axis, column_axis, cells, ..Self::default() }
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.row_axis.count
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.column_axis.count
    }

    /// Returns the cell at a row and column; `None` outside the grid.
    #[must_use]
    pub fn cell(&self, row: usize, column: usize) -> Option<&Cell> {
        (column < self.columns()).then(|| self.cells.get(row * self.columns() + column)).flatten()
    }

    /// Returns the cell at a row and column, mutable; `None` outside the grid.
    pub fn cell_mut(&mut self, row: usize, column: usize) -> Option<&mut Cell> {
        let columns = self.columns();
        (column < columns).then(|| self.cells.get_mut(row * columns + column)).flatten()
    }

    /// Replaces the cell at a row and column; does nothing outside the grid.
    pub fn set(&mut self, row: usize, column: usize, cell: Cell) {
        if let Some(old) = self.cell_mut(row, column) {
            *old = cell;
        }
    }

    /// Returns all cells with their rows and columns, row by row.
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize, &Cell)> {
        self.cells.iter().enumerate().map(|(at, cell)| (at / self.columns(), at % self.columns(), cell))
    }

    /// Returns all cells, mutable, with their rows and columns, row by row.
    pub fn cells_mut(&mut self) -> impl Iterator<Item = (usize, usize, &mut Cell)> {
        let columns = self.columns();
        self.cells.iter_mut().enumerate().map(move |(at, cell)| (at / columns, at % columns, cell))
    }

    /// Returns the cells of a row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[Cell] {
        self.cells.get(row * self.columns()..(row + 1) * self.columns()).unwrap_or(&[])
    }

    /// Returns the part of the grid in ranges of rows and columns, clipped to the grid's size.
    #[must_use]
    pub fn crop(&self, rows: Range<usize>, columns: Range<usize>) -> Self {
        let rows = rows.start.min(self.rows())..rows.end.min(self.rows());
        let columns = columns.start.min(self.columns())..columns.end.min(self.columns());
        let cell = |row: usize, column: usize| self.row(rows.start + row)[columns.start + column].clone();
        let mut cropped_grid = Self::from_fn(self.row_axis.cropped(&rows), self.column_axis.cropped(&columns), cell);
        cropped_grid.in_full = self.in_full;
        let cut = |range: &Range<usize>, kept: &Range<usize>| {
            let (start, end) = (range.start.max(kept.start), range.end.min(kept.end));
            (start < end).then(|| start - kept.start..end - kept.start)
        };
        for run in self.runs.iter().filter(|run| rows.contains(&run.row)) {
            if let Some(Range { start, end }) = cut(&(run.start..run.end), &columns) {
                cropped_grid.runs.push(CellRun { row: run.row - rows.start, start, end, name: run.name.clone() });
            }
        }
        for outline in &self.outlines {
            if let (Some(rows), Some(columns)) = (cut(&outline.rows, &rows), cut(&outline.columns, &columns)) {
                cropped_grid.outlines.push(Outline { rows, columns, tone: outline.tone });
            }
        }
        cropped_grid
    }
}
