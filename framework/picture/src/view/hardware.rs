//! The hardware view: rows of lanes and columns of registers, each cell the element that it holds.
//! A memory is drawn likewise: lines of so many elements.

use tilewright_layout::{Dim, LinearLayout, Space};

use crate::{Band, Cell, Grid, Panel, Run};

use super::axes::Plane;
use super::element_link;
use super::positions::{Positions, line_of};

/// Rows and columns that one panel holds, as a power of two; further warps get panels of their own.
const MOST_ACROSS: usize = 7;

/// Bits of the packed input, by their places, the fastest first: those that vary along one side.
struct Side {
    places: Vec<u32>,
    /// How many of them, from the first on, vary within a band.
    inner: usize,
    axis: String,
}

/// Which bits vary along the columns, along the rows, and from panel to panel.
struct Sides {
    columns: Side,
    rows: Side,
    panels: Vec<u32>,
}

/// A panel, or one for each warp where there are many.
pub(super) fn panels(linear: &LinearLayout, plane: &Plane, positions: &Positions<'_>) -> Vec<Panel> {
    let is_memory = linear.ins().contains(Dim::OFFSET);
    let sides = if is_memory { Sides::of_memory(linear) } else { Sides::of_lanes(linear.ins()) };
    let title = if is_memory { "memory" } else { "hardware" };
    let panel = |number: u64| {
        let fixed = deposit(number, &sides.panels);
        let name = named(linear.ins(), fixed, &sides.panels);
        let title = if name.is_empty() { title.to_owned() } else { format!("{title}, {name}") };
        Panel::grid(title, grid(linear, plane, positions, &sides, fixed))
    };
    (0..1u64 << sides.panels.len()).map(panel).collect()
}

impl Side {
    fn new(places: Vec<u32>, axis: String) -> Self {
        Self { inner: places.len(), places, axis }
    }

    fn len(&self) -> usize {
        1 << self.places.len()
    }

    /// With further bits, the slowest, as bands.
    fn in_bands(&mut self, ins: &Space, places: Vec<u32>) {
        let mut names: Vec<String> = ins
            .dims()
            .rev()
            .filter(|&dim| of_dim(ins, dim).any(|p| places.contains(&p)))
            .map(|d| d.to_string())
            .collect();
        names.push(std::mem::take(&mut self.axis));
        self.axis = names.join(", ");
        self.places.extend(places);
    }

    fn bands(&self, ins: &Space) -> Vec<Band> {
        let (_, above) = self.places.split_at(self.inner);
        let bands = (0..1u64 << above.len()).filter(|_| !above.is_empty());
        bands.map(|band| Band::new((band as usize) << self.inner, named(ins, deposit(band, above), above))).collect()
    }
}

impl Sides {
    /// Offsets in lines; blocks are panels.
    fn of_memory(linear: &LinearLayout) -> Self {
        let line = line_of(linear);
        let offset: Vec<_> = of_dim(linear.ins(), Dim::OFFSET).collect();
        let (columns, rows) = offset.split_at(line.trailing_zeros() as usize);
        Self {
            columns: Side::new(columns.to_vec(), format!("offset within {line}")),
            rows: Side::new(rows.to_vec(), "offset".to_owned()),
            panels: (0..linear.ins().bits()).filter(|place| !offset.contains(place)).collect(),
        }
    }

    /// Registers across and lanes down; warps whichever way leaves the longer side shorter.
    fn of_lanes(ins: &Space) -> Self {
        let first_of = |wanted: [Dim; 2]| wanted.into_iter().find(|&dim| ins.contains(dim));
        let down = first_of([Dim::LANE, Dim::ROW]);
        let across = first_of([Dim::REGISTER, Dim::COL]).or_else(|| ins.dims().find(|&dim| Some(dim) != down));
        let down = down.or_else(|| ins.dims().find(|&dim| Some(dim) != across));
        let side = |dim: Option<Dim>| match dim {
            Some(dim) => Side::new(of_dim(ins, dim).collect(), dim.to_string()),
            None => Side::new(Vec::new(), String::new()),
        };
        let mut sides = Self { columns: side(across), rows: side(down), panels: Vec::new() };
        let others = ins.dims().filter(|&dim| Some(dim) != across && Some(dim) != down);
        let others: Vec<_> = others.flat_map(|dim| of_dim(ins, dim)).collect();
        let (registers, lanes, warps) = (sides.columns.places.len(), sides.rows.places.len(), others.len());
        // Cells are wider than they are high: one bit more may go down.
        if others.is_empty() {
            return sides;
        }
        if lanes + warps <= (registers + warps).max(lanes) + 1 && lanes + warps <= MOST_ACROSS {
            sides.rows.in_bands(ins, others);
        } else if registers + warps <= MOST_ACROSS {
            sides.columns.in_bands(ins, others);
        } else {
            sides.panels = others;
        }
        sides
    }
}

fn grid(linear: &LinearLayout, plane: &Plane, positions: &Positions<'_>, sides: &Sides, fixed: u64) -> Grid {
    let (rows, columns) = (sides.rows.len(), sides.columns.len());
    let mut grid = Grid::new(rows, columns);
    (grid.row_axis, grid.column_axis) = (sides.rows.axis.clone(), sides.columns.axis.clone());
    (grid.row_bands, grid.column_bands) = (sides.rows.bands(linear.ins()), sides.columns.bands(linear.ins()));
    let registers = 1 << sides.columns.inner;
    grid.column_headings = (0..columns).map(|column| (column % registers).to_string()).collect();
    let lanes = 1 << sides.rows.inner;
    let is_memory = linear.ins().contains(Dim::OFFSET);
    let heading = |row: usize| match is_memory {
        true => positions.physical((row * columns) as u64),
        false => (row % lanes) as u64,
    };
    grid.row_headings = (0..rows).map(|row| heading(row).to_string()).collect();
    for row in 0..rows {
        let of_row = fixed | deposit(row as u64, &sides.rows.places);
        let held: Vec<Vec<u64>> = (0..columns)
            .map(|column| {
                let input = of_row | deposit(column as u64, &sides.columns.places);
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

/// The places of a dim's bits in the packed input.
fn of_dim(ins: &Space, dim: Dim) -> std::ops::Range<u32> {
    let start = ins.shift_of(dim).unwrap_or(0);
    start..start + ins.bits_of(dim)
}

/// The bits of `index`, the lowest first, at the given places.
fn deposit(index: u64, places: &[u32]) -> u64 {
    places.iter().enumerate().fold(0, |out, (bit, place)| out | (index >> bit & 1) << place)
}

/// The coordinates of the dims that have bits at these places: `block 0 warp 1`.
fn named(ins: &Space, input: u64, places: &[u32]) -> String {
    let dims = ins.dims().rev().filter(|&dim| of_dim(ins, dim).any(|place| places.contains(&place)));
    dims.map(|dim| format!("{dim} {}", ins.coordinate(input, dim))).collect::<Vec<_>>().join(" ")
}
