//! The matrix of a linear layout as a grid of bits.

use tilewright_layout::{LinearLayout, Space};

use crate::{Band, Cell, Fill, Frame, Grid, Panel, Picture, Tone};

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
    let (rows, columns) = (layout.outs().bits() as usize, layout.ins().bits() as usize);
    let mut grid = Grid::new(rows, columns);
    grid.row_axis = "out".to_owned();
    grid.column_axis = "in".to_owned();
    grid.row_headings = bit_names(layout.outs());
    grid.column_headings = bit_names(layout.ins());
    grid.row_bands = dim_bands(layout.outs());
    grid.column_bands = dim_bands(layout.ins());
    let named = |space: &Space| space.iter().flat_map(|(dim, bits)| (0..bits).map(move |bit| (dim, bit))).collect();
    let (in_bits, out_bits): (Vec<_>, Vec<_>) = (named(layout.ins()), named(layout.outs()));
    let dims: Vec<_> = layout.ins().dims().collect();
    for (column, &(dim, bit)) in in_bits.iter().enumerate() {
        let hue = dims.iter().position(|&d| d == dim).unwrap_or(0) as u64;
        let image: Vec<_> = layout.outs().unpack(layout.columns()[column]).collect();
        let image = image.iter().map(|(out, value)| format!("{out} {value}")).collect::<Vec<_>>().join(", ");
        for (row, &(out, out_bit)) in out_bits.iter().enumerate() {
            let one = layout.columns()[column] >> row & 1 == 1;
            let cell = Cell::new(if one { "1" } else { "·" })
                .fill(if one { Fill::hue(hue, 8) } else { Fill::tone(Tone::Quiet) })
                .kin(format!("in {dim} bit {bit}"))
                .kin(format!("out {out} bit {out_bit}"))
                .hover(format!("{dim} {} -> {image}", 1u64 << bit))
                .hover(format!("row: {out} {}", 1u64 << out_bit));
            grid.set(row, column, cell);
        }
    }
    grid.frames = identity_blocks(layout);
    grid
}

/// Where two or more bits of an input dim go, in order, to as many bits of one out dim and nowhere else.
fn identity_blocks(layout: &LinearLayout) -> Vec<Frame> {
    let mut blocks: Vec<Frame> = Vec::new();
    let mut column = 0;
    for (_, bits) in layout.ins().iter() {
        for bit in 0..bits as usize {
            let image = layout.columns()[column + bit];
            if !image.is_power_of_two() {
                continue;
            }
            let row = image.trailing_zeros() as usize;
            let starts_dim = layout.outs().dims().any(|dim| layout.outs().shift_of(dim) == Some(row as u32));
            match blocks.last_mut() {
                Some(last) if bit > 0 && !starts_dim && last.columns.end == column + bit && last.rows.end == row => {
                    (last.columns.end, last.rows.end) = (column + bit + 1, row + 1);
                }
                _ => blocks.push(Frame {
                    rows: row..row + 1,
                    columns: column + bit..column + bit + 1,
                    tone: Tone::Strong,
                }),
            }
        }
        column += bits as usize;
    }
    blocks.retain(|block| block.rows.len() > 1);
    blocks
}

/// The names of a space's bits in order, each its weight in its dim: `1`, `2`, `4`, ...
#[must_use]
pub fn bit_names(space: &Space) -> Vec<String> {
    space.iter().flat_map(|(_, bits)| (0..bits).map(|bit| (1u64 << bit).to_string())).collect()
}

fn dim_bands(space: &Space) -> Vec<Band> {
    let mut start = 0;
    let mut bands = Vec::new();
    for (dim, bits) in space.iter().filter(|&(_, bits)| bits > 0) {
        bands.push(Band::new(start, dim.to_string()));
        start += bits as usize;
    }
    bands
}
