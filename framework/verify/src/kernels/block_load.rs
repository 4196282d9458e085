//! A kernel that loads one tile of a matrix by blocks and writes it row-major.

use tilewright_kernel::{Kernel, Value};
use tilewright_layout::LinearLayout;
use tilewright_plan::movement::{BlockLoads, GlobalTensor, MovementError, PlanContext, access_global};
use tilewright_target::Direction;

use super::pointer_parameters::begin;
use tilewright_lower::registers::{integer, row_major_places};

/// A kernel of the block of `layout` whose parameters are pointers to global memory: the matrix, and the tile, which it
/// writes row-major without gaps. The tile is the one that begins at this row and column (dim0, dim1), which may be
/// outside of the matrix; what of it is outside is zero.
///
/// # Errors
/// [`MovementError`]: elements that cannot be stored.
pub fn block_load_kernel(
    (layout, loads): (&LinearLayout, &BlockLoads),
    at: [i32; 2],
    element_bits: u32,
    context: PlanContext<'_>,
) -> Result<Kernel, MovementError> {
    let element = integer(element_bits)?;
    let shape = [0, 1].map(|axis| 1u64 << layout.out_bits(tilewright_layout::Dim::tensor(axis)));
    let mut builder = begin("block_load", layout, &["matrix", "tile"]);
    let matrix = builder.parameter(0);
    let at = at.map(|begin| builder.i32(begin.cast_unsigned()));
    let values: Vec<Value> = loads.emit(&mut builder, matrix, at);
    let tile = GlobalTensor::row_major(&shape, 16);
    let store = access_global(layout, &tile, element_bits, Direction::Store, context.target)?;
    let mut places = row_major_places(&mut builder, 1, layout, element);
    store.emit_store(&mut builder, &values, &mut places);
    Ok(builder.finish())
}
