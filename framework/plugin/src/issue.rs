//! Finds and checks the instruction that a kernel's statement issues, for code generators.

use super::CompileError;
use tilewright_kernel::{InstructionSignature, Module, Op, StaticLaunchConfig, Type, check_instruction_tensor_maps};
use tilewright_target::Instruction;

/// Returns the instruction of this name, after a check that the operands, results and launch sizes fit it.
///
/// # Errors
/// [`CompileError::Unsupported`] if the target has no instruction of this name, [`CompileError::Invalid`] if the kernel
/// does not fit it. Both messages contain the name.
pub fn find_and_check_instruction<'a>(
    rows: &'a [Instruction],
    name: &str,
    launch: StaticLaunchConfig,
    operands: &[Type],
    results: &[Type],
) -> Result<&'a Instruction, CompileError> {
    let missing = || CompileError::Unsupported(format!("the target has no instruction `{name}`"));
    let row = rows.iter().find(|row| row.name == name).ok_or_else(missing)?;
    let signature = InstructionSignature::from_instruction(row);
    let fits = signature.check_types(operands, results).and_then(|()| signature.check_launch(launch));
    fits.map_err(|message| CompileError::Invalid(format!("instruction `{name}`: {message}")))?;
    Ok(row)
}

/// Checks that each tensor map in a module's kernels describes a box that the instructions using it can copy.
///
/// # Errors
/// [`CompileError::Invalid`] if an instruction cannot copy the box of its tensor map; the message contains the kernel's
/// and the instruction's name.
pub fn check_module_tensor_maps(rows: &[Instruction], module: &Module) -> Result<(), CompileError> {
    for kernel in &module.kernels {
        for statement in kernel.statements() {
            let Op::Instruction { name, operands } = &statement.op else { continue };
            let Some(row) = rows.iter().find(|row| row.name == *name) else { continue };
            check_instruction_tensor_maps(kernel, row, operands).map_err(|message| {
                CompileError::Invalid(format!("kernel `{}`, instruction `{name}`: {message}", kernel.name))
            })?;
        }
    }
    Ok(())
}
