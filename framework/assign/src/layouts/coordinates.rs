//! Coordinates of elements along the tensor axes, and layouts with mapped coordinates.

use super::LayoutCache;
use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_tile::op::name::ttg;
use tilewright_tile::transform::resolve_captured_value;
use tilewright_tile::{Attribute, FunctionBody, Value, ValueOrigin};

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

/// Returns the coordinates at which a tensor in memory begins within the tensor that its memory layout covers; missing
/// ones are zero.
#[must_use]
pub fn first_coordinates(body: &FunctionBody, value: Value, layouts: &LayoutCache<'_>) -> Vec<u64> {
    let value = resolve_captured_value(body, value);
    let ValueOrigin::Result(op, _) = body.value_origin(value) else { return Vec::new() };
    let before = || first_coordinates(body, body.op(op).operands[0], layouts);
    match body.op(op).name() {
        ttg::MEMDESC_INDEX => before(),
        ttg::MEMDESC_SUBSLICE => {
            let offsets = body.op(op).attributes.get("offsets").and_then(Attribute::as_unsigned_integers);
            let offsets = offsets.unwrap_or_default();
            let rank = layouts.resolve_memory(body.value_type(value)).map_or(offsets.len(), |of| of.shape.len());
            let innermost = &offsets[offsets.len().saturating_sub(rank)..];
            innermost.iter().zip(before().into_iter().chain(std::iter::repeat(0))).map(|(at, by)| at + by).collect()
        }
        _ => Vec::new(),
    }
}
