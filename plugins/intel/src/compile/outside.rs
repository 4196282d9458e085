//! A second opinion on finished SPIR-V: the Khronos validator, if the machine has it.

use std::path::Path;

use tilewright_plugin::{CompileError, ExternalTool, ToolError};

/// The validator.
pub const SPIRV_VAL: ExternalTool = ExternalTool {
    program: "spirv-val",
    variable: "TILEWRIGHT_SPIRV_VAL",
    install: "install SPIRV-Tools (Debian's package `spirv-tools`)",
};

/// Has the validator look at a binary; gives its name if there is one.
pub(super) fn check(spirv: &[u8]) -> Result<Option<String>, CompileError> {
    SPIRV_VAL
        .find()
        .ok()
        .map(|program| validate_with(&program, spirv).map(|()| SPIRV_VAL.program.to_owned()))
        .transpose()
}

/// Has this validator look at a binary.
///
/// # Errors
/// [`CompileError::Backend`] with the validator's message.
pub fn validate_with(program: &Path, spirv: &[u8]) -> Result<(), CompileError> {
    let file_error = |error| SPIRV_VAL.cannot_run(program, error).into_compile_error();
    let directory = tempfile::tempdir().map_err(file_error)?;
    let file = directory.path().join("module.spv");
    std::fs::write(&file, spirv).map_err(file_error)?;
    let taken = SPIRV_VAL.run(program, "SPIR-V", |command| command.args(["--target-env", "spv1.3"]).arg(&file));
    taken.map(drop).map_err(ToolError::into_compile_error)
}
