//! Draws the matrix of a linear layout as a grid of bits.

use tilewright_layout::{Dim, LinearLayout, Space};

use crate::text::join;
use crate::{Cell, CellColour, EmphasisColour, Grid, GridAxis, Outline, Panel, Picture};

/// Draws the matrix of a layout over F2 as a picture with one panel.
#[must_use]
pub fn draw_f2_matrix(title: &str, layout: &LinearLayout) -> Picture {
    let mut picture = Picture::new(title);
    picture.caption.push(
        "a column for each input bit, a row for each bit of the tensor's coordinates; frames: identity blocks"
            .to_owned(),
    );
    picture.add_panel(Panel::grid("matrix over F2", draw_f2_matrix_grid(layout)));
    picture
}

/// Draws the matrix of a layout over F2: a column per input bit and a row per output bit, grouped by dimension and
/// named by the bit's weight (1, 2, 4, ...). Ones are coloured by input dimension.
#[must_use]
pub fn draw_f2_matrix_grid(layout: &LinearLayout) -> Grid {
    let (in_bits, out_bits) = (bits(layout.ins()), bits(layout.outs()));
    let mut grid = Grid::from_fn(axis("out", layout.outs()), axis("in", layout.ins()), |row, column| {
        let ((dim, bit), (out, out_bit)) = (in_bits[column], out_bits[row]);
        let hue = layout.ins().dims().position(|d| d == dim).unwrap_or(0) as u64;
        let one = is_one(layout, row, column);
        Cell::new(if one { "1" } else { "·" })
            .with_fill(if one { CellColour::from_index(hue, 8) } else { CellColour::from_tone(EmphasisColour::Quiet) })
            .with_related_group(format!("in {dim} bit {bit}"))
            .with_related_group(format!("out {out} bit {out_bit}"))
            .with_tooltip_line(format!(
                "{dim} {} -> {}",
                1u64 << bit,
                coordinates(layout.outs().unpack(layout.columns()[column]))
            ))
            .with_tooltip_line(format!("row: {out} {}", 1u64 << out_bit))
    });
    grid.outlines = identity_blocks(layout);
    grid
}

/// Whether the matrix of a layout has a one at this row and column.
pub(super) fn is_one(layout: &LinearLayout, row: usize, column: usize) -> bool {
    layout.columns()[column] >> row & 1 == 1
}

/// Returns the bits of a space in order, each as its dimension and index.
pub(super) fn bits(space: &Space) -> Vec<(Dim, u32)> {
    space.iter().flat_map(|(dim, bits)| (0..bits).map(move |bit| (dim, bit))).collect()
}

/// Formats coordinates with their dimensions: `dim0 2, dim1 8`.
pub(super) fn coordinates(input: impl IntoIterator<Item = (Dim, u64)>) -> String {
    join(input.into_iter().map(|(dim, at)| format!("{dim} {at}")), ", ")
}

/// Returns a grid axis with the bits of a space, named by weight, in one band per dimension.
fn axis(name: &str, space: &Space) -> GridAxis {
    let bits = bits(space);
    let starts = bits.iter().enumerate().filter(|(_, (_, bit))| *bit == 0);
    let bands = starts.map(|(start, (dim, _))| (start, dim.to_string()));
    GridAxis::new(name, bits.iter().map(|(_, bit)| 1u64 << bit)).with_bands(bands)
}

/// Returns frames around identity submatrices: two or more consecutive bits of an input dimension that map to
/// consecutive bits of an output dimension.
fn identity_blocks(layout: &LinearLayout) -> Vec<Outline> {
    let mut blocks: Vec<Outline> = Vec::new();
    for (column, (_, bit)) in bits(layout.ins()).into_iter().enumerate() {
        let image = layout.columns()[column];
        if !image.is_power_of_two() {
            continue;
        }
        let row = image.trailing_zeros() as usize;
        let starts_dim = layout.outs().dims().any(|dim| layout.outs().shift_of(dim) == Some(row as u32));
        match blocks.last_mut() {
            Some(last) if bit > 0 && !starts_dim && last.columns.end == column && last.rows.end == row => {
                (last.columns.end, last.rows.end) = (column + 1, row + 1);
            }
            _ => blocks.push(Outline { rows: row..row + 1, columns: column..column + 1, tone: EmphasisColour::Strong }),
        }
    }
    blocks.retain(|block| block.rows.len() > 1);
    blocks
}
