//! Text tables without lines between cells.

use std::ops::Range;

use comfy_table::{CellAlignment, Row, Table, presets};

/// Creates an empty table with this header; the columns in `numbers` are right-aligned.
pub fn new_table(header: impl Into<Row>, numbers: Range<usize>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for column in table.column_iter_mut().skip(numbers.start).take(numbers.len()) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
