//! Lowers assertions and prints.

use tilewright_kernel::{Builder, Cast, Element, Op as KernelOp, Type, Value};
use tilewright_tile::{Attribute, Op};

use super::error::{LowerErrorReason, Lowered};
use super::lowered::LoweredValue;
use super::lowering::Lowering;
use super::tensor_coordinates::idle_registers;

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

/// Lowers a print: each element of an operand is printed once, with its index; a scalar by the program's first thread.
pub(super) fn print(lowering: &mut Lowering<'_>, op: Op) -> Lowered<()> {
    let prefix = lowering.keyword(op, "prefix").unwrap_or_default().to_owned();
    let hex = lowering.attribute(op, "hex").is_some_and(|hex| *hex == Attribute::Bool(true));
    let signs = lowering.attribute(op, "isSigned").and_then(Attribute::as_integers).unwrap_or_default();
    let operands = &lowering.body.op(op).operands;
    if operands.is_empty() {
        let first = lowering.is_first_of_program();
        lowering.builder.if_then(first, |builder| {
            builder.effect(KernelOp::Print { prefix, hex, values: Vec::new(), index: Some(Vec::new()) });
        });
        return Ok(());
    }
    for (number, &operand) in operands.iter().enumerate() {
        let prefix = if operands.len() > 1 { format!("{prefix}(operand {number}) ") } else { prefix.clone() };
        let is_unsigned = !hex && signs.get(number) == Some(&0);
        let (predicate, elements) = indexed_elements(lowering, operand)?;
        lowering.builder.if_then(predicate, |builder| {
            for IndexedElement { index, value } in elements {
                let value = if is_unsigned { to_unsigned(builder, value) } else { value };
                builder.effect(KernelOp::Print {
                    prefix: prefix.clone(),
                    hex,
                    values: vec![value],
                    index: Some(index),
                });
            }
        });
    }
    Ok(())
}

/// An element in a register of a lane, and its index along each axis of its tensor.
struct IndexedElement {
    index: Vec<Value>,
    value: Value,
}

/// Returns the elements of a value in a lane's registers, each once and with its index, and the predicate that selects
/// one thread among those with the same elements.
fn indexed_elements(
    lowering: &mut Lowering<'_>,
    value: tilewright_tile::Value,
) -> Lowered<(Option<Value>, Vec<IndexedElement>)> {
    let tensor = match lowering.lowered(value)? {
        LoweredValue::Scalar(value) => {
            let value = *value;
            return Ok((lowering.is_first_of_program(), vec![IndexedElement { index: Vec::new(), value }]));
        }
        LoweredValue::Tensor(tensor) => tensor.clone(),
        _ => return Err(LowerErrorReason::unsupported("only numbers and tensors of them are printed")),
    };
    let layout = &tensor.layout;
    let coordinates: Vec<Vec<Value>> = (0..layout.outs().len()).map(|axis| lowering.coordinate(layout, axis)).collect();
    let idle = idle_registers(layout) as usize;
    let index = |register: usize| coordinates.iter().map(|axis| axis[register]).collect();
    let registers = tensor.values.iter().enumerate().filter(|(register, _)| register & idle == 0);
    let elements = registers.map(|(register, &value)| IndexedElement { index: index(register), value }).collect();
    Ok((lowering.active(layout), elements))
}

/// Extends an integer of fewer than 64 bits, so that it is printed as unsigned.
fn to_unsigned(builder: &mut Builder, value: Value) -> Value {
    match builder.type_of(value) {
        Type::Scalar(element) if !element.is_float() && (8..64).contains(&element.bits()) => {
            let wider = if element.bits() < 32 { Element::I32 } else { Element::I64 };
            builder.cast(Cast::ExtendU, value, Type::Scalar(wider))
        }
        _ => value,
    }
}
