//! Tables of text without lines between their cells.

use std::ops::Range;

use comfy_table::{CellAlignment, Row, Table, presets};

/// A table with this header, whose columns in `numbers` are aligned to the right.
pub fn table(header: impl Into<Row>, numbers: Range<usize>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for column in table.column_iter_mut().skip(numbers.start).take(numbers.len()) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
