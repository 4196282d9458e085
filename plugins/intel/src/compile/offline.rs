//! Another opinion on finished SPIR-V: the vendor's offline compiler, which makes machine code of it.
//!
//! It is asked where `TILEWRIGHT_OCLOC` names the program, `ocloc` for the one along `PATH`; not by itself, since it
//! takes about as long for a kernel as everything else for a hundred. What it makes is not kept: drivers take the SPIR-V.

use std::path::{Path, PathBuf};
use std::process::Command;

use tilewright::vendor::CompileError;

use super::outside::verdict;
use crate::Architecture;

/// Names the compiler to use.
const VARIABLE: &str = "TILEWRIGHT_OCLOC";

/// Has the compiler finish a binary for an architecture that it knows; says so where it did.
pub(super) fn check(spirv: &[u8], architecture: Architecture) -> Result<Option<String>, CompileError> {
    if !architecture.is_known_offline {
        return Ok(None);
    }
    compiler().map(|program| check_with(&program, spirv, architecture.name)).transpose()
}

fn compiler() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from)
}

fn check_with(program: &Path, spirv: &[u8], device: &str) -> Result<String, CompileError> {
    let shown = program.display();
    let failed = |error: std::io::Error| {
        CompileError::Backend(format!("cannot run {shown}: {error}; set {VARIABLE} to the offline compiler to use"))
    };
    let directory = tempfile::tempdir().map_err(failed)?;
    let file = directory.path().join("module.spv");
    std::fs::write(&file, spirv).map_err(failed)?;
    let mut command = Command::new(program);
    command.args(["compile", "-spirv_input", "-device", device, "-file"]).arg(&file);
    let said = command.arg("-out_dir").arg(directory.path()).current_dir(directory.path()).output().map_err(failed)?;
    verdict(&format!("{shown} for {device}"), said).map(|()| format!("ocloc for {device}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_that_is_not_there_is_named_with_what_to_do() {
        let Err(CompileError::Backend(message)) = check_with(Path::new("/nonexistent/ocloc"), &[], "pvc") else {
            panic!("no compiler, no verdict");
        };
        assert!(message.contains("/nonexistent/ocloc") && message.contains(VARIABLE), "{message}");
    }

    #[test]
    fn what_the_compiler_says_of_bad_words_is_shown() {
        let Some(program) = compiler() else {
            eprintln!("{VARIABLE} names no compiler: its refusals are not tested");
            return;
        };
        let Err(CompileError::Backend(message)) = check_with(&program, &[1, 2, 3, 4], "pvc") else {
            panic!("four bytes are no module");
        };
        assert!(message.contains("refused"), "{message}");
    }
}
