//! PTX operands of instructions: values with their types, and the registers that they occupy.

use tilewright_kernel::{Element, Type, ValueTypeRequirement};
use tilewright_llvm::values::BasicValueEnum;
use tilewright_plugin::CompileError;
use tilewright_target::InstructionOperand;

/// An LLVM value with its type in the kernel IR.
pub(super) type Typed<'ctx> = (Type, BasicValueEnum<'ctx>);

/// Returns the type of the registers that hold a register operand (a vector of `i32`, `f32` or `f64`), and the letter
/// of their constraint in inline assembly.
pub(super) fn registers(operand: &InstructionOperand) -> Result<(Type, char), CompileError> {
    let InstructionOperand::Register { element, .. } = operand else {
        return Err(CompileError::Backend("an MMA has an operand that is not in registers".to_owned()));
    };
    if is_scale(operand) {
        return Ok((Type::Scalar(Element::I32), 'r'));
    }
    let (register, letter) = match element.as_str() {
        "f64" => (Element::F64, 'd'),
        "f32" => (Element::F32, 'f'),
        _ => (Element::I32, 'r'),
    };
    match ValueTypeRequirement::from_operand(operand) {
        ValueTypeRequirement::Bits(bits) if bits >= register.bits() => {
            Ok((Type::vector_or_scalar(register, bits / register.bits()), letter))
        }
        carried => Err(CompileError::Backend(format!("an operand is {carried}, which fills no register"))),
    }
}

/// Whether an operand holds scales. The scales of a lane are the low bytes of one register.
pub(super) fn is_scale(operand: &InstructionOperand) -> bool {
    operand.role().is_some_and(|role| role.starts_with("scale"))
}
