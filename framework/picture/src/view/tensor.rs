//! The tensor view: each element's cell shows who holds it.

use tilewright_layout::{Dim, LinearLayout};

use crate::{Cell, Fill, Grid, Panel, Run, Tone};

use super::axes::Plane;
use super::element_link;
use super::positions::Positions;

/// Holders that are named when an element is pointed at; further ones are counted.
const MOST_HOLDERS: usize = 12;

/// For each element, by its packed coordinate, its positions in ascending order.
pub(super) struct Holders {
    by_element: Vec<Vec<u64>>,
}

impl Holders {
    /// Spaces must be small enough to list.
    pub fn of(linear: &LinearLayout) -> Self {
        let mut by_element = vec![Vec::new(); 1 << linear.outs().bits()];
        for input in 0..1u64 << linear.ins().bits() {
            by_element[linear.apply_packed(input) as usize].push(input);
        }
        Self { by_element }
    }

    pub fn at(&self, element: u64) -> &[u64] {
        self.by_element.get(element as usize).map_or(&[], Vec::as_slice)
    }

    /// How many positions hold an element: all those that are held are held alike.
    pub fn copies(&self) -> usize {
        self.by_element.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Elements that nobody holds.
    pub fn missing(&self) -> usize {
        self.by_element.iter().filter(|held| held.is_empty()).count()
    }
}

/// The panel of a slice of the tensor.
pub(super) fn panel(
    linear: &LinearLayout,
    plane: &Plane,
    holders: &Holders,
    positions: &Positions<'_>,
    slice: u64,
) -> Panel {
    let fixed = plane.slice(slice);
    let names: Vec<_> = fixed.iter().map(|(dim, at)| format!("{dim} = {at}")).collect();
    let title = if names.is_empty() { "tensor".to_owned() } else { format!("tensor, {}", names.join(", ")) };
    Panel::grid(title, grid(linear, plane, &fixed, holders, positions))
}

fn grid(
    linear: &LinearLayout,
    plane: &Plane,
    fixed: &[(Dim, u64)],
    holders: &Holders,
    positions: &Positions<'_>,
) -> Grid {
    let (rows, columns) = (1usize << plane.rows.bits, 1usize << plane.columns.bits);
    let mut grid = Grid::new(rows, columns);
    (grid.row_axis, grid.column_axis) = (plane.rows.name(), plane.columns.name());
    let headings = |side: &super::axes::Side| (0..1u64 << side.bits).map(|i| side.coordinate(i).to_string()).collect();
    if plane.rows.bits > 0 || !grid.row_axis.is_empty() {
        grid.row_headings = headings(&plane.rows);
    }
    grid.column_headings = headings(&plane.columns);
    rule_tiles(&mut grid, linear, plane);
    for row in 0..rows {
        let mut run: Option<(usize, u64)> = None;
        let mut before = None;
        for column in 0..columns {
            let element = plane.element(linear.outs(), fixed, row as u64, column as u64);
            let held = holders.at(element);
            grid.set(row, column, cell(&plane.coordinates(linear.outs(), element), held, positions));
            let first = held.first().copied();
            if !matches!((before, first), (Some(a), Some(b)) if positions.continues(a, b)) {
                end_run(&mut grid, row, column, run, before, positions);
                run = first.map(|first| (column, first));
            }
            before = first;
        }
        end_run(&mut grid, row, columns, run, before, positions);
    }
    grid
}

fn end_run(
    grid: &mut Grid,
    row: usize,
    end: usize,
    run: Option<(usize, u64)>,
    last: Option<u64>,
    positions: &Positions<'_>,
) {
    if let (Some((start, first)), Some(last)) = (run, last) {
        grid.runs.push(Run { row, start, end, name: positions.run_name(first, last) });
    }
}

fn cell(coordinates: &[u64], held: &[u64], positions: &Positions<'_>) -> Cell {
    let names: Vec<_> = coordinates.iter().map(u64::to_string).collect();
    let mut cell = Cell { lines: positions.lines_of_all(held), ..Cell::default() }
        .link(element_link(coordinates))
        .hover(format!("element {}", names.join(",")));
    cell.fill = held.first().map_or(Fill::tone(Tone::Quiet), |&first| positions.fill(first));
    for &input in held.iter().take(MOST_HOLDERS) {
        cell = cell.hover(positions.said(input));
        if let Some(kin) = positions.kin(input).filter(|kin| !cell.kin.contains(kin)) {
            cell = cell.kin(kin);
        }
    }
    match held.len() {
        0 => cell.hover("held by nobody"),
        many if many > MOST_HOLDERS => cell.hover(format!("and {} more copies", many - MOST_HOLDERS)),
        _ => cell,
    }
}

/// Thick borders around what the lanes of a warp span.
fn rule_tiles(grid: &mut Grid, linear: &LinearLayout, plane: &Plane) {
    let lanes = linear.columns_of(Dim::LANE).iter().fold(0, |all, column| all | column);
    if let Some(size) = plane.rows.tile(linear.outs(), lanes) {
        grid.rule_rows(size);
    }
    if let Some(size) = plane.columns.tile(linear.outs(), lanes) {
        grid.rule_columns(size);
    }
}
