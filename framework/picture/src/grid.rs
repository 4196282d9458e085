//! A grid of cells: two axes with headings and bands, the cells, and names for stretches of cells.

use std::ops::Range;

use crate::{Cell, Tone};

/// Rows or columns from `start` up to the next band: a thick border before, a heading over them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Band {
    /// The first row or column of the band.
    pub start: usize,
    /// Its heading; empty for a border alone.
    pub heading: String,
}

/// The rows or the columns of a grid: their number, name, headings and bands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Axis {
    /// The name of the axis; empty if it has none.
    pub name: String,
    /// Headings in order; rows or columns beyond the last heading have none.
    pub headings: Vec<String>,
    /// Bands, ascending.
    pub bands: Vec<Band>,
    count: usize,
}

/// A name for cells `start..end` of one row, drawn across them where each cell is too small for its
/// own text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The row.
    pub row: usize,
    /// The first column.
    pub start: usize,
    /// The column after the last.
    pub end: usize,
    /// What is drawn.
    pub name: String,
}

/// A heavy frame around a rectangle of cells; text renderers leave it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Its rows.
    pub rows: Range<usize>,
    /// Its columns.
    pub columns: Range<usize>,
    /// Its colour.
    pub tone: Tone,
}

/// A grid of cells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grid {
    /// The rows.
    pub row_axis: Axis,
    /// The columns.
    pub column_axis: Axis,
    /// Names of stretches of cells, for large grids.
    pub runs: Vec<Run>,
    /// Whether every cell is large enough for its text however many there are.
    pub in_full: bool,
    /// Frames around rectangles of cells.
    pub frames: Vec<Frame>,
    cells: Vec<Cell>,
}

impl Axis {
    /// A row or column for each heading.
    #[must_use]
    pub fn new<T: ToString>(name: impl Into<String>, headings: impl IntoIterator<Item = T>) -> Self {
        let headings: Vec<_> = headings.into_iter().map(|heading| heading.to_string()).collect();
        Self { name: name.into(), count: headings.len(), headings, bands: Vec::new() }
    }

    /// So many rows or columns without headings.
    #[must_use]
    pub fn blank(name: impl Into<String>, count: usize) -> Self {
        Self { name: name.into(), count, ..Self::default() }
    }

    /// With bands, each by its start and its heading.
    #[must_use]
    pub fn bands<T: Into<String>>(mut self, bands: impl IntoIterator<Item = (usize, T)>) -> Self {
        self.bands = bands.into_iter().map(|(start, heading)| Band { start, heading: heading.into() }).collect();
        self
    }

    /// With a thick border every `size` rows or columns.
    #[must_use]
    pub fn ruled(self, size: usize) -> Self {
        let starts = (0..self.count).step_by(size.max(1));
        self.bands(starts.map(|start| (start, "")))
    }

    /// Number of rows or columns.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The heading of a row or column; empty if it has none.
    #[must_use]
    pub fn heading(&self, index: usize) -> &str {
        self.headings.get(index).map_or("", String::as_str)
    }

    /// The band that begins at a row or column.
    #[must_use]
    pub fn band_at(&self, start: usize) -> Option<&Band> {
        self.bands.iter().find(|band| band.start == start)
    }

    /// Each band with the row or column after its last.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (&Band, usize)> {
        let ends = self.bands.iter().skip(1).map(|band| band.start).chain([self.count]);
        self.bands.iter().zip(ends).filter(|(band, end)| band.start < *end && *end <= self.count)
    }

    /// The rows or columns of a range, the first band cut at its start.
    fn cropped(&self, range: &Range<usize>) -> Self {
        let starts_later = |next: Option<&Band>| next.is_none_or(|next| next.start > range.start);
        let reaches =
            |&(index, band): &(usize, &Band)| band.start < range.end && starts_later(self.bands.get(index + 1));
        let bands = self.bands.iter().enumerate().filter(reaches);
        let bands = bands.map(|(_, band)| (band.start.max(range.start) - range.start, band.heading.clone()));
        Self::new(self.name.clone(), range.clone().map(|index| self.heading(index))).bands(bands)
    }
}

impl From<usize> for Axis {
    fn from(count: usize) -> Self {
        Self::blank("", count)
    }
}

impl Grid {
    /// A grid of empty cells.
    #[must_use]
    pub fn new(rows: impl Into<Axis>, columns: impl Into<Axis>) -> Self {
        Self::of(rows, columns, |_, _| Cell::default())
    }

    /// A grid whose cells are made by a function of row and column.
    #[must_use]
    pub fn of(rows: impl Into<Axis>, columns: impl Into<Axis>, mut cell: impl FnMut(usize, usize) -> Cell) -> Self {
        let (row_axis, column_axis) = (rows.into(), columns.into());
        let mut cells = Vec::with_capacity(row_axis.count * column_axis.count);
        for row in 0..row_axis.count {
            cells.extend((0..column_axis.count).map(|column| cell(row, column)));
        }
        Self { row_axis, column_axis, cells, ..Self::default() }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.row_axis.count
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.column_axis.count
    }

    /// The cell of a row and column; `None` outside the grid.
    #[must_use]
    pub fn cell(&self, row: usize, column: usize) -> Option<&Cell> {
        (column < self.columns()).then(|| self.cells.get(row * self.columns() + column)).flatten()
    }

    /// The cell of a row and column, to be changed.
    pub fn cell_mut(&mut self, row: usize, column: usize) -> Option<&mut Cell> {
        let columns = self.columns();
        (column < columns).then(|| self.cells.get_mut(row * columns + column)).flatten()
    }

    /// Replaces the cell of a row and column; has no effect outside the grid.
    pub fn set(&mut self, row: usize, column: usize, cell: Cell) {
        if let Some(place) = self.cell_mut(row, column) {
            *place = cell;
        }
    }

    /// The cells with their rows and columns, row by row.
    pub fn cells(&self) -> impl Iterator<Item = (usize, usize, &Cell)> {
        self.cells.iter().enumerate().map(|(at, cell)| (at / self.columns(), at % self.columns(), cell))
    }

    /// The cells with their rows and columns, to be changed.
    pub fn cells_mut(&mut self) -> impl Iterator<Item = (usize, usize, &mut Cell)> {
        let columns = self.columns();
        self.cells.iter_mut().enumerate().map(move |(at, cell)| (at / columns, at % columns, cell))
    }

    /// The cells of a row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[Cell] {
        self.cells.get(row * self.columns()..(row + 1) * self.columns()).unwrap_or(&[])
    }

    /// The rows and columns of the given ranges only, cut at the grid's own size.
    #[must_use]
    pub fn cropped(&self, rows: Range<usize>, columns: Range<usize>) -> Self {
        let rows = rows.start.min(self.rows())..rows.end.min(self.rows());
        let columns = columns.start.min(self.columns())..columns.end.min(self.columns());
        let cell = |row: usize, column: usize| self.row(rows.start + row)[columns.start + column].clone();
        let mut part = Self::of(self.row_axis.cropped(&rows), self.column_axis.cropped(&columns), cell);
        part.in_full = self.in_full;
        let cut = |part: &Range<usize>, kept: &Range<usize>| {
            let (start, end) = (part.start.max(kept.start), part.end.min(kept.end));
            (start < end).then(|| start - kept.start..end - kept.start)
        };
        for run in self.runs.iter().filter(|run| rows.contains(&run.row)) {
            if let Some(Range { start, end }) = cut(&(run.start..run.end), &columns) {
                part.runs.push(Run { row: run.row - rows.start, start, end, name: run.name.clone() });
            }
        }
        for frame in &self.frames {
            if let (Some(rows), Some(columns)) = (cut(&frame.rows, &rows), cut(&frame.columns, &columns)) {
                part.frames.push(Frame { rows, columns, tone: frame.tone });
            }
        }
        part
    }
}
