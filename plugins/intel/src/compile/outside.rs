//! A second opinion on finished SPIR-V: the Khronos validator, where it is at hand.
//!
//! `TILEWRIGHT_SPIRV_VAL` names the program; without it `spirv-val` is looked for along `PATH`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tilewright_plugin::CompileError;

/// Names the validator to use.
const VARIABLE: &str = "TILEWRIGHT_SPIRV_VAL";

/// Has the validator look at a binary; gives its name where there is one.
pub(super) fn check(spirv: &[u8]) -> Result<Option<String>, CompileError> {
    validator().map(|program| check_with(&program, spirv)).transpose()
}

fn validator() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()) {
        return Some(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join("spirv-val")).find(|file| file.is_file())
}

fn check_with(program: &Path, spirv: &[u8]) -> Result<String, CompileError> {
    let shown = program.display();
    let failed = |error: std::io::Error| {
        CompileError::Backend(format!("cannot run {shown}: {error}; set {VARIABLE} to the validator to use"))
    };
    let mut run = Command::new(program)
        .args(["--target-env", "spv1.3", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = run.stdin.take() {
        // A validator that stops reading says why itself.
        let _ = input.write_all(spirv);
    }
    let said = run.wait_with_output().map_err(failed)?;
    verdict(&shown.to_string(), said).map(|()| "spirv-val".to_owned())
}

/// What a tool's end means: that it took the SPIR-V, or why it did not.
pub(super) fn verdict(tool: &str, said: Output) -> Result<(), CompileError> {
    if said.status.success() {
        return Ok(());
    }
    let words = [said.stdout, said.stderr].concat();
    let words = String::from_utf8_lossy(&words);
    Err(CompileError::Backend(format!("{tool} refused the SPIR-V ({}): {}", said.status, words.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_validator_that_is_not_there_is_named_with_what_to_do() {
        let Err(CompileError::Backend(message)) = check_with(Path::new("/nonexistent/spirv-val"), &[]) else {
            panic!("no validator, no verdict");
        };
        assert!(message.contains("/nonexistent/spirv-val") && message.contains(VARIABLE), "{message}");
    }

    #[test]
    fn what_the_validator_says_of_bad_words_is_shown() {
        let Some(program) = validator() else {
            eprintln!("no spirv-val here: its refusals are not tested");
            return;
        };
        let Err(CompileError::Backend(message)) = check_with(&program, &[1, 2, 3, 4]) else {
            panic!("four bytes are no module");
        };
        assert!(message.contains("refused"), "{message}");
    }
}
