//! Splits the offset of a pointer into a part that the current loop does not change and the rest. The pointer plus the
//! first part is computed before the loop, and an iteration adds the rest alone; LLVM reassociates no pointers.

use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::values::{BasicValueEnum, InstructionOpcode, InstructionValue, IntValue, Operand};
use tilewright_plugin::CompileError;

use crate::emitter::builder_error;
use crate::integer_origin::operands;

/// Maximum number of instructions on a path from an invariant integer to values from before the loop.
const DEPTH: u32 = 6;

/// The operations whose result is invariant if their operands are.
const PURE: [InstructionOpcode; 8] = [
    InstructionOpcode::Add,
    InstructionOpcode::Sub,
    InstructionOpcode::Mul,
    InstructionOpcode::Shl,
    InstructionOpcode::Or,
    InstructionOpcode::SExt,
    InstructionOpcode::ZExt,
    InstructionOpcode::Trunc,
];

/// Splits a 64-bit sum into the sums of its invariant and of its other terms; `None` unless there are both.
/// `header` is the first block of the loop, the blocks after it in the function belong to the loop.
pub(crate) fn split<'ctx>(
    builder: &Builder<'ctx>,
    header: BasicBlock<'ctx>,
    sum: IntValue<'ctx>,
) -> Result<Option<[IntValue<'ctx>; 2]>, CompileError> {
    // A narrower sum may wrap where the sum of pointers does not.
    if sum.get_type().get_bit_width() != 64 {
        return Ok(None);
    }
    let (invariant, varying): (Vec<_>, Vec<_>) =
        terms(sum, DEPTH).into_iter().partition(|&term| is_invariant(header, term, DEPTH));
    let total = |terms: Vec<IntValue<'ctx>>| {
        let mut terms = terms.into_iter();
        let Some(first) = terms.next() else { return Ok(None) };
        terms.try_fold(first, |sum, term| builder.build_int_add(sum, term, "")).map(Some).map_err(builder_error)
    };
    if invariant.is_empty() || varying.is_empty() {
        return Ok(None);
    }
    Ok(total(invariant)?.zip(total(varying)?).map(|(first, second)| [first, second]))
}

/// Returns the integers whose sum an integer is.
fn terms(value: IntValue<'_>, depth: u32) -> Vec<IntValue<'_>> {
    match operands(value, InstructionOpcode::Add) {
        Some([Some(a), Some(b)]) if depth > 0 => [terms(a, depth - 1), terms(b, depth - 1)].concat(),
        _ => vec![value],
    }
}

fn is_invariant<'ctx>(header: BasicBlock<'ctx>, value: IntValue<'ctx>, depth: u32) -> bool {
    let Some(instruction) = value.as_instruction().filter(|instruction| is_inside(header, *instruction)) else {
        return true;
    };
    let is_pure = depth > 0 && PURE.contains(&instruction.get_opcode());
    is_pure
        && instruction.get_operands().all(|operand| match operand.and_then(Operand::value) {
            Some(BasicValueEnum::IntValue(operand)) => is_invariant(header, operand, depth - 1),
            _ => false,
        })
}

fn is_inside<'ctx>(header: BasicBlock<'ctx>, instruction: InstructionValue<'ctx>) -> bool {
    let parent = instruction.get_parent();
    std::iter::successors(Some(header), |block| block.get_next_basic_block()).any(|block| Some(block) == parent)
}
