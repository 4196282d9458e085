//! Draws the hardware view of a layout: a grid of lanes and registers with the element that each holds; for a memory
//! layout, rows of consecutive elements.

use tilewright_layout::{Dim, Space};

use super::positions::line_bits;
use super::runs::{Values, runs};
use super::side::Side;
use super::tensor::Drawn;
use crate::text::join;
use crate::{Cell, Grid, Panel};

/// Log2 of the max number of rows of a panel, and of columns. If the warps fit neither as more rows nor as more
/// columns, each warp gets its own panel.
const MOST_ACROSS: usize = 7;

/// The bits of a packed position (register, lane, warp, ... or offset) that select the column, the row and the panel of
/// its cell.
struct Sides<'a> {
    columns: Side<'a>,
    rows: Side<'a>,
    panels: Side<'a>,
}

impl Drawn<'_> {
    /// Draws one panel with all positions, or one panel per warp if there are many.
    pub fn hardware(&self) -> Vec<Panel> {
        let is_memory = self.linear.ins().contains(Dim::OFFSET);
        let (sides, title) = match is_memory {
            true => (Sides::of_memory(self), "memory"),
            false => (Sides::of_lanes(self.linear.ins()), "hardware"),
        };
        let panel = |index: usize| {
            let fixed = sides.panels.packed(index);
            let name = sides.panels.band_name(fixed, " ", " ");
            let title = if name.is_empty() { title.to_owned() } else { format!("{title}, {name}") };
            Panel::grid(title, self.hardware_grid(&sides, fixed, is_memory))
        };
        (0..sides.panels.count()).map(panel).collect()
    }

    fn hardware_grid(&self, sides: &Sides<'_>, fixed: u64, is_memory: bool) -> Grid {
        let (mut rows, columns) = (sides.rows.axis(" "), sides.columns.axis(" "));
        if is_memory {
            let starts = (0..rows.count()).map(|row| self.positions.physical((row * columns.count()) as u64));
            rows.headings = starts.map(|start| start.to_string()).collect();
        }
        let mut elements_by_cell = Values::new();
        let mut grid = Grid::of(rows, columns, |row, column| {
            let input = fixed | sides.rows.packed(row) | sides.columns.packed(column);
            let element = self.linear.apply_packed(input);
            let fill = self.positions.fill(input);
            elements_by_cell.insert((row, column), (self.plane.axes.coordinates(element), fill));
            let (name, link) = (self.plane.axes.name(element), self.plane.axes.link(element));
            let cell =
                Cell::new(name).fill(fill).link(link.clone()).hover(self.positions.description(input)).hover(link);
            cell.kins(self.positions.kin(input))
        });
        // Names runs of cells of one colour whose elements are consecutive along the last axis: `3,8..11`.
        grid.runs = runs(
            &elements_by_cell,
            |_, (last, colour), (next, next_colour)| match (last.split_last(), next.split_last()) {
                (Some((x, before)), Some((y, after))) => before == after && *y == x + 1 && colour == next_colour,
                _ => false,
            },
            |(first, _), (last, _)| match last.last().filter(|_| first != last) {
                Some(end) => format!("{}..{end}", join(first, ",")),
                None => join(first, ","),
            },
        );
        grid
    }
}

impl<'a> Sides<'a> {
    /// Arranges a memory layout: offsets in rows, one panel per block.
    fn of_memory(drawn: &'a Drawn<'_>) -> Self {
        let ins = drawn.linear.ins();
        let line = line_bits(&drawn.linear);
        let mut columns = Side::from_bits(ins, Some(Dim::OFFSET), 0..line);
        columns.name = format!("offset within {}", 1u64 << line);
        let mut rows = Side::from_bits(ins, Some(Dim::OFFSET), line..ins.bits_of(Dim::OFFSET));
        rows.name = "offset".to_owned();
        Self { columns, rows, panels: Side::new(ins, None).in_bands(others(ins, [Some(Dim::OFFSET); 2])) }
    }

    /// Arranges lanes and registers: registers across, lanes down, and warps in the direction that keeps the grid
    /// smaller. If the warps fit in neither direction, each warp gets a panel.
    fn of_lanes(ins: &'a Space) -> Self {
        let first_of = |required: [Dim; 2]| required.into_iter().find(|&dim| ins.contains(dim));
        let down = first_of([Dim::LANE, Dim::ROW]);
        let across = first_of([Dim::REGISTER, Dim::COL]).or_else(|| ins.dims().find(|&dim| Some(dim) != down));
        let down = down.or_else(|| ins.dims().find(|&dim| Some(dim) != across));
        let (columns, rows, none) = (Side::new(ins, across), Side::new(ins, down), Side::new(ins, None));
        let others = others(ins, [across, down]);
        let (registers, lanes) = (columns.bit_count(), rows.bit_count());
        let warps = ins.bits() as usize - registers - lanes;
        // Cells are wider than high, so the rows may take one bit more than the columns.
        if lanes + warps <= (registers + warps).max(lanes) + 1 && lanes + warps <= MOST_ACROSS {
            Self { columns, rows: rows.in_bands(others), panels: none }
        } else if registers + warps <= MOST_ACROSS {
            Self { columns: columns.in_bands(others), rows, panels: none }
        } else {
            Self { columns, rows, panels: none.in_bands(others) }
        }
    }
}

/// Returns the dimensions of more than one position, except the two in `without`, most major first.
fn others(ins: &Space, without: [Option<Dim>; 2]) -> Vec<Dim> {
    let all = ins.iter().rev().filter(|&(dim, bits)| bits > 0 && !without.contains(&Some(dim)));
    all.map(|(dim, _)| dim).collect()
}
