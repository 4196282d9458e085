//! Checks finished SPIR-V with the Khronos validator `spirv-val`, if it is installed.

use std::path::Path;

use tilewright_plugin::{CompileError, ExternalTool, ToolError};

/// The external tool `spirv-val`, the Khronos validator.
pub const SPIRV_VAL: ExternalTool = ExternalTool {
    program: "spirv-val",
    variable: "TILEWRIGHT_SPIRV_VAL",
    install: "install SPIRV-Tools (Debian's package `spirv-tools`)",
};

/// Validates a SPIR-V binary; returns the validator's name, or `None` if it is not installed.
pub(super) fn check(spirv: &[u8]) -> Result<Option<String>, CompileError> {
    SPIRV_VAL
        .find()
        .ok()
        .map(|program| validate_spirv(&program, spirv).map(|()| SPIRV_VAL.program.to_owned()))
        .transpose()
}

/// Validates a SPIR-V binary with the validator at this path.
///
/// # Errors
/// [`CompileError::Backend`] if the validator cannot be run, or, with its message, if it rejects the SPIR-V.
pub fn validate_spirv(program: &Path, spirv: &[u8]) -> Result<(), CompileError> {
    let file_error = |error| SPIRV_VAL.cannot_run_error(program, error).into_compile_error();
    let directory = tempfile::tempdir().map_err(file_error)?;
    let file = directory.path().join("module.spv");
    std::fs::write(&file, spirv).map_err(file_error)?;
    let taken = SPIRV_VAL.run(program, "SPIR-V", |command| command.args(["--target-env", "spv1.3"]).arg(&file));
    taken.map(drop).map_err(ToolError::into_compile_error)
}
