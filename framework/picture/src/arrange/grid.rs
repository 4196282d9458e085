//! Where the parts of a grid go: cells, headings, bands.

use std::ops::Range;

use crate::{Grid, Run};

use super::font::{BODY, PITCH, width};

/// Font size of the cells of a grid that is drawn in full, and of headings.
const FULL: f64 = 11.0;
/// Sizes between which a text in a small cell may be.
const SMALLEST: f64 = 5.0;
const COMPACT: f64 = 9.0;
/// Side of a small cell.
const SMALL: f64 = 16.0;
/// Size of text that small cells are widened for, and how wide they become: in grids of at most
/// `MEDIUM_COLUMNS` columns, and in larger ones.
const MEDIUM: (f64, f64) = (8.0, 44.0);
const LARGE: (f64, f64) = (6.0, 30.0);
const MEDIUM_COLUMNS: usize = 64;
/// Width up to which a cell that is drawn in full is widened for the heading of its band.
const FULL_WIDEST: f64 = 40.0;
/// Size of a heading over a narrow band.
const BAND: f64 = 8.0;
/// Room left beside a text in a small cell.
const BESIDE: f64 = 2.5;
/// Columns and cells up to which every cell is drawn large enough for its text.
const FULL_COLUMNS: usize = 40;
const FULL_CELLS: usize = 2048;

/// A grid in its place.
#[derive(Debug)]
pub(crate) struct PlacedGrid<'a> {
    pub grid: &'a Grid,
    /// The top left corner of the first cell.
    pub x: f64,
    pub y: f64,
    pub cell_width: f64,
    pub cell_height: f64,
    /// Whether cells are too small for their texts, so that runs are named instead.
    pub compact: bool,
    pub labels: Vec<Label>,
}

/// A text of the grid: the point that it is centred on (or ends at), its size.
#[derive(Debug)]
pub(crate) struct Label {
    pub x: f64,
    pub y: f64,
    pub size: f64,
    pub place: Place,
    pub text: String,
}

/// What a label belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A heading, centred.
    Heading,
    /// A heading that ends at its point.
    RowHeading,
    /// The name of an axis, which starts at its point.
    Axis,
    /// A cell's or run's text, on the cell of this row and column.
    Cell(usize, usize),
}

impl PlacedGrid<'_> {
    /// The right and the lower end.
    pub fn end(&self) -> (f64, f64) {
        (self.left_of(self.grid.columns()), self.top_of(self.grid.rows()))
    }

    /// Left end, top, width and height of a rectangle of cells.
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

/// The grid with everything around it, the corner of all that at a place.
pub(crate) fn place(grid: &Grid, x: f64, y: f64) -> PlacedGrid<'_> {
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

/// Width of small cells: such that all texts fit, within limits.
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
    fn label(&mut self, x: f64, y: f64, size: f64, place: Place, text: impl Into<String>) {
        self.labels.push(Label { x, y, size, place, text: text.into() });
    }

    fn axes(&mut self, x: f64, y: f64) {
        let (rows, columns) = (&self.grid.row_axis.name, &self.grid.column_axis.name);
        if !columns.is_empty() {
            self.label(self.x, y + FULL, FULL, Place::Axis, format!("{columns} →"));
        }
        if !rows.is_empty() {
            self.label(x, self.y - 5.0, FULL, Place::Axis, format!("{rows} ↓"));
        }
    }

    /// Headings of columns, as many as there is room for, and of their bands.
    fn column_headings(&mut self) {
        let axis = &self.grid.column_axis;
        let every = stride(widest(axis.headings.iter().map(String::as_str), FULL) + 4.0, self.cell_width);
        for column in (0..axis.count()).step_by(every) {
            let text = axis.heading(column);
            if !text.is_empty() {
                let x = self.left_of(column) + self.cell_width / 2.0;
                self.label(x, self.y - 5.0, FULL, Place::Heading, text);
            }
        }
        for (band, end) in axis.spans() {
            let (from, to) = (self.left_of(band.start), self.left_of(end));
            if let Some((size, text)) = band_heading(&band.heading, to - from) {
                self.label((from + to) / 2.0, self.y - 20.0, size, Place::Heading, text);
            }
        }
    }

    /// Headings of rows, as many as there is room for, and of their bands at the left end.
    fn row_headings(&mut self, left: f64) {
        let axis = &self.grid.row_axis;
        for row in (0..axis.count()).step_by(stride(BODY, self.cell_height)) {
            let text = axis.heading(row);
            if !text.is_empty() {
                let y = self.top_of(row) + self.cell_height / 2.0 + FULL * 0.35;
                self.label(self.x - 6.0, y, FULL, Place::RowHeading, text);
            }
        }
        for (band, end) in axis.spans() {
            let middle = (self.top_of(band.start) + self.top_of(end)) / 2.0;
            if !band.heading.is_empty() {
                self.label(left, middle + FULL * 0.35, FULL, Place::Axis, &band.heading);
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
                self.label(x, middle + below + size * 0.35, size, Place::Cell(row, column), line);
            }
        }
    }

    /// The names of runs, in one size where that suits all, each in its own where some do not fit.
    fn run_names(&mut self) {
        let span = |run: &Run| (run.end - run.start) as f64 * self.cell_width;
        let fit = |run: &Run| fitting(run.name.chars().count(), span(run), self.cell_height, true);
        let sizes: Vec<_> = self.grid.runs.iter().map(fit).collect();
        let smallest = sizes.iter().map(|size| size.unwrap_or(0.0)).fold(COMPACT, f64::min);
        let labels = self.grid.runs.iter().zip(sizes).filter_map(|(run, size)| {
            let size = if smallest >= SMALLEST { smallest } else { size? };
            let x = self.left_of(run.start) + span(run) / 2.0;
            let y = self.top_of(run.row) + self.cell_height / 2.0 + size * 0.35;
            Some(Label { x, y, size, place: Place::Cell(run.row, run.start), text: run.name.clone() })
        });
        let labels: Vec<_> = labels.collect();
        self.labels.extend(labels);
    }
}

/// How a band's heading fits over it: whole, or its last word (the number), or not at all.
fn band_heading(heading: &str, wide: f64) -> Option<(f64, &str)> {
    let size = |text: &str| FULL.min(wide / (text.chars().count().max(1) as f64 * PITCH));
    let last = heading.rsplit(' ').next().unwrap_or(heading);
    let fits = |text: &'_ str| !text.is_empty() && size(text) >= BAND - 0.5;
    [heading, last].into_iter().find(|text| fits(text)).map(|text| (size(text), text))
}

/// The size at which a text fits a place; none where it would be too small to read.
fn fitting(characters: usize, wide: f64, high: f64, compact: bool) -> Option<f64> {
    if !compact {
        return Some(FULL);
    }
    let size = COMPACT.min((wide - BESIDE) / (characters.max(1) as f64 * PITCH)).min(high - 2.0);
    (size >= SMALLEST).then_some(size)
}

/// Every how many cells a heading fits: a power of two.
fn stride(need: f64, cell: f64) -> usize {
    ((need / cell).ceil().max(1.0) as usize).next_power_of_two()
}
