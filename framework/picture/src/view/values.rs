//! Draws the values of a layout in CuTe's notation, whether a linear layout has this map or not.

use tilewright_layout::cute::NotatedLayout;

use super::layout::add_all;
use crate::error::MOST_BITS;
use crate::{Cell, CellColour, Grid, GridAxis, Panel, Picture, PictureError};

/// Max number of planes of a layout with more than two modes.
const PLANES: u64 = 64;

/// Number of consecutive values, and of hues, after which the colours repeat.
const HUES: u64 = 8;

/// Draws the value of each coordinate: the last mode across, the one before it down, the modes before these as planes; a
/// layout of one mode is drawn as one row. The hue shows the last number of a value.
///
/// # Errors
/// [`PictureError`] if the layout has more than 2^16 coordinates or more than 64 planes, or a value that does not fit 63
/// bits.
pub fn draw_layout_values(title: &str, layout: &NotatedLayout) -> Result<Picture, PictureError> {
    let wrong = |reason: String| PictureError::not_drawable("the layout", reason, "draw a smaller one");
    let sizes = layout.sizes().map_err(|error| wrong(error.to_string()))?;
    let size = sizes.iter().try_fold(1u64, |all, size| all.checked_mul(*size)).unwrap_or(u64::MAX);
    let bits = u64::BITS - size.saturating_sub(1).leading_zeros();
    PictureError::limit("the layout", bits, MOST_BITS, "draw a smaller one")?;
    let values: Result<Vec<_>, _> = (0..size).map(|index| layout.values_at(index)).collect();
    let values = values.map_err(|error| wrong(error.to_string()))?;
    let (rows, columns) = match sizes[..] {
        [.., rows, columns] => (rows, columns),
        [columns] => (1, columns),
        [] => (1, 1),
    };
    let planes = size / (rows * columns).max(1);
    if planes > PLANES {
        return Err(wrong(format!("it has {planes} planes, and a picture shows at most {PLANES}")));
    }
    let panels = (0..planes).map(|plane| {
        let title = if planes > 1 { format!("plane {plane} of the first modes") } else { "values".to_owned() };
        let at = |row: usize, column: usize| (column as u64 * rows + row as u64) * planes + plane;
        let cell = |row, column| value_cell(&values[at(row, column) as usize]);
        Panel::grid(title, Grid::from_fn(GridAxis::new("", 0..rows), GridAxis::new("", 0..columns), cell))
    });
    let mut picture = Picture::new(title);
    add_all(&mut picture, panels.collect());
    Ok(picture)
}

/// The cell of a value.
fn value_cell(value: &[i64]) -> Cell {
    let numbers: Vec<_> = value.iter().map(i64::to_string).collect();
    let text = if let [number] = &numbers[..] { number.clone() } else { format!("({})", numbers.join(",")) };
    let index = value.last().map_or(0, |last| last.rem_euclid(HUES as i64).unsigned_abs());
    Cell::new(text).with_fill(CellColour::Hue { index, of: HUES, shade: 0, shades: 1 })
}
