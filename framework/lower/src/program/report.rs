//! Lowers assertions and prints.

use tilewright_kernel::{Op as KernelOp, Value};
use tilewright_tile::{Attribute, Op};

use super::error::{LowerErrorReason, Lowered};
use super::lowered::LoweredValue;
use super::lowering::Lowering;

/// Lowers an assertion: the kernel traps unless every element of the condition is true.
pub(super) fn assert(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let value = lowering.operand(op, 0)?;
    let message = lowering.keyword(op, "message").or(lowering.keyword(op, "msg")).unwrap_or_default().to_owned();
    let conditions: Vec<Value> = match lowering.lowered(value)? {
        LoweredValue::Scalar(condition) => vec![*condition],
        LoweredValue::Tensor(tensor) => tensor.values.to_vec(),
        _ => return Err(LowerErrorReason::malformed("a boolean is expected")),
    };
    let mut done: Vec<Value> = Vec::new();
    for condition in conditions {
        if !done.contains(&condition) {
            lowering.builder.effect(KernelOp::Assert { condition, message: message.clone(), predicate: None });
            done.push(condition);
        }
    }
    Ok(())
}

/// Lowers a print: each lane prints all elements that it holds, in the order of its registers.
pub(super) fn print(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let prefix = lowering.keyword(op, "prefix").unwrap_or_default().to_owned();
    let hex = lowering.attribute(op, "hex").is_some_and(|hex| *hex == Attribute::Bool(true));
    let mut values = Vec::new();
    for &operand in &lowering.body.op(op).operands {
        match lowering.lowered(operand)? {
            LoweredValue::Scalar(value) => values.push(*value),
            LoweredValue::Tensor(tensor) => values.extend(tensor.values.iter().copied()),
            _ => return Err(LowerErrorReason::unsupported("only numbers and tensors of them are printed")),
        }
    }
    lowering.builder.effect(KernelOp::Print { prefix, hex, values });
    Ok(())
}
