//! Lowers `tt.map_elementwise`: a region of scalar operations for each element.

use tilewright_kernel::Value;
use tilewright_layout::Dim;
use tilewright_tile::Op;

use super::super::error::{LowerError, LowerErrorReason, Lowered};
use super::super::lowered::{LoweredValue, Registers};
use super::super::lowering::Lowering;

/// Lowers `tt.map_elementwise`: executes its region for each register, or for `pack` registers at a time. The region
/// then takes `pack` elements of the first operand, then of the next, and so on, and returns its results in the same
/// order.
pub(in super::super) fn mapped(lowering: &mut Lowering<'_>, op: Op) -> Result<(), LowerError> {
    let body = lowering.body;
    let at = |reason: LowerErrorReason| reason.at(body, op);
    let operation = body.op(op);
    let layout = lowering.result_layout(op).map_err(at)?;
    let operands = operation.operands.iter().map(|&value| lowering.registers_in(value, &layout));
    let operands = operands.collect::<Lowered<Vec<_>>>().map_err(at)?;
    let pack = lowering.integer_attribute(op, "pack").map_err(at)?.max(1) as usize;
    let registers = 1usize << layout.in_bits(Dim::REGISTER);
    let block =
        operation.regions.first().copied().ok_or_else(|| at(LowerErrorReason::malformed("it has no region")))?;
    let block = lowering.only_block(block).map_err(at)?;
    let mut results: Vec<Vec<Value>> = vec![Vec::with_capacity(registers); operation.results.len()];
    for first in (0..registers).step_by(pack) {
        // If a lane holds fewer elements than the region takes, its last element is repeated.
        let taken = operands
            .iter()
            .flat_map(|operand| (first..first + pack).map(|register| operand[register.min(registers - 1)]));
        let taken: Vec<Value> = taken.collect();
        let given = lowering.scalars_through(block, &taken)?;
        for (all, own) in results.iter_mut().zip(given.chunks(pack)) {
            all.extend(own.iter().take(registers - first));
        }
    }
    for (&result, values) in operation.results.iter().zip(results) {
        lowering.set_lowered(result, LoweredValue::Tensor(Registers::new(layout.clone(), values)));
    }
    Ok(())
}

impl Lowering<'_> {
    /// Emits a block of scalar operations with these arguments; returns the results of the block.
    pub(in super::super) fn scalars_through(
        &mut self,
        block: tilewright_tile::Block,
        values: &[Value],
    ) -> Result<Vec<Value>, LowerError> {
        let body = self.body;
        for (&argument, &value) in body.arguments(block).iter().zip(values) {
            self.set_lowered(argument, LoweredValue::Scalar(value));
        }
        let Some(end) = self.block(block)? else { return Ok(Vec::new()) };
        let given = body.op(end).operands.iter().map(|&value| self.scalar(value)).collect::<Lowered<Vec<_>>>();
        given.map_err(|reason| reason.at(body, end))
    }
}
