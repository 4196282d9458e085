//! Another opinion on finished SPIR-V: the vendor's offline compiler, which makes machine code of it.
//!
//! It is asked where `TILEWRIGHT_OCLOC` names the program, `ocloc` for the one along `PATH`; not by itself, since it
//! takes about as long for a kernel as everything else for a hundred. What it makes is not kept: drivers take the SPIR-V.
//!
//! Where it is too old for builtins that load blocks, it is asked once more, with its own functions for these in their place.

use std::path::Path;

use tilewright_plugin::{CompileError, ExternalTool, ToolError};

use super::offline_reads::with_own_reads;
use crate::Architecture;

/// The compiler.
pub const OCLOC: ExternalTool = ExternalTool {
    program: "ocloc",
    variable: "TILEWRIGHT_OCLOC",
    install: "install Intel's offline compiler (Debian's package `intel-opencl-icd` and `conformance/intel-tools.sh`)",
};

/// What machine code has in it where functions are left to be linked: builtins that the compiler is too old for become
/// calls of functions that are nowhere, without a word. Debian 12's is, for products of tf32.
const UNLINKED: &[u8] = b"Intel_Symbol_Table_Void_Program";

/// Has the compiler finish a binary for an architecture that it knows; says so where it did, whole.
pub(super) fn check(spirv: &[u8], architecture: Architecture) -> Result<Option<String>, CompileError> {
    if !architecture.is_known_offline {
        return Ok(None);
    }
    let Some(program) = OCLOC.named() else { return Ok(None) };
    if let Some(name) = compile_with(&program, spirv, architecture.name)? {
        return Ok(Some(name));
    }
    let Some(older) = for_older_compilers(spirv)? else { return Ok(None) };
    let name = compile_with(&program, &older, architecture.name)?;
    Ok(name.map(|name| format!("{name} with its own loads of blocks")))
}

/// Has this compiler finish a binary for a device; gives the compiler's name if its code is whole.
///
/// # Errors
/// [`CompileError::Backend`] with the compiler's message.
pub fn compile_with(program: &Path, spirv: &[u8], device: &str) -> Result<Option<String>, CompileError> {
    let file_error = |error| OCLOC.cannot_run(program, error).into_compile_error();
    let directory = tempfile::tempdir().map_err(file_error)?;
    let at = directory.path();
    let file = at.join("module.spv");
    std::fs::write(&file, spirv).map_err(file_error)?;
    OCLOC
        .run(program, "SPIR-V", |command| {
            let command = command.args(["compile", "-spirv_input", "-device", device, "-file"]).arg(&file);
            command.arg("-out_dir").arg(at).current_dir(at)
        })
        .map_err(ToolError::into_compile_error)?;
    let whole = is_whole(at).map_err(file_error)?;
    Ok(whole.then(|| format!("{} for {device}", OCLOC.program)))
}

/// A module for compilers that are older than builtins which load blocks: their own functions are called in the place of
/// those, where they have any; `None` where nothing changes.
///
/// # Errors
/// [`CompileError::Backend`]: these are no bytes of a module.
pub fn for_older_compilers(spirv: &[u8]) -> Result<Option<Vec<u8>>, CompileError> {
    let words: Vec<u32> =
        spirv.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let changed = with_own_reads(&words)?;
    Ok(changed.map(|words| words.iter().flat_map(|word| word.to_le_bytes()).collect()))
}

/// Whether the machine code in a directory, where there is any, lacks nothing.
fn is_whole(directory: &Path) -> std::io::Result<bool> {
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
    fn code_with_functions_left_to_be_linked_is_not_whole() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(is_whole(directory.path()).is_ok_and(|whole| whole), "nothing lacks nothing");
        std::fs::write(directory.path().join("a.bin"), b"dpas").expect("a file");
        assert!(is_whole(directory.path()).is_ok_and(|whole| whole));
        std::fs::write(directory.path().join("b.bin"), [b"..", UNLINKED, b".."].concat()).expect("a file");
        assert!(is_whole(directory.path()).is_ok_and(|whole| !whole));
    }
}
