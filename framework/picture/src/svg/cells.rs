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
    let (right, low) = placed.end();
    let (wide, high) = (number(right - placed.x), number(low - placed.y));
    let down = |column: usize| format!("M{} {}v{high}", number(placed.left_of(column)), number(placed.y));
    let across = |row: usize| format!("M{} {}h{wide}", number(placed.x), number(placed.top_of(row)));
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
    let rows = inner(&placed.grid.row_bands, rows);
    let columns = inner(&placed.grid.column_bands, columns);
    let thick: String = rows.into_iter().map(across).chain(columns.into_iter().map(down)).collect();
    let _ = writeln!(out, "<path d=\"{thick}\" stroke=\"{INK}\" stroke-width=\"2\"/>");
    let (x, y) = (number(placed.x), number(placed.y));
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.5\"/>"
    );
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
