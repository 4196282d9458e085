//! Coordinates of elements, by axis, and layouts in which each position has others.

use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};

/// The layout whose positions are those of `layout`, each with the coordinates that `map` gives for its own. The map must be
/// linear over F2; coordinates are listed by axis.
pub fn mapped(
    layout: &LinearLayout,
    shape: &[u64],
    map: impl Fn(&[u64]) -> Vec<u64>,
) -> Result<LinearLayout, LayoutError> {
    let dims: Vec<(Dim, u64)> = shape.iter().enumerate().map(|(axis, &size)| (Dim::tensor(axis), size)).collect();
    let outs = Space::of_sizes(&dims)?;
    let columns = layout.columns().iter().map(|&column| {
        let place = map(&coordinates(layout, column));
        let named: Vec<(Dim, u64)> = place.iter().enumerate().map(|(axis, &at)| (Dim::tensor(axis), at)).collect();
        outs.pack(&named)
    });
    let columns = columns.collect::<Result<Vec<u64>, _>>()?;
    LinearLayout::from_columns(layout.ins().clone(), outs, &columns)
}

/// A packed coordinate by axis.
pub fn coordinates(layout: &LinearLayout, packed: u64) -> Vec<u64> {
    let outs = layout.outs();
    (0..outs.len()).map(|axis| outs.coordinate(packed, Dim::tensor(axis))).collect()
}

/// The number of an element in row-major order, from its coordinates.
pub fn row_major(shape: &[u64], coordinates: &[u64]) -> u64 {
    shape.iter().zip(coordinates).fold(0, |index, (size, at)| index * size + at)
}

/// The coordinates of an element by its number in row-major order.
pub fn of_row_major(shape: &[u64], mut index: u64) -> Vec<u64> {
    let mut place = vec![0; shape.len()];
    for (at, &size) in place.iter_mut().zip(shape).rev() {
        *at = index % size.max(1);
        index /= size.max(1);
    }
    place
}
