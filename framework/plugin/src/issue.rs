//! The row of an instruction that a kernel issues, found and checked for a code generator.

use super::CompileError;
use tilewright_kernel::{InstructionSignature, Launch, Module, Op, Type, check_maps_of};
use tilewright_target::Instruction;

/// The row of this name among a target's, where operands, results and launch fit it.
///
/// # Errors
/// [`CompileError::Unsupported`] where the target has no such row, [`CompileError::Invalid`] where the
/// kernel does not fit the row; both with the name.
pub fn issued_row<'a>(
    rows: &'a [Instruction],
    name: &str,
    launch: Launch,
    operands: &[Type],
    results: &[Type],
) -> Result<&'a Instruction, CompileError> {
    let missing = || CompileError::Unsupported(format!("the target has no instruction `{name}`"));
    let row = rows.iter().find(|row| row.name == name).ok_or_else(missing)?;
    let signature = InstructionSignature::of(row);
    let fits = signature.check(operands, results).and_then(|()| signature.check_launch(launch));
    fits.map_err(|message| CompileError::Invalid(format!("instruction `{name}`: {message}")))?;
    Ok(row)
}

/// Checks that the maps of a module's kernels are of boxes that the instructions which take them copy.
///
/// # Errors
/// [`CompileError::Invalid`] with the kernel, the instruction and what it cannot.
pub fn check_maps(rows: &[Instruction], module: &Module) -> Result<(), CompileError> {
    for kernel in &module.kernels {
        for statement in kernel.statements() {
            let Op::Instruction { name, operands } = &statement.op else { continue };
            let Some(row) = rows.iter().find(|row| row.name == *name) else { continue };
            check_maps_of(kernel, row, operands).map_err(|message| {
                CompileError::Invalid(format!("kernel `{}`, instruction `{name}`: {message}", kernel.name))
            })?;
        }
    }
    Ok(())
}
