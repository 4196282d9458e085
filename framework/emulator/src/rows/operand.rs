//! Operands as the rows of instructions list them.

use tilewright_kernel::is_given;
use tilewright_target::{ElementType, Instruction, Operand};

/// The name of the element type of an operand in registers or tensor memory.
pub(super) fn element<'a>(row: &'a Instruction, required: &str) -> Option<&'a str> {
    row.operands.iter().find_map(|operand| match operand {
        Operand::Register { role, element, .. } if role == required => Some(element.as_str()),
        Operand::Tensor(tensor) if tensor.role == required => Some(tensor.element.as_str()),
        _ => None,
    })
}

pub(super) fn number(element: &str, bits: u32) -> Result<ElementType, String> {
    let number =
        ElementType::named(element).ok_or_else(|| format!("elements of type `{element}` are not known here"))?;
    if number.bits() > bits {
        return Err(format!("elements of type `{element}` do not fit into {bits} bits"));
    }
    Ok(number)
}

/// The number of an operand among those that are not results.
pub(super) fn position(row: &Instruction, required: &Operand) -> usize {
    let others = row.operands.iter().filter(|operand| is_given(operand));
    others.take_while(|operand| *operand != required).count()
}
