//! Draws a tile of an instruction in tensor memory, with the address of each element.

use tilewright_layout::Dim;
use tilewright_target::TensorMemoryOperand;

use crate::error::check_size;
use crate::{Cell, CellColour, Grid, GridAxis, Panel, PictureError};

/// Draws a tile of tensor memory as a panel; each cell has the row and column of tensor memory of one element.
pub(super) fn panel(tile: &TensorMemoryOperand) -> Result<Panel, PictureError> {
    let (layout, role) = (&tile.layout, tile.role.to_uppercase());
    check_size(&format!("operand {}", tile.role), layout.outs().total_bits())?;
    let [rows, columns] = [0, 1].map(|axis| 1usize << layout.out_bits(Dim::tensor(axis)));
    let mut grid = Grid::new(GridAxis::new("dim0", 0..rows), GridAxis::new("dim1", 0..columns));
    for ([row, col], [dim0, dim1]) in tile.element_positions() {
        let at = col * u64::from(tile.bits);
        let (column, bit) = (at / 32, at % 32);
        let of_column = if tile.bits < 32 { format!(" from bit {bit} on") } else { String::new() };
        let cell = Cell::new(format!("R{row}:{column}"))
            .with_fill(CellColour::from_index(row, 1 << layout.in_bits(Dim::ROW)))
            .with_link(format!("row {row}"))
            .with_tooltip_line(format!("{role} {dim0},{dim1}"))
            .with_tooltip_line(format!("row {row} column {column}{of_column}"));
        grid.set(dim0 as usize, dim1 as usize, cell);
    }
    let caption = "R3:1 is row 3, column 1 of tensor memory, relative to the instruction's address";
    Ok(Panel::grid(format!("{role} {rows}x{columns} {}", tile.element), grid).with_caption_line(caption))
}
