//! The row of an instruction that a kernel issues, found and checked for a code generator.

use super::CompileError;
use crate::kernel::{Launch, Signature, Type};
use crate::target::Instruction;

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
    let signature = Signature::of(row);
    let fits = signature.check(operands, results).and_then(|()| signature.check_launch(launch));
    fits.map_err(|message| CompileError::Invalid(format!("instruction `{name}`: {message}")))?;
    Ok(row)
}
