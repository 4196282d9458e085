//! Computes the positions of the parts of a grid: cells, headings, bands (groups of rows or columns).

use std::ops::Range;

use crate::{CellRun, Grid};

use super::font::{BODY, PITCH, width};

/// Font size, in pixels, of headings and of text in full-size cells (those of grids with few cells).
const FULL: f64 = 11.0;
/// Min font size, in pixels, of text in the small cells of large grids; text that fits only in a smaller size is
/// omitted.
const SMALLEST: f64 = 5.0;
/// Max font size, in pixels, of text in the small cells of large grids.
const COMPACT: f64 = 9.0;
/// Height and min width, in pixels, of the small cells of large grids.
const SMALL: f64 = 16.0;
/// In grids of at most [`MEDIUM_COLUMNS`] columns: the font size for which small cells are widened so that their texts
/// fit, and the max width of these cells, both in pixels.
const MEDIUM: (f64, f64) = (8.0, 44.0);
/// As [`MEDIUM`], in grids of more than [`MEDIUM_COLUMNS`] columns.
const LARGE: (f64, f64) = (6.0, 30.0);
/// Max number of columns of a grid whose small cells are widened by [`MEDIUM`], not by [`LARGE`].
const MEDIUM_COLUMNS: usize = 64;
/// Max width in pixels of a full-size cell that is widened for the heading of its band (group of columns).
const FULL_WIDEST: f64 = 40.0;
/// Font size, in pixels, of a heading over a narrow band (group of columns).
const BAND: f64 = 8.0;
/// Horizontal margin around a text in a small cell (of a large grid), in pixels.
const BESIDE: f64 = 2.5;
/// Max number of columns of a grid whose cells have full size.
const FULL_COLUMNS: usize = 40;
/// Max number of cells of a grid whose cells have full size.
const FULL_CELLS: usize = 2048;

/// A grid with the positions of its parts.
#[derive(Debug)]
pub(crate) struct PlacedGrid<'a> {
    pub grid: &'a Grid,
    /// Left end and top of the first cell, in pixels.
    pub x: f64,
    pub y: f64,
    pub cell_width: f64,
    pub cell_height: f64,
    /// Whether the grid is large and has small cells, so that runs (consecutive cells of a row) are named instead of
    /// cells.
    pub compact: bool,
    pub labels: Vec<Label>,
}

/// A text of the grid with its point, its placement at that point (`position`), and its font size.
#[derive(Debug)]
pub(crate) struct Label {
    pub x: f64,
    pub y: f64,
    pub size: f64,
    pub position: LabelPosition,
    pub text: String,
}

/// The part of a grid that a label names, and how the label lies at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelPosition {
    /// A heading, centred at the point.
    Heading,
    /// The heading of a row, which ends at the point.
    RowHeading,
    /// The name of an axis, which starts at the point.
    Axis,
    /// The text of a cell, or of a run of cells, centred at the point; the row and column of the cell.
    Cell(usize, usize),
}

impl PlacedGrid<'_> {
    /// Returns the right and the lower end of the grid.
    pub fn end(&self) -> (f64, f64) {
        (self.left_of(self.grid.columns()), self.top_of(self.grid.rows()))
    }

    /// Returns left end, top, width and height of a rectangle of cells.
    pub fn rect(&self, rows: Range<usize>, columns: Range<usize>) -> [f64; 4] {
        let (x, y) = (self.left_of(columns.start), self.top_of(rows.start));
        [x, y, self.left_of(columns.end) - x, self.top_of(rows.end) - y]
    }

    pub fn left_of(&self, column: usize) -> f64 {
        self.x + column as f64 * self.cell_width
    }

    pub fn top_of(&self, row: usize) -> f64 {
        self.y + row as f64 * self.cell_height
    }
}

/// Computes the positions of a grid and its headings; the top left corner of everything is at (`x`, `y`).
pub(crate) fn arrange(grid: &Grid, x: f64, y: f64) -> PlacedGrid<'_> {
    let is_large = grid.columns() > FULL_COLUMNS || grid.rows() * grid.columns() > FULL_CELLS;
    let compact = is_large && !grid.in_full;
    let (cell_width, cell_height) = if compact { (small_width(grid), SMALL) } else { full_size(grid) };
    let row_headings = widest(grid.row_axis.headings.iter().map(String::as_str), FULL);
    let bands = widest(grid.row_axis.bands.iter().map(|band| band.heading.as_str()), FULL);
    let band_width = if bands > 0.0 { bands + 8.0 } else { 0.0 };
    let left = f64::max(band_width + row_headings + 8.0, width(&grid.row_axis.name, FULL) + 20.0);
    let has_bands = grid.column_axis.bands.iter().any(|band| !band.heading.is_empty());
    let axis = if grid.column_axis.name.is_empty() { 0.0 } else { 15.0 };
    let top = axis + if has_bands { 15.0 } else { 0.0 } + 16.0;
    let mut placed = PlacedGrid { grid, x: x + left, y: y + top, cell_width, cell_height, compact, labels: Vec::new() };
    placed.axes(x, y);
    placed.column_headings();
    placed.row_headings(x);
    if compact && !grid.runs.is_empty() {
        placed.run_names()
    } else {
        placed.cell_texts()
    }
    placed
}

fn widest<'a>(texts: impl Iterator<Item = &'a str>, size: f64) -> f64 {
    texts.map(|text| width(text, size)).fold(0.0, f64::max)
}

fn full_size(grid: &Grid) -> (f64, f64) {
    let lines = grid.cells().map(|(_, _, cell)| cell.lines.len()).max().unwrap_or(0).max(1);
    let text = widest(grid.cells().flat_map(|(_, _, cell)| &cell.lines).map(String::as_str), FULL);
    let bands = grid.column_axis.spans();
    let bands = bands.map(|(band, end)| width(&band.heading, BAND) / (end - band.start) as f64).fold(0.0, f64::max);
    let height = (lines as f64 * (FULL + 2.0) + 8.0).max(24.0);
    ((text + 8.0).max(24.0).max(bands.min(FULL_WIDEST)), height)
}

/// Returns the width of small cells (those of large grids) in pixels: the least that fits all their texts, but at least
/// [`SMALL`] and at most the width of [`MEDIUM`] or [`LARGE`].
fn small_width(grid: &Grid) -> f64 {
    let (size, most) = if grid.columns() <= MEDIUM_COLUMNS { MEDIUM } else { LARGE };
    let need = |text: &str| width(text, size) + BESIDE;
    let runs = grid.runs.iter().map(|run| need(&run.name) / (run.end - run.start).max(1) as f64);
    let widest = if grid.runs.is_empty() {
        grid.cells().flat_map(|(_, _, cell)| &cell.lines).map(|line| need(line)).fold(0.0, f64::max)
    } else {
        runs.fold(0.0, f64::max)
    };
    widest.ceil().clamp(SMALL, most)
}

impl PlacedGrid<'_> {
    fn label(&mut self, x: f64, y: f64, size: f64, position: LabelPosition, text: impl Into<String>) {
        self.labels.push(Label { x, y, size, position, text: text.into() });
    }

    fn axes(&mut self, x: f64, y: f64) {
        let (rows, columns) = (&self.grid.row_axis.name, &self.grid.column_axis.name);
        if !columns.is_empty() {
            self.label(self.x, y + FULL, FULL, LabelPosition::Axis, format!("{columns} →"));
        }
        if !rows.is_empty() {
            self.label(x, self.y - 5.0, FULL, LabelPosition::Axis, format!("{rows} ↓"));
        }
    }

    /// Adds labels for the headings of columns and of column bands. If the headings are too wide for every column, only
    /// columns at multiples of a power of two get one.
    fn column_headings(&mut self) {
        let axis = &self.grid.column_axis;
        let every = stride(widest(axis.headings.iter().map(String::as_str), FULL) + 4.0, self.cell_width);
        for column in (0..axis.count()).step_by(every) {
            let text = axis.heading(column);
            if !text.is_empty() {
                let x = self.left_of(column) + self.cell_width / 2.0;
                self.label(x, self.y - 5.0, FULL, LabelPosition::Heading, text);
            }
        }
        for (band, end) in axis.spans() {
            let (from, to) = (self.left_of(band.start), self.left_of(end));
            if let Some((size, text)) = band_heading(&band.heading, to - from) {
                self.label((from + to) / 2.0, self.y - 20.0, size, LabelPosition::Heading, text);
            }
        }
    }

    /// Adds labels for the headings of rows, and for those of row bands with their left end at `left`. If the headings
    /// are too high for every row, only rows at multiples of a power of two get one.
    fn row_headings(&mut self, left: f64) {
        let axis = &self.grid.row_axis;
        for row in (0..axis.count()).step_by(stride(BODY, self.cell_height)) {
            let text = axis.heading(row);
            if !text.is_empty() {
                let y = self.top_of(row) + self.cell_height / 2.0 + FULL * 0.35;
                self.label(self.x - 6.0, y, FULL, LabelPosition::RowHeading, text);
            }
        }
        for (band, end) in axis.spans() {
            let middle = (self.top_of(band.start) + self.top_of(end)) / 2.0;
            if !band.heading.is_empty() {
                self.label(left, middle + FULL * 0.35, FULL, LabelPosition::Axis, &band.heading);
            }
        }
    }

    fn cell_texts(&mut self) {
        for (row, column, cell) in self.grid.cells() {
            let longest = cell.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            let lines = cell.lines.len().max(1) as f64;
            let Some(size) = fitting(longest, self.cell_width, self.cell_height / lines, self.compact) else {
                continue;
            };
            let middle = self.top_of(row) + self.cell_height / 2.0;
            for (index, line) in cell.lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
                let below = (index as f64 - (lines - 1.0) / 2.0) * (size + 2.0);
                let x = self.left_of(column) + self.cell_width / 2.0;
                self.label(x, middle + below + size * 0.35, size, LabelPosition::Cell(row, column), line);
            }
        }
    }

    /// Adds labels for the names of runs: all in one font size if one fits all names, else each in its own size; names
    /// that fit in no legible size are omitted.
    fn run_names(&mut self) {
        let span = |run: &CellRun| (run.end - run.start) as f64 * self.cell_width;
        let fit = |run: &CellRun| fitting(run.name.chars().count(), span(run), self.cell_height, true);
        let sizes: Vec<_> = self.grid.runs.iter().map(fit).collect();
        let smallest = sizes.iter().map(|size| size.unwrap_or(0.0)).fold(COMPACT, f64::min);
        let labels = self.grid.runs.iter().zip(sizes).filter_map(|(run, size)| {
            let size = if smallest >= SMALLEST { smallest } else { size? };
            let x = self.left_of(run.start) + span(run) / 2.0;
            let y = self.top_of(run.row) + self.cell_height / 2.0 + size * 0.35;
            Some(Label { x, y, size, position: LabelPosition::Cell(run.row, run.start), text: run.name.clone() })
        });
        let labels: Vec<_> = labels.collect();
        self.labels.extend(labels);
    }
}

/// Returns the font size and the text for a band's heading within `wide` pixels: the whole heading, or only its last
/// word (the number); `None` if neither fits.
fn band_heading(heading: &str, wide: f64) -> Option<(f64, &str)> {
    let size = |text: &str| FULL.min(wide / (text.chars().count().max(1) as f64 * PITCH));
    let last = heading.rsplit(' ').next().unwrap_or(heading);
    let fits = |text: &'_ str| !text.is_empty() && size(text) >= BAND - 0.5;
    [heading, last].into_iter().find(|text| fits(text)).map(|text| (size(text), text))
}

/// Returns the font size at which a line of `characters` characters fits into `wide` x `high` pixels; `None` if it
/// would be illegible. In cells of full size (not `compact`) every text fits.
fn fitting(characters: usize, wide: f64, high: f64, compact: bool) -> Option<f64> {
    if !compact {
        return Some(FULL);
    }
    let size = COMPACT.min((wide - BESIDE) / (characters.max(1) as f64 * PITCH)).min(high - 2.0);
    (size >= SMALLEST).then_some(size)
}

/// Returns the number of cells from one heading to the next: the smallest power of two at which headings fit that need
/// `need` pixels each, for cells of `cell` pixels.
fn stride(need: f64, cell: f64) -> usize {
    ((need / cell).ceil().max(1.0) as usize).next_power_of_two()
}
