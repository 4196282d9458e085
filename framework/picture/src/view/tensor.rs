//! Draws the tensor view of a layout: each element's cell shows its positions.

use tilewright_layout::{Dim, LinearLayout};

use super::positions::Positions;
use super::runs::{Values, runs};
use super::sliced::SlicedPlane;
use crate::{Cell, CellColour, EmphasisColour, Grid, GridAxis, Panel, PictureError};

/// Max number of positions listed in an element's tooltip; further ones are only counted.
const MOST_HOLDERS: usize = 12;

/// A layout with its tensor's plane and its positions, prepared for drawing.
pub(super) struct LayoutDrawing<'a> {
    /// The layout's map from positions to elements, with the output dims in the order of the plane.
    pub linear: LinearLayout,
    pub plane: &'a SlicedPlane<'a>,
    pub positions: Positions<'a>,
    /// For each packed element, the positions that hold it, in ascending order.
    holders: Vec<Vec<u64>>,
}

impl<'a> LayoutDrawing<'a> {
    /// Prepares the layout `linear` for drawing in `plane`, with the names and colours of `positions`. The layout must
    /// be small enough to enumerate.
    pub fn new(
        linear: &LinearLayout,
        plane: &'a SlicedPlane<'a>,
        positions: Positions<'a>,
    ) -> Result<Self, PictureError> {
        let order: Vec<Dim> = plane.axes.space.dims().collect();
        let linear = linear.transpose_outs(&order)?;
        let mut holders = vec![Vec::new(); 1 << linear.outs().total_bits()];
        for input in 0..1u64 << linear.ins().total_bits() {
            holders[linear.apply_packed(input) as usize].push(input);
        }
        Ok(Self { linear, plane, positions, holders })
    }

    /// Returns the packed positions that hold an element, in ascending order; empty if none does.
    pub fn positions_of_element(&self, element: u64) -> &[u64] {
        self.holders.get(element as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns caption lines on replicated elements and on elements without a position.
    pub fn describe_replicas(&self) -> Vec<String> {
        let mut lines = Vec::new();
        // Each element that has a position has equally many, so the maximum holds for all.
        let copies = self.holders.iter().map(Vec::len).max().unwrap_or(0);
        if copies > 1 {
            lines.push(format!("every element has {copies} replicas: cells name the first"));
        }
        let missing = self.holders.iter().filter(|inputs| inputs.is_empty()).count();
        if missing > 0 {
            lines.push(format!("{missing} elements are in no register"));
        }
        lines
    }

    /// Draws a slice of the tensor as a panel.
    pub fn draw_tensor_slice(&self, slice: usize) -> Panel {
        let SlicedPlane { rows, columns, slices, .. } = self.plane;
        let name = slices.band_name(slices.packed_index(slice), " = ", ", ");
        let title = if name.is_empty() { "tensor".to_owned() } else { format!("tensor, {name}") };
        // Thick borders surround the elements of one warp's lanes.
        let lanes = self.linear.columns_of(Dim::LANE).iter().fold(0, |all, column| all | column);
        let ruled = |axis: GridAxis, tile: Option<usize>| {
            if let Some(size) = tile { axis.with_borders_every(size) } else { axis }
        };
        let row_axis = if rows.dim.is_some() { rows.to_grid_axis("") } else { GridAxis::without_headings("", 1) };
        let (row_axis, column_axis) =
            (ruled(row_axis, rows.smallest_tile(lanes)), ruled(columns.to_grid_axis(""), columns.smallest_tile(lanes)));
        let mut first_holders = Values::new();
        let mut grid = Grid::from_fn(row_axis, column_axis, |row, column| {
            let element = self.plane.element_at(slice, row, column);
            if let Some(&first) = self.positions_of_element(element).first() {
                first_holders.insert((row, column), first);
            }
            self.cell(element)
        });
        let positions = &self.positions;
        grid.runs = runs(
            &first_holders,
            |_, &last, &next| positions.continues_run(last, next),
            |&first, &last| positions.run_name(first, last),
        );
        Panel::grid(title, grid)
    }

    fn cell(&self, element: u64) -> Cell {
        let (positions, inputs) = (&self.positions, self.positions_of_element(element));
        let link = self.plane.axes.element_link(element);
        let mut cell = Cell { lines: positions.element_text_lines(inputs), ..Cell::default() }
            .with_fill(
                inputs.first().map_or(CellColour::from_tone(EmphasisColour::Quiet), |&first| positions.fill(first)),
            )
            .with_link(link.clone())
            .with_tooltip_line(link);
        for &input in inputs.iter().take(MOST_HOLDERS) {
            cell.hover.push(positions.description(input));
            if let Some(kin) = positions.lane_group(input).filter(|kin| !cell.kin.contains(kin)) {
                cell.kin.push(kin);
            }
        }
        match inputs.len() {
            0 => cell.with_tooltip_line("in no register"),
            many if many > MOST_HOLDERS => cell.with_tooltip_line(format!("and {} more copies", many - MOST_HOLDERS)),
            _ => cell,
        }
    }
}
