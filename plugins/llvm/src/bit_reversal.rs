//! Widens reversals of the bits of integers narrower than 32 bits. LLVM makes them of shifts and masks of a lane's index,
//! and expands them to more shifts and masks; GPUs have an instruction for 32 bits.

use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module;
use inkwell::values::{AnyValueEnum, BasicValue, InstructionValue, IntValue};
use tilewright_plugin::CompileError;

use crate::emitter::builder_error;

/// Replaces each reversal of fewer than 32 bits in a module by the upper bits of a reversal of 32 bits.
///
/// # Errors
/// [`CompileError::Backend`]: LLVM cannot build the instructions.
pub(crate) fn widen(module: &Module<'_>) -> Result<(), CompileError> {
    for bits in 1..32 {
        let Some(narrow) = module.get_function(&format!("llvm.bitreverse.i{bits}")) else { continue };
        let narrow = narrow.as_global_value().as_pointer_value();
        while let Some(AnyValueEnum::IntValue(reversed)) = narrow.get_first_use().map(|call| call.get_user()) {
            let Some(call) = reversed.as_instruction() else { break };
            replace(module, reversed, call)?;
        }
    }
    Ok(())
}

fn replace<'ctx>(
    module: &Module<'ctx>,
    reversed: IntValue<'ctx>,
    call: InstructionValue<'ctx>,
) -> Result<(), CompileError> {
    let missing = || CompileError::Backend("LLVM has no reversal of 32 bits".to_owned());
    let (context, narrow) = (module.get_context(), reversed.get_type());
    let word = context.i32_type();
    let wide = Intrinsic::find("llvm.bitreverse").and_then(|found| found.get_declaration(module, &[word.into()]));
    let wide = wide.ok_or_else(missing)?;
    let operand = call.get_operand(0).and_then(|operand| operand.value()).ok_or_else(missing)?.into_int_value();
    let builder = context.create_builder();
    builder.position_before(&call);
    let extended = builder.build_int_z_extend(operand, word, "").map_err(builder_error)?;
    let swapped = builder.build_call(wide, &[extended.into()], "").map_err(builder_error)?;
    let swapped = swapped.try_as_basic_value().basic().ok_or_else(missing)?.into_int_value();
    let unused = word.const_int(u64::from(32 - narrow.get_bit_width()), false);
    let upper = builder.build_right_shift(swapped, unused, false, "").map_err(builder_error)?;
    let result = builder.build_int_truncate(upper, narrow, "").map_err(builder_error)?;
    let result = result.as_instruction_value().ok_or_else(missing)?;
    call.replace_all_uses_with(&result);
    call.erase_from_basic_block();
    Ok(())
}
