//! Lowers `tt.gather`.

use std::sync::Arc;

use tilewright_assign::layouts::replicate_axes_in_blocks;
use tilewright_kernel::{Cast, Element, Type, Value};
use tilewright_layout::Dim;
use tilewright_plan::movement;
use tilewright_tile::Op;

use super::super::error::{LowerErrorReason, Lowered};
use super::super::lowered::Registers;
use super::super::lowering::Lowering;
use super::super::types::stored;

/// Lowers `tt.gather`: each element of the result is a source element. Its coordinate along the axis is the index given
/// for the result element, and its other coordinates are those of the result element.
pub(in super::super) fn gathered(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let (source, indices) = (lowering.operand(op, 0)?, lowering.operand(op, 1)?);
    let axis = Dim::tensor(lowering.integer_attribute(op, "axis")? as usize);
    let required = lowering.result_layout(op)?;
    let tensor = lowering.tensor(source)?;
    let tensor = lowering.replicate_in_blocks(&tensor, |_| true)?;
    let layout = Arc::new(replicate_axes_in_blocks(&required, |_| true)?.unwrap_or_else(|| (*required).clone()));
    let first =
        tensor.values.first().copied().ok_or_else(|| LowerErrorReason::malformed("the tensor has no element"))?;
    let ty = lowering.builder.type_of(first);
    let plan = match lowering.plans.gathers.get(&op) {
        Some(plan) => plan.clone(),
        None => movement::plan_gather(&tensor.layout, &layout, axis, stored(ty).bits(), lowering.config.context)?,
    };
    let numbers = lowering.registers_in(indices, &layout)?;
    let word = Type::Scalar(Element::I32);
    let numbers: Vec<Value> = numbers
        .iter()
        .map(|&index| {
            let cast = if lowering.builder.type_of(index).bits() < 32 { Cast::ExtendU } else { Cast::Truncate };
            lowering.builder.cast(cast, index, word)
        })
        .collect();
    let words: Vec<Value> = tensor.values.iter().map(|&value| lowering.emit_integer_bits(value)).collect();
    let moved = plan.emit(&mut lowering.builder, &words, &numbers);
    let values: Vec<Value> = moved.into_iter().map(|value| lowering.emit_from_integer_bits(value, ty)).collect();
    let values = lowering.convert(&Registers::new(layout, values), &required)?;
    lowering.give_tensor(op, required, values.to_vec())
}
