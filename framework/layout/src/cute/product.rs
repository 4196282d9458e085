//! Products: a layout repeated over the positions of another.

use super::composition::by_mode;
use super::divide::{unpack_pair, zip_modes};
use super::{CuteError, CuteLayout, IntTuple, Tiler, complement, composition};

/// Repeats a block once for each position of a tiler: the result is `(block, repetition)`, and `repetition` maps a
/// position of the tiler to the offset of the block's copy. Copies at different values of the tiler do not overlap. A
/// tiler of several modes repeats each mode.
///
/// # Errors
/// As [`composition`] and [`complement`]; [`CuteError::TooManyModes`] if the tiler has more modes than the block.
///
/// ```
/// use tilewright_layout::cute::{Tiler, logical_product};
/// let product = logical_product(&"(2,2):(4,1)".parse()?, &Tiler::Layout("6:1".parse()?))?;
/// assert_eq!(product.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
/// # Ok::<(), tilewright_layout::cute::CuteError>(())
/// ```
pub fn logical_product(block: &CuteLayout, tiler: &Tiler) -> Result<CuteLayout, CuteError> {
    match tiler {
        Tiler::Layout(tile) => {
            let reach = block.size().checked_mul(tile.cosize());
            let reach = reach.ok_or(CuteError::Overflow { what: "the size of the product" })?;
            let copies = composition(&complement(block, reach)?, tile)?;
            CuteLayout::from_modes(vec![block.clone(), copies])
        }
        Tiler::Modes(tilers) => by_mode(block, tilers, logical_product),
    }
}

/// Repeats as [`logical_product`], then groups the modes as `((block, block, ...), (repetition, repetition, ...))`.
///
/// # Errors
/// As [`logical_product`].
pub fn zipped_product(block: &CuteLayout, tiler: &Tiler) -> Result<CuteLayout, CuteError> {
    zip_modes(&logical_product(block, tiler)?, tiler)
}

/// Repeats as [`logical_product`], then groups the modes as `((block, block, ...), repetition, repetition, ...)`.
///
/// # Errors
/// As [`logical_product`].
pub fn tiled_product(block: &CuteLayout, tiler: &Tiler) -> Result<CuteLayout, CuteError> {
    unpack_pair(&zipped_product(block, tiler)?, false)
}

/// Repeats as [`logical_product`], then groups the modes as `(block, block, ..., repetition, repetition, ...)`.
///
/// # Errors
/// As [`logical_product`].
pub fn flat_product(block: &CuteLayout, tiler: &Tiler) -> Result<CuteLayout, CuteError> {
    unpack_pair(&zipped_product(block, tiler)?, true)
}

/// Repeats a block along each axis of `tile`; each mode of the result is `(block, repetition)`: whole blocks side by
/// side.
///
/// # Errors
/// As [`logical_product`].
pub fn blocked_product(block: &CuteLayout, tile: &CuteLayout) -> Result<CuteLayout, CuteError> {
    paired(block, tile, false)
}

/// Repeats a block along each axis of `tile`; each mode of the result is `(repetition, block)`: blocks interleaved.
///
/// # Errors
/// As [`logical_product`].
pub fn raked_product(block: &CuteLayout, tile: &CuteLayout) -> Result<CuteLayout, CuteError> {
    paired(block, tile, true)
}

fn paired(block: &CuteLayout, tile: &CuteLayout, repetition_first: bool) -> Result<CuteLayout, CuteError> {
    let rank = block.rank().max(tile.rank());
    let (block, tile) = (ranked(block, rank)?, ranked(tile, rank)?);
    let product = logical_product(&block, &Tiler::Layout(tile))?.modes();
    let [block, copies] = product.as_slice() else { return CuteLayout::from_modes(product) };
    let pairs = block.modes().into_iter().zip(copies.modes());
    let pairs = pairs.map(|(block, copies)| {
        CuteLayout::from_modes(if repetition_first { vec![copies, block] } else { vec![block, copies] })
    });
    CuteLayout::from_modes(pairs.collect::<Result<_, _>>()?)
}

/// Returns the layout as a tuple of top-level modes, with modes `1:0` appended until it has `rank` of them.
fn ranked(layout: &CuteLayout, rank: usize) -> Result<CuteLayout, CuteError> {
    CuteLayout::from_modes(layout.append(rank, None)?.modes())
}

/// Repeats a block until it fills a shape. `order` has a rank for each mode, and the mode of smallest rank is repeated
/// first; without `order`, the first mode.
///
/// # Errors
/// [`CuteError::NotDivisible`] if the block does not divide the shape,
/// [`CuteError::NotCongruent`] if the order does not have one integer for each mode, and as
/// [`blocked_product`].
pub fn tile_to_shape(block: &CuteLayout, shape: &IntTuple, order: Option<&IntTuple>) -> Result<CuteLayout, CuteError> {
    let rank = shape.rank().max(block.rank());
    let block = ranked(block, rank)?;
    let mut required = shape.modes().iter().map(IntTuple::product).collect::<Result<Vec<_>, _>>()?;
    required.resize(rank, 1);
    let mut counts = Vec::new();
    for (mode, number) in block.modes().iter().zip(required) {
        let divisor = mode.size();
        if number == 0 || number % divisor != 0 {
            return Err(CuteError::NotDivisible { operation: "tile to shape", number, divisor });
        }
        counts.push(number / divisor);
    }
    let first = IntTuple::flat(0..counts.len() as u64);
    blocked_product(&block, &CuteLayout::from_ordered_shape(&IntTuple::flat(counts), order.unwrap_or(&first))?)
}
