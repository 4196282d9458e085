//! The cells of a grid, its lines and its texts.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::arrange::{Label, Place, PlacedGrid, spans};
use crate::{Band, Rgb};

use super::{INK, Paths, colour, escaped, number};

/// Draws a grid.
pub(super) fn draw(out: &mut String, placed: &PlacedGrid<'_>) {
    fills(out, placed);
    lines(out, placed);
    texts(out, placed);
    frames(out, placed);
    marks(out, placed);
}

/// One path a colour; cells of one colour that touch in a row are one rectangle.
fn fills(out: &mut String, placed: &PlacedGrid<'_>) {
    let mut paths = Paths::new();
    for row in 0..placed.grid.rows() {
        let cells = placed.grid.row(row);
        let mut start = 0;
        for part in cells.chunk_by(|a, b| a.fill == b.fill) {
            if let Some(rgb) = part[0].fill.rgb() {
                let (x, y) = (number(placed.left_of(start)), number(placed.top_of(row)));
                let wide = number(part.len() as f64 * placed.cell_width);
                let (high, back) = (number(placed.cell_height), number(-(part.len() as f64) * placed.cell_width));
                let _ = write!(paths.entry(rgb).or_default(), "M{x} {y}h{wide}v{high}h{back}z");
            }
            start += part.len();
        }
    }
    for (rgb, path) in paths {
        let _ = writeln!(out, "<path fill=\"{}\" d=\"{path}\"/>", rgb.hex());
    }
}

/// Lines between cells, ends of runs, borders of bands, and the frame.
fn lines(out: &mut String, placed: &PlacedGrid<'_>) {
    let (rows, columns) = (placed.grid.rows(), placed.grid.columns());
    let edges = Edges { placed };
    let across = |row: usize| edges.across(row, Edge::Any);
    let down = |column: usize| edges.down(column, Edge::Any);
    let thin: String = (1..rows).map(across).chain((1..columns).map(down)).collect();
    let weight = if placed.compact { 0.25 } else { 0.6 };
    let _ = writeln!(out, "<path d=\"{thin}\" stroke=\"#000\" stroke-opacity=\"0.35\" stroke-width=\"{weight}\"/>");
    if placed.compact && !placed.grid.runs.is_empty() {
        let starts = placed.grid.runs.iter().filter(|run| run.start > 0);
        let ends: String = starts
            .map(|run| {
                let (x, y) = (placed.left_of(run.start), placed.top_of(run.row));
                format!("M{} {}v{}", number(x), number(y), number(placed.cell_height))
            })
            .collect();
        let _ = writeln!(out, "<path d=\"{ends}\" stroke=\"#000\" stroke-opacity=\"0.7\" stroke-width=\"0.6\"/>");
    }
    let inner = |bands: &[Band], all: usize| -> Vec<usize> {
        spans(bands, all).map(|(band, _)| band.start).filter(|&start| start > 0).collect()
    };
    let banded = inner(&placed.grid.row_bands, rows).into_iter().map(across);
    let thick: String = banded.chain(inner(&placed.grid.column_bands, columns).into_iter().map(down)).collect();
    let _ = writeln!(out, "<path d=\"{thick}\" stroke=\"{INK}\" stroke-width=\"2\"/>");
    if (0..rows).flat_map(|row| placed.grid.row(row)).any(crate::Cell::is_absent) {
        let outer = (0..=rows).map(|row| edges.across(row, Edge::Outer));
        let frame: String = outer.chain((0..=columns).map(|column| edges.down(column, Edge::Outer))).collect();
        let _ = writeln!(
            out,
            "<path d=\"{frame}\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.5\" stroke-linecap=\"square\"/>"
        );
        return;
    }
    let (right, low) = placed.end();
    let (x, y, wide, high) = (number(placed.x), number(placed.y), number(right - placed.x), number(low - placed.y));
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.5\"/>"
    );
}

/// The lines along the edges of the cells that there are.
struct Edges<'a, 'b> {
    placed: &'a PlacedGrid<'b>,
}

/// Which edges.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// Those of any cell.
    Any,
    /// Those with a cell on one side only.
    Outer,
}

impl Edges<'_, '_> {
    fn is_there(&self, row: Option<usize>, column: Option<usize>) -> bool {
        let cell = row.zip(column).and_then(|(row, column)| self.placed.grid.cell(row, column));
        cell.is_some_and(|cell| !cell.is_absent())
    }

    /// The stretches of `0..all` in which one of the two sides has cells, or only one.
    fn stretches(&self, all: usize, which: Edge, sides: impl Fn(usize) -> (bool, bool)) -> Vec<(usize, usize)> {
        let drawn = |at: usize| match (which, sides(at)) {
            (Edge::Any, (a, b)) => a || b,
            (Edge::Outer, (a, b)) => a != b,
        };
        let drawn: Vec<_> = (0..all).filter(|&at| drawn(at)).collect();
        drawn.chunk_by(|a, b| a + 1 == *b).map(|part| (part[0], part[0] + part.len())).collect()
    }

    /// The line above a row.
    fn across(&self, row: usize, which: Edge) -> String {
        let sides = |at| (self.is_there(row.checked_sub(1), Some(at)), self.is_there(Some(row), Some(at)));
        let stretches = self.stretches(self.placed.grid.columns(), which, sides);
        let y = number(self.placed.top_of(row));
        let line = |(start, end): (usize, usize)| {
            let wide = (end - start) as f64 * self.placed.cell_width;
            format!("M{} {y}h{}", number(self.placed.left_of(start)), number(wide))
        };
        stretches.into_iter().map(line).collect()
    }

    /// The line before a column.
    fn down(&self, column: usize, which: Edge) -> String {
        let sides = |at| (self.is_there(Some(at), column.checked_sub(1)), self.is_there(Some(at), Some(column)));
        let stretches = self.stretches(self.placed.grid.rows(), which, sides);
        let x = number(self.placed.left_of(column));
        let line = |(start, end): (usize, usize)| {
            let high = (end - start) as f64 * self.placed.cell_height;
            format!("M{x} {}v{}", number(self.placed.top_of(start)), number(high))
        };
        stretches.into_iter().map(line).collect()
    }
}

/// Texts, one group for each size, place and ink.
fn texts(out: &mut String, placed: &PlacedGrid<'_>) {
    let mut groups: BTreeMap<(&str, String, Rgb), String> = BTreeMap::new();
    for label in &placed.labels {
        let anchor = match label.place {
            Place::Heading | Place::Cell(..) => "middle",
            Place::RowHeading => "end",
            Place::Axis => "start",
        };
        let text = groups.entry((anchor, number(label.size), ink(placed, label))).or_default();
        let _ =
            writeln!(text, "<text x=\"{}\" y=\"{}\">{}</text>", number(label.x), number(label.y), escaped(&label.text));
    }
    for ((anchor, size, ink), text) in groups {
        let ink = ink.hex();
        let _ = write!(out, "<g text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"{ink}\">\n{text}</g>\n");
    }
}

fn ink(placed: &PlacedGrid<'_>, label: &Label) -> Rgb {
    match label.place {
        Place::Cell(row, column) => match placed.grid.cell(row, column) {
            Some(cell) => colour(cell.fill).ink(),
            None => Rgb(17, 17, 17),
        },
        _ => Rgb(68, 68, 68),
    }
}

/// Frames, half a cell's line inside their cells so that neighbouring ones can be told apart.
fn frames(out: &mut String, placed: &PlacedGrid<'_>) {
    for frame in &placed.grid.frames {
        let (left, top) = (placed.left_of(frame.columns.start), placed.top_of(frame.rows.start));
        let (right, low) = (placed.left_of(frame.columns.end), placed.top_of(frame.rows.end));
        let _ = writeln!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
            number(left + 1.5),
            number(top + 1.5),
            number(right - left - 3.0),
            number(low - top - 3.0),
            frame.tone.rgb().hex()
        );
    }
}

fn marks(out: &mut String, placed: &PlacedGrid<'_>) {
    for row in 0..placed.grid.rows() {
        for (column, cell) in placed.grid.row(row).iter().enumerate() {
            let Some(tone) = cell.mark else { continue };
            let (x, y) = (number(placed.left_of(column)), number(placed.top_of(row)));
            let (wide, high) = (number(placed.cell_width), number(placed.cell_height));
            let colour = tone.rgb().hex();
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"3\"/>"
            );
        }
    }
}
