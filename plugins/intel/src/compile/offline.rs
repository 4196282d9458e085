//! Checks finished SPIR-V with Intel's offline compiler `ocloc`, which generates machine code from it.
//!
//! The check runs only if `TILEWRIGHT_OCLOC` is set to the path of the program, or to `ocloc` for the one in `PATH`. It
//! is off by default, because checking one kernel takes about as long as compiling a hundred. The machine code is
//! dropped, since drivers load SPIR-V.
//!
//! If `ocloc` lacks the builtins for 2-D block loads, the check runs once more with `ocloc`'s older functions in place
//! of these builtins.

use std::path::Path;

use tilewright_plugin::{CompileError, ExternalTool, ToolError};

use super::offline_reads::with_own_reads;
use crate::Architecture;
use tilewright_intel_device::OPENCL_LARGE_GRF_OPTION;

/// The external tool `ocloc`, Intel's offline compiler.
pub const OCLOC: ExternalTool = ExternalTool {
    program: "ocloc",
    variable: "TILEWRIGHT_OCLOC",
    install: "install Intel's offline compiler (Debian's package `intel-opencl-icd` and `conformance/intel-tools.sh`)",
};

/// Symbol name that marks machine code with unresolved functions. `ocloc` reports no error for a call of a builtin that
/// it does not support; in Debian 12 this happens for tf32 MMAs.
const UNLINKED: &[u8] = b"Intel_Symbol_Table_Void_Program";

/// Compiles a SPIR-V binary with `ocloc`, in the large register mode if `is_large`. Returns the compiler's name if the
/// machine code is complete. Returns `None` if it is incomplete, if the check is not enabled, or if `ocloc` does not
/// support the architecture.
pub(super) fn check(spirv: &[u8], architecture: Architecture, is_large: bool) -> Result<Option<String>, CompileError> {
    if !architecture.is_known_offline {
        return Ok(None);
    }
    let Some(program) = OCLOC.find_by_variable() else { return Ok(None) };
    let options = if is_large { OPENCL_LARGE_GRF_OPTION.to_str().unwrap_or_default() } else { "" };
    if let Some(name) = check_with_ocloc(&program, spirv, architecture.name, options)? {
        return Ok(Some(name));
    }
    let Some(older) = rewrite_for_older_ocloc(spirv)? else { return Ok(None) };
    let name = check_with_ocloc(&program, &older, architecture.name, options)?;
    Ok(name.map(|name| format!("{name} with its own 2-D block loads")))
}

/// Compiles a SPIR-V binary with `ocloc` for a device, such as `pvc`; `options` are build options of OpenCL C. Returns
/// the compiler's name, or `None` if the machine code has unresolved functions.
///
/// # Errors
/// [`CompileError::Backend`] if the compiler cannot be run, or, with its message, if it rejects the SPIR-V.
pub fn check_with_ocloc(
    program: &Path,
    spirv: &[u8],
    device: &str,
    options: &str,
) -> Result<Option<String>, CompileError> {
    let file_error = |error| OCLOC.cannot_run_error(program, error).into_compile_error();
    let directory = tempfile::tempdir().map_err(file_error)?;
    let at = directory.path();
    let file = at.join("module.spv");
    std::fs::write(&file, spirv).map_err(file_error)?;
    OCLOC
        .run(program, "SPIR-V", |command| {
            let command = command.args(["compile", "-spirv_input", "-device", device, "-file"]).arg(&file);
            let command = command.arg("-out_dir").arg(at).current_dir(at);
            if options.is_empty() { command } else { command.args(["-options", options]) }
        })
        .map_err(ToolError::into_compile_error)?;
    let linked = is_linked(at).map_err(file_error)?;
    Ok(linked.then(|| format!("{} for {device}", OCLOC.program)))
}

/// Rewrites a SPIR-V binary for versions of `ocloc` without builtins for 2-D block loads: these builtins are
/// implemented by the compiler's older functions. Returns `None` if the module has no such builtin.
///
/// # Errors
/// [`CompileError::Backend`] if `spirv` is no SPIR-V module.
pub fn rewrite_for_older_ocloc(spirv: &[u8]) -> Result<Option<Vec<u8>>, CompileError> {
    let words: Vec<u32> =
        spirv.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let changed = with_own_reads(&words)?;
    Ok(changed.map(|words| words.iter().flat_map(|word| word.to_le_bytes()).collect()))
}

/// Whether the machine code that `ocloc` wrote to a directory has no unresolved functions; true if there is no machine
/// code.
fn is_linked(directory: &Path) -> std::io::Result<bool> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "bin") {
            let code = std::fs::read(path)?;
            if code.windows(UNLINKED.len()).any(|window| window == UNLINKED) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_with_unresolved_functions_is_incomplete() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(is_linked(directory.path()).is_ok_and(|linked| linked), "nothing lacks nothing");
        std::fs::write(directory.path().join("a.bin"), b"dpas").expect("a file");
        assert!(is_linked(directory.path()).is_ok_and(|linked| linked));
        std::fs::write(directory.path().join("b.bin"), [b"..", UNLINKED, b".."].concat()).expect("a file");
        assert!(is_linked(directory.path()).is_ok_and(|linked| !linked));
    }
}
