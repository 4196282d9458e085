//! The hardware view: rows of lanes and columns of registers, each cell the element that it holds.
//! A memory is drawn likewise: lines of so many elements.

use tilewright::layout::{Dim, LinearLayout};

use crate::{Band, Cell, Grid, Panel, Run};

use super::axes::Plane;
use super::element_link;
use super::positions::{Positions, line_of};

/// Rows and columns that one panel holds, as a power of two; further warps get panels of their own.
const MOST_ACROSS: u32 = 7;

/// Bits of the packed input: those that vary along columns, along rows, and from panel to panel.
struct Sides {
    columns: u64,
    rows: u64,
    panels: u64,
    /// Bits of `rows` that tell the bands of rows, and those of `columns` likewise: warps, blocks.
    row_bands: u64,
    column_bands: u64,
    row_axis: String,
    column_axis: String,
}

/// A panel, or one for each group of warps where there are many.
pub(super) fn panels(linear: &LinearLayout, plane: &Plane, positions: &Positions<'_>) -> Vec<Panel> {
    let sides = Sides::of(linear);
    let title = if linear.ins().contains(Dim::OFFSET) { "memory" } else { "hardware" };
    let panel = |number: u64| {
        let fixed = deposit(number, sides.panels);
        let name = named(linear, fixed, sides.panels);
        let title = if name.is_empty() { title.to_owned() } else { format!("{title}, {name}") };
        Panel::grid(title, grid(linear, plane, positions, &sides, fixed))
    };
    (0..1u64 << sides.panels.count_ones()).map(panel).collect()
}

impl Sides {
    fn of(linear: &LinearLayout) -> Self {
        let ins = linear.ins();
        let all = if ins.bits() >= 64 { u64::MAX } else { (1 << ins.bits()) - 1 };
        if ins.contains(Dim::OFFSET) {
            let line = line_of(linear);
            let columns = deposit(line - 1, ins.mask_of(Dim::OFFSET));
            let rows = ins.mask_of(Dim::OFFSET) & !columns;
            let (row_axis, column_axis) = ("offset".to_owned(), format!("offset within {line}"));
            return Self {
                columns,
                rows,
                panels: all & !(columns | rows),
                row_bands: 0,
                column_bands: 0,
                row_axis,
                column_axis,
            };
        }
        let across = [Dim::REGISTER, Dim::COL].into_iter().find(|&dim| ins.contains(dim));
        let across = across.or_else(|| ins.dims().next());
        let columns = across.map_or(0, |dim| ins.mask_of(dim));
        let down = [Dim::LANE, Dim::ROW].into_iter().find(|&dim| ins.contains(dim));
        let down = down.or_else(|| ins.dims().find(|&dim| Some(dim) != across));
        let inner = down.map_or(0, |dim| ins.mask_of(dim));
        let others = all & !(columns | inner);
        let name = |dim: Option<Dim>| dim.map_or_else(String::new, |dim| dim.to_string());
        let (registers, lanes, warps) = (columns.count_ones(), inner.count_ones(), others.count_ones());
        let (row_axis, column_axis) = (name(down), name(across));
        let mut sides = Self { columns, rows: inner, panels: 0, row_bands: 0, column_bands: 0, row_axis, column_axis };
        // Whichever way leaves the longer side shorter; cells are wider than high.
        if lanes + warps <= (registers + warps).max(lanes) + 1 && lanes + warps <= MOST_ACROSS {
            (sides.rows, sides.row_bands) = (inner | others, others);
        } else if registers + warps <= MOST_ACROSS {
            (sides.columns, sides.column_bands) = (columns | others, others);
        } else {
            sides.panels = others;
        }
        sides
    }
}

fn grid(linear: &LinearLayout, plane: &Plane, positions: &Positions<'_>, sides: &Sides, fixed: u64) -> Grid {
    let (rows, columns) = (1usize << sides.rows.count_ones(), 1usize << sides.columns.count_ones());
    let mut grid = Grid::new(rows, columns);
    (grid.row_axis, grid.column_axis) = (sides.row_axis.clone(), sides.column_axis.clone());
    let bands = |side: u64, bands: u64, size: usize| -> Vec<Band> {
        let step = 1 << (side & !bands).count_ones();
        let starts = (0..size).step_by(step).filter(|_| bands != 0);
        starts.map(|start| Band::new(start, named(linear, deposit(start as u64, side), bands))).collect()
    };
    grid.row_bands = bands(sides.rows, sides.row_bands, rows);
    grid.column_bands = bands(sides.columns, sides.column_bands, columns);
    let registers = 1 << (sides.columns & !sides.column_bands).count_ones();
    grid.column_headings = (0..columns).map(|column| (column % registers).to_string()).collect();
    let lanes = 1 << (sides.rows & !sides.row_bands).count_ones();
    let is_memory = linear.ins().contains(Dim::OFFSET);
    let heading =
        |row: usize| if is_memory { positions.physical((row * columns) as u64) } else { (row % lanes) as u64 };
    grid.row_headings = (0..rows).map(|row| heading(row).to_string()).collect();
    for row in 0..rows {
        let of_row = fixed | deposit(row as u64, sides.rows);
        let held: Vec<Vec<u64>> = (0..columns)
            .map(|column| {
                let input = of_row | deposit(column as u64, sides.columns);
                let coordinates = plane.coordinates(linear.outs(), linear.apply_packed(input));
                grid.set(row, column, cell(input, &coordinates, positions));
                coordinates
            })
            .collect();
        name_runs(&mut grid, row, &held);
    }
    grid
}

fn cell(input: u64, coordinates: &[u64], positions: &Positions<'_>) -> Cell {
    let names: Vec<_> = coordinates.iter().map(u64::to_string).collect();
    let mut cell = Cell::new(names.join(","))
        .fill(positions.fill(input))
        .link(element_link(coordinates))
        .hover(positions.said(input))
        .hover(format!("element {}", names.join(",")));
    cell.kin.extend(positions.kin(input));
    cell
}

/// Names stretches of one colour and of elements that follow one another along the last axis: `3,8..11`.
fn name_runs(grid: &mut Grid, row: usize, held: &[Vec<u64>]) {
    let follows = |a: usize, b: usize| match (held[a].split_last(), held[b].split_last()) {
        (Some((x, before)), Some((y, after))) => {
            before == after && *y == x + 1 && grid.row(row)[a].fill == grid.row(row)[b].fill
        }
        _ => false,
    };
    let columns: Vec<usize> = (0..held.len()).collect();
    let runs: Vec<_> = columns
        .chunk_by(|&a, &b| follows(a, b))
        .map(|part| {
            let (start, end) = (part[0], part[0] + part.len());
            let first: Vec<_> = held[start].iter().map(u64::to_string).collect();
            let last = held[end - 1].last().filter(|_| part.len() > 1);
            let name = first.join(",") + &last.map_or_else(String::new, |last| format!("..{last}"));
            Run { row, start, end, name }
        })
        .collect();
    grid.runs.extend(runs);
}

/// The bits of `index`, the lowest first, at the places where `mask` has ones.
fn deposit(index: u64, mask: u64) -> u64 {
    let places = (0..64).filter(|place| mask >> place & 1 == 1);
    places.enumerate().filter(|(bit, _)| index >> bit & 1 == 1).fold(0, |out, (_, place)| out | 1 << place)
}

/// The coordinates of the dims that `mask` covers: `block 0 warp 1`.
fn named(linear: &LinearLayout, input: u64, mask: u64) -> String {
    let ins = linear.ins();
    let dims = ins.dims().rev().filter(|&dim| ins.mask_of(dim) & mask != 0);
    dims.map(|dim| format!("{dim} {}", ins.coordinate(input, dim))).collect::<Vec<_>>().join(" ")
}
