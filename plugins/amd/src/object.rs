//! From a relocatable object to a code object that a driver loads, with LLVM's linker.

use std::path::{Path, PathBuf};

use tilewright_plugin::{CompileError, ExternalTool, ToolError};

/// The linker.
const LLD: ExternalTool = ExternalTool {
    program: "rust-lld",
    variable: "TILEWRIGHT_LLD",
    install: "put a `rust-lld` or `ld.lld` beside the program",
};

/// The toolchain's linker, as the build script found it.
const BUILT_WITH: Option<&str> = option_env!("TILEWRIGHT_BUILD_LLD");

/// The linker's file: the one that `TILEWRIGHT_LLD` names, `rust-lld` or `ld.lld` in the directory of the running program, or
/// the `rust-lld` of the toolchain that built this. Not the one along `PATH`, which may be older than the targets.
fn linker() -> Result<PathBuf, ToolError> {
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent);
    let beside = beside.into_iter().flat_map(|directory| ["rust-lld", "ld.lld"].map(|name| directory.join(name)));
    LLD.find_among("beside the program or in the toolchain that built it", beside.chain(BUILT_WITH.map(PathBuf::from)))
}

/// The code object of a relocatable object.
pub(crate) fn link(object: &[u8]) -> Result<Vec<u8>, CompileError> {
    let linker = linker().map_err(ToolError::into_compile_error)?;
    let file_error = |error| LLD.cannot_run(&linker, error).into_compile_error();
    let directory = tempfile::tempdir().map_err(file_error)?;
    let (input, output) = (directory.path().join("kernel.o"), directory.path().join("kernel.hsaco"));
    std::fs::write(&input, object).map_err(file_error)?;
    // `ld.lld` knows its flavour by its name; every other name of LLVM's linker must be told.
    let is_named_by_flavour = linker.file_stem().is_some_and(|name| name == "ld.lld" || name == "ld");
    let flavour: &[&str] = if is_named_by_flavour { &[] } else { &["-flavor", "gnu"] };
    LLD.run(&linker, "relocatable object", |command| {
        command.args(flavour).arg("-shared").arg(&input).arg("-o").arg(&output)
    })
    .map_err(ToolError::into_compile_error)?;
    std::fs::read(&output).map_err(file_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_linker_says_is_shown() {
        match link(b"no object") {
            Err(CompileError::Backend(message)) => assert!(message.contains("kernel.o"), "{message}"),
            other => panic!("{other:?}"),
        }
    }
}
