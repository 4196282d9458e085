//! Lowers a block of an `scf` operation in place.

use tilewright_kernel::Value;
use tilewright_tile::{self as tile, Op};

use super::super::error::{LowerError, Lowered};
use super::super::lowering::Lowering;

/// Returns the kernel values that a block yields, in the layouts of the operation's results.
pub(super) fn yielded(lowering: &mut Lowering<'_>, op: Op, block: tile::Block) -> Result<Vec<Value>, LowerError> {
    let body = lowering.body;
    let Some(end) = lowering.block(block)? else { return Ok(Vec::new()) };
    let given: Lowered<Vec<Value>> = lowering.flat(&body.op(end).operands, &body.op(op).results);
    given.map_err(|reason| reason.at(body, end))
}
