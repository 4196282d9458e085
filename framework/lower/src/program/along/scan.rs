//! Lowers `tt.scan`.

use tilewright_plan::movement::{self, ScanDirection};
use tilewright_tile::{Attribute, Op};

use super::super::error::{LowerError, LowerErrorReason};
use super::super::lowered::{LoweredValue, Registers};
use super::super::lowering::Lowering;
use super::combine::Tuples;

/// Lowers `tt.scan`: inclusive scans, along an axis, of tuples of elements, one of each operand.
pub(in super::super) fn scanned(lowering: &mut Lowering<'_>, op: Op) -> Result<(), LowerError> {
    let body = lowering.body;
    let at = |reason: LowerErrorReason| reason.at(body, op);
    let tuples = Tuples::of(lowering, op).map_err(at)?;
    let layout = tuples.tensors[0].layout.clone();
    let reversed = lowering.attribute(op, "reverse").is_some_and(|value| *value == Attribute::Bool(true));
    let direction = if reversed { ScanDirection::Reverse } else { ScanDirection::Forward };
    let planned = match lowering.plans.scans.get(&op) {
        Some(plan) => Ok(plan.clone()),
        None => movement::plan_scan(&layout, tuples.axis, &tuples.bits, direction, lowering.config.context.target),
    };
    let plan = planned.map_err(|error| at(error.into()))?;
    let results = tuples.through(lowering, |builder, words, combine| plan.emit(builder, words, combine))?;
    for (index, values) in results.into_iter().enumerate() {
        let result = lowering.result(op, index).map_err(at)?;
        let required = lowering.layout_of(result).map_err(at)?;
        let values = lowering.convert(&Registers::new(layout.clone(), values), &required).map_err(at)?;
        lowering.set_lowered(result, LoweredValue::Tensor(Registers::new(required, values)));
    }
    Ok(())
}
