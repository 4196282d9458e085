//! From a relocatable object to a code object that a driver loads, with LLVM's linker.
//!
//! Looked for in this order: the file that `TILEWRIGHT_LLD` names; `rust-lld` or `ld.lld` in the
//! directory of the running program; the `rust-lld` of the toolchain that built this.

use std::path::{Path, PathBuf};
use std::process::Command;

use tilewright_plugin::CompileError;

/// Names the linker to use.
const VARIABLE: &str = "TILEWRIGHT_LLD";

/// The toolchain's linker, as the build script found it.
const BUILT_WITH: Option<&str> = option_env!("TILEWRIGHT_BUILD_LLD");

/// The linker.
fn linker() -> Result<PathBuf, CompileError> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()) {
        return Ok(PathBuf::from(named));
    }
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent);
    let candidates = beside.into_iter().flat_map(|directory| ["rust-lld", "ld.lld"].map(|name| directory.join(name)));
    let mut candidates = candidates.chain(BUILT_WITH.map(PathBuf::from));
    candidates.find(|file| file.is_file()).ok_or_else(|| {
        CompileError::Backend(format!(
            "no linker for code objects: set {VARIABLE} to a `rust-lld` or `ld.lld`, or put one beside the program"
        ))
    })
}

/// The code object of a relocatable object.
pub(crate) fn link(object: &[u8]) -> Result<Vec<u8>, CompileError> {
    let linker = linker()?;
    let shown = linker.display();
    let file_error = |error: std::io::Error| CompileError::Backend(format!("a temporary file for {shown}: {error}"));
    let directory = tempfile::tempdir().map_err(file_error)?;
    let (input, output) = (directory.path().join("kernel.o"), directory.path().join("kernel.hsaco"));
    std::fs::write(&input, object).map_err(file_error)?;
    let mut command = Command::new(&linker);
    // `ld.lld` knows its flavour by its name; every other name of LLVM's linker must be told.
    if linker.file_stem().is_none_or(|name| name != "ld.lld" && name != "ld") {
        command.args(["-flavor", "gnu"]);
    }
    let run = command.arg("-shared").arg(&input).arg("-o").arg(&output).output();
    let run = run.map_err(|error| {
        CompileError::Backend(format!("cannot run {shown}: {error}; set {VARIABLE} to the linker to use"))
    })?;
    if !run.status.success() {
        let said = String::from_utf8_lossy(&run.stderr);
        return Err(CompileError::Backend(format!("{shown} failed ({}): {}", run.status, said.trim())));
    }
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
