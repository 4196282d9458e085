//! Operands of table rows.

use tilewright_kernel::is_value_operand;
use tilewright_target::{ElementType, Instruction, InstructionOperand};

/// Returns the name of the element type of the operand with role `required`, in registers or tensor memory; `None` if
/// there is none.
pub(super) fn element<'a>(row: &'a Instruction, required: &str) -> Option<&'a str> {
    row.find_matrix_operand(required).filter(|operand| !matches!(operand, InstructionOperand::Memory(_)))?.element()
}

pub(super) fn element_type(element: &str, bits: u32) -> Result<ElementType, String> {
    let element_type =
        ElementType::from_name(element).ok_or_else(|| format!("elements of type `{element}` are not supported"))?;
    if element_type.bits() > bits {
        return Err(format!("elements of type `{element}` do not fit into {bits} bits"));
    }
    Ok(element_type)
}

/// Returns the index of the operand `required` of a table row among its operands that are not results.
pub(super) fn position(row: &Instruction, required: &InstructionOperand) -> usize {
    let others = row.operands.iter().filter(|operand| is_value_operand(operand));
    others.take_while(|operand| *operand != required).count()
}
