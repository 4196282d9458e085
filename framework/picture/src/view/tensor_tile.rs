//! A tile that an instruction has in tensor memory: where each of its elements lies.

use tilewright_layout::Dim;
use tilewright_target::TensorOperand;

use crate::error::PictureError;
use crate::{Cell, Fill, Grid, Panel};

/// The panel of a tile.
pub(super) fn panel(tile: &TensorOperand) -> Result<Panel, PictureError> {
    let layout = &tile.layout;
    crate::plane::small_enough(&format!("operand {}", tile.role), layout.outs().bits())?;
    let [rows, columns] = [0, 1].map(|axis| 1usize << layout.out_bits(Dim::tensor(axis)));
    let mut grid = Grid::new(rows, columns);
    (grid.row_axis, grid.column_axis) = ("dim0".to_owned(), "dim1".to_owned());
    grid.row_headings = (0..rows).map(|row| row.to_string()).collect();
    grid.column_headings = (0..columns).map(|column| column.to_string()).collect();
    for ([row, place], [dim0, dim1]) in tile.places() {
        let at = place * u64::from(tile.bits);
        let (column, bit) = (at / 32, at % 32);
        let of_column = if tile.bits < 32 { format!(" from bit {bit} on") } else { String::new() };
        let cell = Cell::new(format!("R{row}:{column}"))
            .fill(Fill::hue(row, 1 << layout.in_bits(Dim::ROW)))
            .link(format!("row {row}"))
            .hover(format!("{} {dim0},{dim1}", tile.role.to_uppercase()))
            .hover(format!("row {row} column {column}{of_column}"));
        grid.set(dim0 as usize, dim1 as usize, cell);
    }
    let title = format!("{} {rows}x{columns} {}", tile.role.to_uppercase(), tile.element);
    let caption = "R3:1 is row 3, column 1 of tensor memory, counted from the address that the instruction is given";
    Ok(Panel::grid(title, grid).caption(caption.to_owned()))
}
