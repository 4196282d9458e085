//! Takes conversions of vectors of bytes to floats apart. LLVM's vectorizer makes them where the floats are packed, but
//! no instruction has vectors of bytes: code generation for PTX computes them in 16-bit halves, and extends the sign of
//! each byte again before the conversion.

use inkwell::builder::Builder;
use inkwell::module::Module;
use inkwell::types::FloatType;
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode, InstructionValue, IntValue, VectorValue};
use tilewright_plugin::CompileError;

use crate::emitter::builder_error;
use crate::predicates::operand;

/// Replaces each conversion of a sum or difference of vectors of signed bytes to floats by conversions of single
/// elements, which are computed in 16 bits.
///
/// # Errors
/// [`CompileError::Backend`]: LLVM cannot build the instructions.
pub(crate) fn split_conversions(module: &Module<'_>) -> Result<(), CompileError> {
    let builder = module.get_context().create_builder();
    let blocks = module.get_functions().flat_map(|function| function.get_basic_blocks());
    let instructions: Vec<_> = blocks.flat_map(|block| block.get_instructions()).collect();
    for conversion in instructions {
        if conversion.get_opcode() != InstructionOpcode::SIToFP {
            continue;
        }
        builder.position_before(&conversion);
        let Some(replacement) = convert_elements(&builder, conversion)? else { continue };
        conversion.replace_all_uses_with(&replacement);
        conversion.erase_from_basic_block();
    }
    Ok(())
}

/// Converts the elements of a vector of bytes one by one; `None` if `conversion` converts anything else, or if the bytes
/// may wrap around.
fn convert_elements<'ctx>(
    builder: &Builder<'ctx>,
    conversion: InstructionValue<'ctx>,
) -> Result<Option<InstructionValue<'ctx>>, CompileError> {
    let Some(BasicValueEnum::VectorValue(bytes)) = operand(conversion, 0) else { return Ok(None) };
    let Some(sum) = bytes.as_instruction_value() else { return Ok(None) };
    let is_sum = matches!(sum.get_opcode(), InstructionOpcode::Add | InstructionOpcode::Sub);
    let element = bytes.get_type().get_element_type();
    let is_byte = element.is_int_type() && element.into_int_type().get_bit_width() == 8;
    let (Some(BasicValueEnum::VectorValue(left)), Some(BasicValueEnum::VectorValue(right))) =
        (operand(sum, 0), operand(sum, 1))
    else {
        return Ok(None);
    };
    if !is_sum || !is_byte || sum.get_no_signed_wrap_flag() != Ok(true) {
        return Ok(None);
    }
    let Ok(ty) = inkwell::types::VectorType::try_from(conversion.get_type()) else { return Ok(None) };
    let Ok(float) = FloatType::try_from(ty.get_element_type()) else { return Ok(None) };
    let context = ty.get_context();
    let mut converted = ty.get_undef();
    for index in 0..ty.get_size() {
        let extended = |vector| {
            let byte = find_element(builder, vector, index)?;
            builder.build_int_s_extend(byte, context.i16_type(), "").map_err(builder_error)
        };
        let (a, b) = (extended(left)?, extended(right)?);
        let sum = match sum.get_opcode() {
            InstructionOpcode::Add => builder.build_int_nsw_add(a, b, ""),
            _ => builder.build_int_nsw_sub(a, b, ""),
        };
        let value = builder.build_signed_int_to_float(sum.map_err(builder_error)?, float, "").map_err(builder_error)?;
        let at = context.i32_type().const_int(index.into(), false);
        converted = builder.build_insert_element(converted, value, at, "").map_err(builder_error)?;
    }
    Ok(converted.as_instruction_value())
}

/// Returns an element of a vector of integers: an inserted element, an element of a constant, or else an extracted one.
fn find_element<'ctx>(
    builder: &Builder<'ctx>,
    vector: VectorValue<'ctx>,
    index: u32,
) -> Result<IntValue<'ctx>, CompileError> {
    if vector.is_const()
        && let BasicValueEnum::IntValue(element) = vector.get_element_as_constant(index)
    {
        return Ok(element);
    }
    if let Some(insertion) = vector.as_instruction_value()
        && insertion.get_opcode() == InstructionOpcode::InsertElement
        && let (
            Some(BasicValueEnum::VectorValue(rest)),
            Some(BasicValueEnum::IntValue(element)),
            Some(BasicValueEnum::IntValue(at)),
        ) = (operand(insertion, 0), operand(insertion, 1), operand(insertion, 2))
        && let Some(at) = at.get_zero_extended_constant()
    {
        return if at == u64::from(index) { Ok(element) } else { find_element(builder, rest, index) };
    }
    let at = vector.get_type().get_context().i32_type().const_int(index.into(), false);
    Ok(builder.build_extract_element(vector, at, "").map_err(builder_error)?.into_int_value())
}
