//! A kernel that loads one tile of a matrix by block loads and writes it row-major.

use tilewright_kernel::{Kernel, Value};
use tilewright_layout::LinearLayout;
use tilewright_plan::movement::{Block2dLoadPlan, GlobalTensor, MovementError, PlanContext, plan_global_access};
use tilewright_target::Direction;

use super::pointer_parameters::begin;
use tilewright_lower::registers::{find_memory_integer, row_major_address_emitter};

/// Builds a kernel that loads a tile in `layout` by `loads` and writes it row-major without gaps. The parameters are
/// pointers to global memory: the matrix and the tile. The tile starts at row and column `at` (dim0, dim1), which may
/// be outside of the matrix; elements outside are zero.
///
/// # Errors
/// [`MovementError`] if no element has this width, or if the store of the tile cannot be planned.
pub fn build_block_load_kernel(
    (layout, loads): (&LinearLayout, &Block2dLoadPlan),
    at: [i32; 2],
    element_bits: u32,
    context: PlanContext<'_>,
) -> Result<Kernel, MovementError> {
    let element = find_memory_integer(element_bits)?;
    let shape = [0, 1].map(|axis| 1u64 << layout.out_bits(tilewright_layout::Dim::tensor(axis)));
    let mut builder = begin("block_load", layout, &["matrix", "tile"]);
    let matrix = builder.parameter(0);
    let at = at.map(|begin| builder.i32(begin.cast_unsigned()));
    let values: Vec<Value> = loads.emit(&mut builder, matrix, at);
    let tile = GlobalTensor::row_major(&shape, 16);
    let store = plan_global_access(layout, &tile, element_bits, Direction::Store, context.target)?;
    let mut addresses = row_major_address_emitter(&mut builder, 1, layout, element);
    store.emit_store(&mut builder, &values, &mut addresses);
    Ok(builder.finish())
}
