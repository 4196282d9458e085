//! Operands of instructions in PTX: values with their types, and the registers that hold them.

use tilewright_kernel::{Carried, Element, Type};
use tilewright_llvm::values::BasicValueEnum;
use tilewright_plugin::CompileError;
use tilewright_target::Operand;

/// A value with its type in the kernel IR.
pub(super) type Typed<'ctx> = (Type, BasicValueEnum<'ctx>);

/// The registers that PTX gives an operand: their type and the letter of their constraint.
pub(super) fn registers(operand: &Operand) -> Result<(Type, char), CompileError> {
    let Operand::Register { element, .. } = operand else {
        return Err(CompileError::Backend("a product has an operand that is no register".to_owned()));
    };
    if is_scale(operand) {
        return Ok((Type::Scalar(Element::I32), 'r'));
    }
    let (register, letter) = match element.as_str() {
        "f64" => (Element::F64, 'd'),
        "f32" => (Element::F32, 'f'),
        _ => (Element::I32, 'r'),
    };
    match Carried::of(operand) {
        Carried::Bits(bits) if bits >= register.bits() => Ok((Type::of(register, bits / register.bits()), letter)),
        carried => Err(CompileError::Backend(format!("an operand is {carried}, which fills no register"))),
    }
}

/// Whether these are scales, which have as many bytes of a register as there are.
pub(super) fn is_scale(operand: &Operand) -> bool {
    operand.role().is_some_and(|role| role.starts_with("scale"))
}
