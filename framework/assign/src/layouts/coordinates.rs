//! Coordinates of elements along the tensor axes, and layouts with mapped coordinates.

use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};

/// Applies `map` to the coordinates of each basis of a layout; the input dims stay. `map` takes and returns one
/// coordinate for each axis and must be linear over F2. `shape` is the shape of the result.
pub fn map_coordinates(
    layout: &LinearLayout,
    shape: &[u64],
    map: impl Fn(&[u64]) -> Vec<u64>,
) -> Result<LinearLayout, LayoutError> {
    let dims: Vec<(Dim, u64)> = shape.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size)).collect();
    let outs = Space::from_sizes(&dims)?;
    let columns = layout.columns().iter().map(|&column| {
        let position = map(&unpack_coordinates(layout, column));
        let named: Vec<(Dim, u64)> = position.iter().enumerate().map(|(axis, &at)| (Dim::tensor(axis), at)).collect();
        outs.pack(&named)
    });
    let columns = columns.collect::<Result<Vec<u64>, _>>()?;
    LinearLayout::from_columns(layout.ins().clone(), outs, &columns)
}

/// Unpacks a packed coordinate into one coordinate per axis.
pub fn unpack_coordinates(layout: &LinearLayout, packed: u64) -> Vec<u64> {
    let outs = layout.outs();
    (0..outs.len()).map(|axis| outs.coordinate(packed, Dim::tensor(axis))).collect()
}

/// Returns the row-major index of an element, from its coordinates.
pub fn row_major_index(shape: &[u64], coordinates: &[u64]) -> u64 {
    shape.iter().zip(coordinates).fold(0, |index, (size, at)| index * size + at)
}

/// Returns the coordinates of an element, from its row-major index.
pub fn coordinates_from_row_major(shape: &[u64], mut index: u64) -> Vec<u64> {
    let mut position = vec![0; shape.len()];
    for (at, &size) in position.iter_mut().zip(shape).rev() {
        *at = index % size.max(1);
        index /= size.max(1);
    }
    position
}
