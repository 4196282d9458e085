//! The matrix of a linear layout as a grid of bits.

use tilewright_layout::{Dim, LinearLayout, Space};

use crate::text::join;
use crate::{Axis, Cell, Fill, Frame, Grid, Panel, Picture, Tone};

/// The picture of a layout's matrix.
#[must_use]
pub fn matrix(title: &str, layout: &LinearLayout) -> Picture {
    let mut picture = Picture::new(title);
    picture.caption.push(
        "a column for each input bit, a row for each bit of the tensor's coordinates; frames: identity blocks"
            .to_owned(),
    );
    picture.add(Panel::grid("matrix over F2", matrix_grid(layout)));
    picture
}

/// A layout's matrix: a column for each input bit, under its dim; a row for each out bit, beside its
/// dim; bits named by their weight in their dim. Ones are coloured by the input dim.
#[must_use]
pub fn matrix_grid(layout: &LinearLayout) -> Grid {
    let (in_bits, out_bits) = (bits(layout.ins()), bits(layout.outs()));
    let mut grid = Grid::of(axis("out", layout.outs()), axis("in", layout.ins()), |row, column| {
        let ((dim, bit), (out, out_bit)) = (in_bits[column], out_bits[row]);
        let hue = layout.ins().dims().position(|d| d == dim).unwrap_or(0) as u64;
        let one = is_one(layout, row, column);
        Cell::new(if one { "1" } else { "·" })
            .fill(if one { Fill::hue(hue, 8) } else { Fill::tone(Tone::Quiet) })
            .kin(format!("in {dim} bit {bit}"))
            .kin(format!("out {out} bit {out_bit}"))
            .hover(format!("{dim} {} -> {}", 1u64 << bit, coordinates(layout.outs().unpack(layout.columns()[column]))))
            .hover(format!("row: {out} {}", 1u64 << out_bit))
    });
    grid.frames = identity_blocks(layout);
    grid
}

/// Whether a place of the matrix has a one.
pub(super) fn is_one(layout: &LinearLayout, row: usize, column: usize) -> bool {
    layout.columns()[column] >> row & 1 == 1
}

/// The bits of a space in order, each with its dim and its place in the dim.
pub(super) fn bits(space: &Space) -> Vec<(Dim, u32)> {
    space.iter().flat_map(|(dim, bits)| (0..bits).map(move |bit| (dim, bit))).collect()
}

/// Coordinates with their dims: `dim0 2, dim1 8`.
pub(super) fn coordinates(place: impl IntoIterator<Item = (Dim, u64)>) -> String {
    join(place.into_iter().map(|(dim, at)| format!("{dim} {at}")), ", ")
}

/// The bits of a space under their weights, the dims as bands.
fn axis(name: &str, space: &Space) -> Axis {
    let bits = bits(space);
    let starts = bits.iter().enumerate().filter(|(_, (_, bit))| *bit == 0);
    let bands = starts.map(|(start, (dim, _))| (start, dim.to_string()));
    Axis::new(name, bits.iter().map(|(_, bit)| 1u64 << bit)).bands(bands)
}

/// Where two or more bits of an input dim go, in order, to as many bits of one out dim and nowhere else.
fn identity_blocks(layout: &LinearLayout) -> Vec<Frame> {
    let mut blocks: Vec<Frame> = Vec::new();
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
            _ => blocks.push(Frame { rows: row..row + 1, columns: column..column + 1, tone: Tone::Strong }),
        }
    }
    blocks.retain(|block| block.rows.len() > 1);
    blocks
}
