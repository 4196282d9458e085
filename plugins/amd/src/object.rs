//! Links relocatable objects to loadable code objects, with LLVM's linker.

use std::path::{Path, PathBuf};

use tilewright_plugin::{CompileError, ExternalTool, ToolError};

/// The external linker `lld`, which makes code objects.
const LLD: ExternalTool = ExternalTool {
    program: "rust-lld",
    variable: "TILEWRIGHT_LLD",
    install: "put a `rust-lld` or `ld.lld` into the directory of the program",
};

/// Path of the Rust toolchain's `rust-lld`, recorded when this crate was built; `None` if none was found.
const BUILT_WITH: Option<&str> = option_env!("TILEWRIGHT_BUILD_LLD");

/// Finds the linker: the file that `TILEWRIGHT_LLD` names, `rust-lld` or `ld.lld` in the directory of the running
/// program, or the `rust-lld` of the toolchain of this build. `PATH` is not searched, since its linker may be older
/// than the targets.
fn linker() -> Result<PathBuf, ToolError> {
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent);
    let beside = beside.into_iter().flat_map(|directory| ["rust-lld", "ld.lld"].map(|name| directory.join(name)));
    LLD.find_among("in the directory of the program or in its toolchain", beside.chain(BUILT_WITH.map(PathBuf::from)))
}

/// Links a relocatable object file to a loadable code object, and returns the code object's bytes.
pub(crate) fn link(object: &[u8]) -> Result<Vec<u8>, CompileError> {
    let linker = linker().map_err(ToolError::into_compile_error)?;
    let file_error = |error| LLD.cannot_run_error(&linker, error).into_compile_error();
    let directory = tempfile::tempdir().map_err(file_error)?;
    let (input, output) = (directory.path().join("kernel.o"), directory.path().join("kernel.hsaco"));
    std::fs::write(&input, object).map_err(file_error)?;
    // `ld.lld` selects its flavour by its name; under other names LLVM's linker needs an option.
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
    fn linker_errors_are_reported() {
        match link(b"no object") {
            Err(CompileError::Backend(message)) => assert!(message.contains("kernel.o"), "{message}"),
            other => panic!("{other:?}"),
        }
    }
}
