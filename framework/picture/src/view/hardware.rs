//! Draws the hardware view of a layout: a grid of lanes and registers with the element that each holds; for a memory
//! layout, rows of consecutive elements.

use tilewright_layout::{Dim, Space};

use super::positions::line_bits;
use super::runs::{Values, runs};
use super::side::GridSide;
use super::tensor::LayoutDrawing;
use crate::text::join;
use crate::{Cell, Grid, Panel};

/// Log2 of the max number of rows of a panel, and of columns. If the warps fit neither as more rows nor as more
/// columns, each warp gets its own panel.
const MOST_ACROSS: usize = 7;

/// The bits of a packed position (register, lane, warp, ... or offset) that select the column, the row and the panel of
/// its cell.
struct Sides<'a> {
    columns: GridSide<'a>,
    rows: GridSide<'a>,
    panels: GridSide<'a>,
}

impl LayoutDrawing<'_> {
    /// Draws one panel with all positions, or one panel per warp if there are many.
    pub fn draw_hardware(&self) -> Vec<Panel> {
        let is_memory = self.linear.ins().contains(Dim::OFFSET);
        let (sides, title) = match is_memory {
            true => (Sides::of_memory(self), "memory"),
            false => (Sides::of_lanes(self.linear.ins()), "hardware"),
        };
        let panel = |index: usize| {
            let fixed = sides.panels.packed_index(index);
            let name = sides.panels.band_name(fixed, " ", " ");
            let title = if name.is_empty() { title.to_owned() } else { format!("{title}, {name}") };
            Panel::grid(title, self.hardware_grid(&sides, fixed, is_memory))
        };
        (0..sides.panels.count()).map(panel).collect()
    }

    fn hardware_grid(&self, sides: &Sides<'_>, fixed: u64, is_memory: bool) -> Grid {
        let (mut rows, columns) = (sides.rows.to_grid_axis(" "), sides.columns.to_grid_axis(" "));
        if is_memory {
            let starts = (0..rows.count()).map(|row| self.positions.physical_offset((row * columns.count()) as u64));
            rows.headings = starts.map(|start| start.to_string()).collect();
        }
        let mut elements_by_cell = Values::new();
        let mut grid = Grid::from_fn(rows, columns, |row, column| {
            let input = fixed | sides.rows.packed_index(row) | sides.columns.packed_index(column);
            let element = self.linear.apply_packed(input);
            let fill = self.positions.fill(input);
            elements_by_cell.insert((row, column), (self.plane.axes.element_coordinates(element), fill));
            let (name, link) = (self.plane.axes.element_name(element), self.plane.axes.element_link(element));
            let cell = Cell::new(name)
                .with_fill(fill)
                .with_link(link.clone())
                .with_tooltip_line(self.positions.description(input))
                .with_tooltip_line(link);
            cell.with_related_groups(self.positions.lane_group(input))
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
    fn of_memory(drawn: &'a LayoutDrawing<'_>) -> Self {
        let ins = drawn.linear.ins();
        let line = line_bits(&drawn.linear);
        let mut columns = GridSide::from_bits(ins, Some(Dim::OFFSET), 0..line);
        columns.name = format!("offset within {}", 1u64 << line);
        let mut rows = GridSide::from_bits(ins, Some(Dim::OFFSET), line..ins.bits_of(Dim::OFFSET));
        rows.name = "offset".to_owned();
        Self { columns, rows, panels: GridSide::new(ins, None).with_bands(others(ins, [Some(Dim::OFFSET); 2])) }
    }

    /// Arranges lanes and registers: registers across, lanes down, and warps in the direction that keeps the grid
    /// smaller. If the warps fit in neither direction, each warp gets a panel.
    fn of_lanes(ins: &'a Space) -> Self {
        let first_of = |required: [Dim; 2]| required.into_iter().find(|&dim| ins.contains(dim));
        let down = first_of([Dim::LANE, Dim::ROW]);
        let across = first_of([Dim::REGISTER, Dim::COL]).or_else(|| ins.dims().find(|&dim| Some(dim) != down));
        let down = down.or_else(|| ins.dims().find(|&dim| Some(dim) != across));
        let (columns, rows, none) = (GridSide::new(ins, across), GridSide::new(ins, down), GridSide::new(ins, None));
        let others = others(ins, [across, down]);
        let (registers, lanes) = (columns.bit_count(), rows.bit_count());
        let warps = ins.total_bits() as usize - registers - lanes;
        // Cells are wider than high, so the rows may take one bit more than the columns.
        if lanes + warps <= (registers + warps).max(lanes) + 1 && lanes + warps <= MOST_ACROSS {
            Self { columns, rows: rows.with_bands(others), panels: none }
        } else if registers + warps <= MOST_ACROSS {
            Self { columns: columns.with_bands(others), rows, panels: none }
        } else {
            Self { columns, rows, panels: none.with_bands(others) }
        }
    }
}

/// Returns the dimensions of more than one position, except the two in `without`, most major first.
fn others(ins: &Space, without: [Option<Dim>; 2]) -> Vec<Dim> {
    let all = ins.iter().rev().filter(|&(dim, bits)| bits > 0 && !without.contains(&Some(dim)));
    all.map(|(dim, _)| dim).collect()
}
