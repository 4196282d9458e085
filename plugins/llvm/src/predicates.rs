//! Takes predicates apart that LLVM packs. LLVM's vectorizer compares vectors and extracts the predicates, and its
//! combiner converts predicates to numbers; code generation for PTX, whose predicates are registers of one bit, expands
//! the first to a mask of bits and the second to a selected integer and its conversion.

use inkwell::IntPredicate;
use inkwell::builder::Builder;
use inkwell::module::Module;
use inkwell::values::{
    AnyValueEnum, BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, IntValue, VectorValue,
};
use tilewright_plugin::CompileError;

use crate::emitter::builder_error;

/// Replaces each predicate that is extracted from a comparison of vectors by a comparison of their elements, each test
/// whether any or all predicates of a vector are true by their combination, and each predicate that is converted to a
/// float by a selection of the two results.
///
/// # Errors
/// [`CompileError::Backend`]: LLVM cannot build the instructions.
pub(crate) fn split(module: &Module<'_>) -> Result<(), CompileError> {
    let builder = module.get_context().create_builder();
    // The first pass extracts the predicates that the second one compares.
    replace_each(module, |instruction| {
        builder.position_before(&instruction);
        combine_elements(&builder, instruction)
    })?;
    replace_each(module, |instruction| {
        builder.position_before(&instruction);
        match instruction.get_opcode() {
            InstructionOpcode::ExtractElement => compare_elements(&builder, instruction),
            InstructionOpcode::UIToFP | InstructionOpcode::SIToFP => select_float(&builder, instruction),
            _ => Ok(None),
        }
    })
}

/// Replaces each instruction of a module for which `replace` returns another one. Removes a mask of predicates that
/// loses its last use, so that it does not count as a user of them.
fn replace_each<'ctx>(
    module: &Module<'ctx>,
    replace: impl Fn(InstructionValue<'ctx>) -> Result<Option<InstructionValue<'ctx>>, CompileError>,
) -> Result<(), CompileError> {
    let blocks = module.get_functions().flat_map(|function| function.get_basic_blocks());
    let instructions: Vec<_> = blocks.flat_map(|block| block.get_instructions()).collect();
    for instruction in instructions {
        let Some(replacement) = replace(instruction)? else { continue };
        let mask = find_mask(instruction);
        instruction.replace_all_uses_with(&replacement);
        instruction.erase_from_basic_block();
        if let Some(mask) = mask.filter(|mask| mask.get_first_use().is_none()) {
            mask.erase_from_basic_block();
        }
    }
    Ok(())
}

/// Returns the first operand of an instruction, if it is the bitcast of a vector of predicates to a mask of bits.
fn find_mask(instruction: InstructionValue<'_>) -> Option<InstructionValue<'_>> {
    let mask = operand(instruction, 0)?.as_instruction_value()?;
    let BasicValueEnum::VectorValue(vector) = operand(mask, 0)? else { return None };
    let element = vector.get_type().get_element_type();
    let is_predicate = element.is_int_type() && element.into_int_type().get_bit_width() == 1;
    (mask.get_opcode() == InstructionOpcode::BitCast && is_predicate).then_some(mask)
}

/// Combines the elements of a vector of predicates, if `comparison` compares it, as a mask of bits, with zero or with
/// all ones: whether any or all of them are true. Returns `None` for other comparisons.
fn combine_elements<'ctx>(
    builder: &Builder<'ctx>,
    comparison: InstructionValue<'ctx>,
) -> Result<Option<InstructionValue<'ctx>>, CompileError> {
    let is_equal = match comparison.get_icmp_predicate() {
        Some(IntPredicate::EQ) => true,
        Some(IntPredicate::NE) => false,
        _ => return Ok(None),
    };
    let Some(BasicValueEnum::VectorValue(vector)) = find_mask(comparison).and_then(|mask| operand(mask, 0)) else {
        return Ok(None);
    };
    let Some(BasicValueEnum::IntValue(other)) = operand(comparison, 1) else { return Ok(None) };
    let needs_all = match other.get_sign_extended_constant() {
        Some(0) => false,
        Some(-1) => true,
        _ => return Ok(None),
    };
    let index = vector.get_type().get_context().i32_type();
    let mut combined: Option<IntValue<'ctx>> = None;
    for at in 0..vector.get_type().get_size() {
        let element = builder.build_extract_element(vector, index.const_int(at.into(), false), "");
        let element = element.map_err(builder_error)?.into_int_value();
        let both = match combined {
            None => Ok(element),
            Some(before) if needs_all => builder.build_and(before, element, ""),
            Some(before) => builder.build_or(before, element, ""),
        };
        combined = Some(both.map_err(builder_error)?);
    }
    let Some(combined) = combined else { return Ok(None) };
    let result = if is_equal == needs_all { Ok(combined) } else { builder.build_not(combined, "") };
    Ok(result.map_err(builder_error)?.as_instruction())
}

/// Returns an operand of an instruction; `None` if it is a block.
pub(crate) fn operand(instruction: InstructionValue<'_>, index: u32) -> Option<BasicValueEnum<'_>> {
    instruction.get_operand(index).and_then(|operand| operand.value())
}

/// Whether all uses of a vector extract its elements, so that nothing uses the vector once they are replaced.
fn is_only_extracted(vector: InstructionValue<'_>) -> bool {
    let uses = std::iter::successors(vector.get_first_use(), |one| one.get_next_use());
    uses.map(|one| one.get_user()).all(|user| match user {
        AnyValueEnum::IntValue(element) => {
            element.as_instruction().is_some_and(|user| user.get_opcode() == InstructionOpcode::ExtractElement)
        }
        _ => false,
    })
}

/// Compares the elements whose predicate `extract` extracts; `None` if it extracts from another vector, or if that
/// vector of predicates has other uses.
fn compare_elements<'ctx>(
    builder: &Builder<'ctx>,
    extract: InstructionValue<'ctx>,
) -> Result<Option<InstructionValue<'ctx>>, CompileError> {
    let compared = operand(extract, 0).and_then(|value| value.as_instruction_value());
    let compared = compared.filter(|&compared| is_only_extracted(compared));
    let (Some(compared), Some(BasicValueEnum::IntValue(index))) = (compared, operand(extract, 1)) else {
        return Ok(None);
    };
    let vector = |index| match operand(compared, index) {
        Some(BasicValueEnum::VectorValue(vector)) => Some(vector),
        _ => None,
    };
    let (Some(left), Some(right)) = (vector(0), vector(1)) else { return Ok(None) };
    let element = |vector: VectorValue<'ctx>| builder.build_extract_element(vector, index, "").map_err(builder_error);
    let result = if let Some(predicate) = compared.get_icmp_predicate() {
        let (BasicValueEnum::IntValue(left), BasicValueEnum::IntValue(right)) = (element(left)?, element(right)?)
        else {
            return Ok(None);
        };
        builder.build_int_compare(predicate, left, right, "")
    } else if let Some(predicate) = compared.get_fcmp_predicate() {
        let (left, right) = (element(left)?.into_float_value(), element(right)?.into_float_value());
        builder.build_float_compare(predicate, left, right, "")
    } else {
        return Ok(None);
    };
    Ok(result.map_err(builder_error)?.as_instruction())
}

/// Selects what `conversion` gives for a true and for a false predicate; `None` if it converts anything else.
fn select_float<'ctx>(
    builder: &Builder<'ctx>,
    conversion: InstructionValue<'ctx>,
) -> Result<Option<InstructionValue<'ctx>>, CompileError> {
    let Some(BasicValueEnum::IntValue(predicate)) = operand(conversion, 0) else { return Ok(None) };
    if predicate.get_type().get_bit_width() != 1 {
        return Ok(None);
    }
    let Ok(ty) = inkwell::types::FloatType::try_from(conversion.get_type()) else { return Ok(None) };
    let one = if conversion.get_opcode() == InstructionOpcode::UIToFP { 1.0 } else { -1.0 };
    let selected = builder.build_select(predicate, ty.const_float(one), ty.const_zero(), "").map_err(builder_error)?;
    Ok(selected.as_instruction_value())
}
