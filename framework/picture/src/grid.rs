//! A grid of cells with headings, bands of rows and columns, and names for stretches of cells.

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

impl Band {
    /// A band with a heading.
    #[must_use]
    pub fn new(start: usize, heading: impl Into<String>) -> Self {
        Self { start, heading: heading.into() }
    }
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

/// A grid of cells. Headings may be fewer than rows or columns; those that lack are blank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grid {
    /// What the rows are.
    pub row_axis: String,
    /// What the columns are.
    pub column_axis: String,
    /// A heading for each row.
    pub row_headings: Vec<String>,
    /// A heading for each column.
    pub column_headings: Vec<String>,
    /// Bands of rows, ascending.
    pub row_bands: Vec<Band>,
    /// Bands of columns, ascending.
    pub column_bands: Vec<Band>,
    /// Names of stretches of cells, for large grids.
    pub runs: Vec<Run>,
    /// Whether every cell is large enough for its text however many there are.
    pub in_full: bool,
    /// Frames around rectangles of cells.
    pub frames: Vec<Frame>,
    rows: usize,
    columns: usize,
    cells: Vec<Cell>,
}

impl Grid {
    /// A grid of empty cells.
    #[must_use]
    pub fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns, cells: vec![Cell::default(); rows * columns], ..Self::default() }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The cell at a place, where there is one.
    #[must_use]
    pub fn cell(&self, row: usize, column: usize) -> Option<&Cell> {
        (column < self.columns).then(|| self.cells.get(row * self.columns + column)).flatten()
    }

    /// Puts a cell at a place; a place outside the grid is left alone.
    pub fn set(&mut self, row: usize, column: usize, cell: Cell) {
        if let Some(place) = self.cell_mut(row, column) {
            *place = cell;
        }
    }

    /// The cell at a place, to be changed.
    pub fn cell_mut(&mut self, row: usize, column: usize) -> Option<&mut Cell> {
        (column < self.columns).then(|| self.cells.get_mut(row * self.columns + column)).flatten()
    }

    /// The cells of a row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[Cell] {
        self.cells.get(row * self.columns..(row + 1) * self.columns).unwrap_or(&[])
    }

    /// The heading of a row; empty where there is none.
    #[must_use]
    pub fn row_heading(&self, row: usize) -> &str {
        self.row_headings.get(row).map_or("", String::as_str)
    }

    /// The heading of a column; empty where there is none.
    #[must_use]
    pub fn column_heading(&self, column: usize) -> &str {
        self.column_headings.get(column).map_or("", String::as_str)
    }

    /// Bands of `size` rows each, without headings: a thick border every `size` rows.
    pub fn rule_rows(&mut self, size: usize) {
        self.row_bands = (0..self.rows).step_by(size.max(1)).map(|start| Band::new(start, "")).collect();
    }

    /// Bands of `size` columns each, without headings.
    pub fn rule_columns(&mut self, size: usize) {
        self.column_bands = (0..self.columns).step_by(size.max(1)).map(|start| Band::new(start, "")).collect();
    }

    /// The rows and columns of the given ranges only, cut at the grid's own size.
    #[must_use]
    pub fn cropped(&self, rows: Range<usize>, columns: Range<usize>) -> Self {
        let rows = rows.start.min(self.rows)..rows.end.min(self.rows);
        let columns = columns.start.min(self.columns)..columns.end.min(self.columns);
        let mut part = Self::new(rows.len(), columns.len());
        part.in_full = self.in_full;
        for (to, row) in rows.clone().enumerate() {
            for (across, column) in columns.clone().enumerate() {
                part.set(to, across, self.row(row)[column].clone());
            }
        }
        let headings = |all: &[String], range: &Range<usize>| {
            range.clone().map(|index| all.get(index).cloned().unwrap_or_default()).collect()
        };
        part.row_axis.clone_from(&self.row_axis);
        part.column_axis.clone_from(&self.column_axis);
        part.row_headings = headings(&self.row_headings, &rows);
        part.column_headings = headings(&self.column_headings, &columns);
        part.row_bands = cropped_bands(&self.row_bands, &rows);
        part.column_bands = cropped_bands(&self.column_bands, &columns);
        let kept = self.runs.iter().filter(|run| rows.contains(&run.row));
        let kept = kept.filter(|run| run.start < columns.end && run.end > columns.start);
        part.runs = kept
            .map(|run| Run {
                row: run.row - rows.start,
                start: run.start.max(columns.start) - columns.start,
                end: run.end.min(columns.end) - columns.start,
                name: run.name.clone(),
            })
            .collect();
        part.frames = self.frames.iter().filter_map(|frame| cropped_frame(frame, &rows, &columns)).collect();
        part
    }
}

/// The bands that reach into `range`, the first of them cut at its start.
fn cropped_bands(bands: &[Band], range: &Range<usize>) -> Vec<Band> {
    let ends = bands.iter().skip(1).map(|band| band.start).chain(std::iter::once(usize::MAX));
    let reaching = bands.iter().zip(ends).filter(|(band, end)| band.start < range.end && *end > range.start);
    reaching.map(|(band, _)| Band::new(band.start.max(range.start) - range.start, band.heading.clone())).collect()
}

/// The part of a frame within the given rows and columns.
fn cropped_frame(frame: &Frame, rows: &Range<usize>, columns: &Range<usize>) -> Option<Frame> {
    let cut = |part: &Range<usize>, kept: &Range<usize>| {
        let (start, end) = (part.start.max(kept.start), part.end.min(kept.end));
        (start < end).then(|| start - kept.start..end - kept.start)
    };
    Some(Frame { rows: cut(&frame.rows, rows)?, columns: cut(&frame.columns, columns)?, tone: frame.tone })
}
