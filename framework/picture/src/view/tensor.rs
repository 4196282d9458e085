//! The tensor view: each element's cell shows who holds it.

use tilewright_layout::{Dim, LinearLayout};

use super::positions::Positions;
use super::runs::{Values, runs};
use super::sliced::SlicedPlane;
use crate::{Axis, Cell, Fill, Grid, Panel, PictureError, Tone};

/// Holders that are named when an element is pointed at; further ones are counted.
const MOST_HOLDERS: usize = 12;

/// A layout whose tensor and positions are drawn.
pub(super) struct Drawn<'a> {
    /// From positions to elements, these packed as in the plane.
    pub linear: LinearLayout,
    pub plane: &'a SlicedPlane<'a>,
    pub positions: Positions<'a>,
    /// For each packed element its positions in ascending order.
    holders: Vec<Vec<u64>>,
}

impl<'a> Drawn<'a> {
    /// Spaces must be small enough to list.
    pub fn new(
        linear: &LinearLayout,
        plane: &'a SlicedPlane<'a>,
        positions: Positions<'a>,
    ) -> Result<Self, PictureError> {
        let order: Vec<Dim> = plane.axes.space.dims().collect();
        let linear = linear.transpose_outs(&order)?;
        let mut holders = vec![Vec::new(); 1 << linear.outs().bits()];
        for input in 0..1u64 << linear.ins().bits() {
            holders[linear.apply_packed(input) as usize].push(input);
        }
        Ok(Self { linear, plane, positions, holders })
    }

    /// The positions of an element.
    pub fn holders(&self, element: u64) -> &[u64] {
        self.holders.get(element as usize).map_or(&[], Vec::as_slice)
    }

    /// Lines of the caption on replicated elements, and on elements that no position holds.
    pub fn copies_in_words(&self) -> Vec<String> {
        let mut lines = Vec::new();
        // All elements that are held are held equally often.
        let copies = self.holders.iter().map(Vec::len).max().unwrap_or(0);
        if copies > 1 {
            lines.push(format!("every element is held {copies} times: cells name the first holder"));
        }
        let missing = self.holders.iter().filter(|held| held.is_empty()).count();
        if missing > 0 {
            lines.push(format!("{missing} elements are held by nobody"));
        }
        lines
    }

    /// The panel of a slice of the tensor.
    pub fn tensor(&self, slice: usize) -> Panel {
        let SlicedPlane { rows, columns, slices, .. } = self.plane;
        let name = slices.band_name(slices.packed(slice), " = ", ", ");
        let title = if name.is_empty() { "tensor".to_owned() } else { format!("tensor, {name}") };
        // Thick borders go around what the lanes of a warp span.
        let lanes = self.linear.columns_of(Dim::LANE).iter().fold(0, |all, column| all | column);
        let ruled = |axis: Axis, tile: Option<usize>| if let Some(size) = tile { axis.ruled(size) } else { axis };
        let row_axis = if rows.dim.is_some() { rows.axis("") } else { Axis::blank("", 1) };
        let (row_axis, column_axis) = (ruled(row_axis, rows.tile(lanes)), ruled(columns.axis(""), columns.tile(lanes)));
        let mut first_holders = Values::new();
        let mut grid = Grid::of(row_axis, column_axis, |row, column| {
            let element = self.plane.element(slice, row, column);
            if let Some(&first) = self.holders(element).first() {
                first_holders.insert((row, column), first);
            }
            self.cell(element)
        });
        let positions = &self.positions;
        grid.runs = runs(
            &first_holders,
            |_, &last, &next| positions.continues(last, next),
            |&first, &last| positions.run_name(first, last),
        );
        Panel::grid(title, grid)
    }

    fn cell(&self, element: u64) -> Cell {
        let (positions, held) = (&self.positions, self.holders(element));
        let link = self.plane.axes.link(element);
        let mut cell = Cell { lines: positions.lines_of_all(held), ..Cell::default() }
            .fill(held.first().map_or(Fill::tone(Tone::Quiet), |&first| positions.fill(first)))
            .link(link.clone())
            .hover(link);
        for &input in held.iter().take(MOST_HOLDERS) {
            cell.hover.push(positions.description(input));
            if let Some(kin) = positions.kin(input).filter(|kin| !cell.kin.contains(kin)) {
                cell.kin.push(kin);
            }
        }
        match held.len() {
            0 => cell.hover("held by nobody"),
            many if many > MOST_HOLDERS => cell.hover(format!("and {} more copies", many - MOST_HOLDERS)),
            _ => cell,
        }
    }
}
