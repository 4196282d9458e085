//! Draws the cells of a grid as SVG: fills, lines, texts and frames.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::arrange::{Label, LabelPosition, PlacedGrid};
use crate::{Cell, GridAxis, Rgb};

use super::{INK, Px, colour, path, rect, text};

/// Writes the SVG elements of a grid.
pub(super) fn draw(out: &mut String, placed: &PlacedGrid<'_>) {
    draw_fills(out, placed);
    draw_lines(out, placed);
    draw_texts(out, placed);
    draw_outlines(out, placed);
}

/// Writes one path per colour; adjacent cells of a row with the same colour form one rectangle.
fn draw_fills(out: &mut String, placed: &PlacedGrid<'_>) {
    let mut paths: BTreeMap<Rgb, String> = BTreeMap::new();
    for row in 0..placed.grid.rows() {
        let mut start = 0;
        for cell_run in placed.grid.row(row).chunk_by(|a, b| a.fill == b.fill) {
            if let Some(rgb) = cell_run[0].fill.rgb() {
                let wide = cell_run.len() as f64 * placed.cell_width;
                let (x, y) = (Px(placed.left_of(start)), Px(placed.top_of(row)));
                let (right, down, left) = (Px(wide), Px(placed.cell_height), Px(-wide));
                let _ = write!(paths.entry(rgb).or_default(), "M{x} {y}h{right}v{down}h{left}z");
            }
            start += cell_run.len();
        }
    }
    for (rgb, data) in paths {
        let _ = writeln!(out, "<path fill=\"{}\" d=\"{data}\"/>", rgb.to_css());
    }
}

/// Writes lines between cells, ends of runs, borders of bands, and the outer frame.
fn draw_lines(out: &mut String, placed: &PlacedGrid<'_>) {
    let grid = placed.grid;
    let (rows, columns) = (grid.rows(), grid.columns());
    let across = |row: usize| line(placed, Direction::Across, row, Edge::Any);
    let down = |column: usize| line(placed, Direction::Down, column, Edge::Any);
    let thin: String = (1..rows).map(across).chain((1..columns).map(down)).collect();
    let weight = if placed.compact { 0.25 } else { 0.6 };
    path(out, &thin, &format!("stroke=\"#000\" stroke-opacity=\"0.35\" stroke-width=\"{weight}\""));
    if placed.compact && !grid.runs.is_empty() {
        let mut ends = String::new();
        for run in grid.runs.iter().filter(|run| run.start > 0) {
            let (x, y) = (placed.left_of(run.start), placed.top_of(run.row));
            let _ = write!(ends, "M{} {}v{}", Px(x), Px(y), Px(placed.cell_height));
        }
        path(out, &ends, "stroke=\"#000\" stroke-opacity=\"0.7\" stroke-width=\"0.6\"");
    }
    let inner = |axis: &GridAxis| -> Vec<usize> {
        axis.spans().map(|(band, _)| band.start).filter(|&start| start > 0).collect()
    };
    let banded = inner(&grid.row_axis).into_iter().map(across);
    let thick: String = banded.chain(inner(&grid.column_axis).into_iter().map(down)).collect();
    path(out, &thick, &format!("stroke=\"{INK}\" stroke-width=\"2\""));
    let frame_style = format!("fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.5\"");
    if grid.cells().any(|(_, _, cell)| cell.is_placeholder()) {
        let outer = (0..=rows).map(|row| line(placed, Direction::Across, row, Edge::Outer));
        let outer = outer.chain((0..=columns).map(|column| line(placed, Direction::Down, column, Edge::Outer)));
        path(out, &outer.collect::<String>(), &format!("{frame_style} stroke-linecap=\"square\""));
    } else {
        rect(out, placed.rect(0..rows, 0..columns), &frame_style);
    }
}

/// The direction of a line between cells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Across,
    Down,
}

/// The kind of the cell edges that a line is drawn along.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// Edges with a cell on at least one side.
    Any,
    /// Edges with a cell on exactly one side.
    Outer,
}

/// Returns the path of the line above a row or before a column, along the edges of existing cells.
fn line(placed: &PlacedGrid<'_>, direction: Direction, index: usize, edge: Edge) -> String {
    let is_across = direction == Direction::Across;
    let is_there = |index: Option<usize>, along: usize| {
        let cell = index.and_then(|index| match is_across {
            true => placed.grid.cell(index, along),
            false => placed.grid.cell(along, index),
        });
        cell.is_some_and(|cell| !cell.is_placeholder())
    };
    let is_drawn = |&along: &usize| match (edge, is_there(index.checked_sub(1), along), is_there(Some(index), along)) {
        (Edge::Any, before, after) => before || after,
        (Edge::Outer, before, after) => before != after,
    };
    let all = if is_across { placed.grid.columns() } else { placed.grid.rows() };
    let drawn: Vec<_> = (0..all).filter(is_drawn).collect();
    let stretch = |cell_run: &[usize]| match is_across {
        true => {
            let wide = cell_run.len() as f64 * placed.cell_width;
            format!("M{} {}h{}", Px(placed.left_of(cell_run[0])), Px(placed.top_of(index)), Px(wide))
        }
        false => {
            let high = cell_run.len() as f64 * placed.cell_height;
            format!("M{} {}v{}", Px(placed.left_of(index)), Px(placed.top_of(cell_run[0])), Px(high))
        }
    };
    drawn.chunk_by(|a, b| a + 1 == *b).map(stretch).collect()
}

/// Writes texts, one group per anchor, size and colour.
fn draw_texts(out: &mut String, placed: &PlacedGrid<'_>) {
    let mut groups: BTreeMap<(&str, String, Rgb), String> = BTreeMap::new();
    for label in &placed.labels {
        let anchor = match label.position {
            LabelPosition::Heading | LabelPosition::Cell(..) => "middle",
            LabelPosition::RowHeading => "end",
            LabelPosition::Axis => "start",
        };
        let group = groups.entry((anchor, Px(label.size).to_string(), ink(placed, label))).or_default();
        text(group, (label.x, label.y), "", &label.text);
    }
    for ((anchor, size, ink), texts) in groups {
        let ink = ink.to_css();
        let _ = write!(out, "<g text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"{ink}\">\n{texts}</g>\n");
    }
}

fn ink(placed: &PlacedGrid<'_>, label: &Label) -> Rgb {
    match label.position {
        LabelPosition::Cell(row, column) => match placed.grid.cell(row, column) {
            Some(cell) => colour(cell.fill).readable_text_colour(),
            None => Rgb(17, 17, 17),
        },
        _ => Rgb(68, 68, 68),
    }
}

/// Writes frames around rectangles, inset so that adjacent ones are distinguishable, and frames around single cells.
fn draw_outlines(out: &mut String, placed: &PlacedGrid<'_>) {
    for outline in &placed.grid.outlines {
        let [x, y, wide, high] = placed.rect(outline.rows.clone(), outline.columns.clone());
        let style = format!("rx=\"2\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"", outline.tone.rgb().to_css());
        rect(out, [x + 1.5, y + 1.5, wide - 3.0, high - 3.0], &style);
    }
    for (row, column, Cell { mark, .. }) in placed.grid.cells() {
        let Some(tone) = mark else { continue };
        let style = format!("fill=\"none\" stroke=\"{}\" stroke-width=\"3\"", tone.rgb().to_css());
        rect(out, placed.rect(row..row + 1, column..column + 1), &style);
    }
}
