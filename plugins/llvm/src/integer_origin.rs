//! Finds the instructions and operands from which LLVM integers were computed.

use inkwell::values::{BasicValueEnum, InstructionOpcode, IntValue, Operand};

/// Returns the first two operands of the instruction that computes an integer; `None` if it is another instruction than
/// `opcode`. An operand that is no integer is `None`.
pub(crate) fn operands<'ctx>(value: IntValue<'ctx>, opcode: InstructionOpcode) -> Option<[Option<IntValue<'ctx>>; 2]> {
    let instruction = value.as_instruction().filter(|instruction| instruction.get_opcode() == opcode)?;
    Some([0, 1].map(|at| match instruction.get_operand(at).and_then(Operand::value) {
        Some(BasicValueEnum::IntValue(operand)) => Some(operand),
        _ => None,
    }))
}

/// Returns the extension that computes an integer, and the narrower integer; `None` if it is no extended integer.
pub(crate) fn before_extension<'ctx>(value: IntValue<'ctx>) -> Option<(InstructionOpcode, IntValue<'ctx>)> {
    [InstructionOpcode::SExt, InstructionOpcode::ZExt]
        .into_iter()
        .find_map(|extension| Some((extension, operands(value, extension)?[0]?)))
}
