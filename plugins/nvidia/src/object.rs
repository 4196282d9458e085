//! From PTX to a cubin with the vendor's assembler, where it is at hand.
//!
//! `TILEWRIGHT_PTXAS` names the program; without it `ptxas` is looked for along `PATH`, then in the
//! PyPI package `nvidia-cuda-nvcc` of the `python3` along `PATH`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tilewright_plugin::CompileError;

/// Names the assembler to use.
const VARIABLE: &str = "TILEWRIGHT_PTXAS";

/// The assembler, where there is one.
#[must_use]
pub fn assembler() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()) {
        return Some(PathBuf::from(named));
    }
    let path = std::env::var_os("PATH")?;
    let along_path = std::env::split_paths(&path).map(|directory| directory.join("ptxas")).find(|file| file.is_file());
    along_path.or_else(|| FROM_PYTHON.get_or_init(of_python_package).clone())
}

/// Looked for once, since it takes a run of the interpreter.
static FROM_PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();

/// The assembler of the Python package: `bin/ptxas` of one of the parts of the package `nvidia`.
fn of_python_package() -> Option<PathBuf> {
    const PLACES: &str = "import importlib.util as u; s = u.find_spec('nvidia'); \
                          print('\\n'.join(s.submodule_search_locations) if s else '')";
    let run = Command::new("python3").args(["-c", PLACES]).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let places = String::from_utf8(run.stdout).ok()?;
    let parts = places.lines().filter_map(|place| std::fs::read_dir(place).ok()).flatten().flatten();
    parts.map(|part| part.path().join("bin").join("ptxas")).find(|file| file.is_file())
}

/// The cubin of PTX text; `None` where there is no assembler.
pub(crate) fn assemble(architecture: &str, ptx: &[u8]) -> Result<Option<Vec<u8>>, CompileError> {
    assembler().map(|program| assemble_with(&program, architecture, ptx)).transpose()
}

fn assemble_with(program: &Path, architecture: &str, ptx: &[u8]) -> Result<Vec<u8>, CompileError> {
    let shown = program.display();
    let file_error = |error: std::io::Error| CompileError::Backend(format!("a temporary file for {shown}: {error}"));
    let directory = tempfile::tempdir().map_err(file_error)?;
    let (input, output) = (directory.path().join("kernel.ptx"), directory.path().join("kernel.cubin"));
    std::fs::write(&input, ptx).map_err(file_error)?;
    let run = Command::new(program).arg(format!("-arch={architecture}")).arg(&input).arg("-o").arg(&output).output();
    let run = run.map_err(|error| {
        CompileError::Backend(format!("cannot run {shown}: {error}; set {VARIABLE} to the assembler to use"))
    })?;
    if !run.status.success() {
        let said = String::from_utf8_lossy(&run.stderr);
        let said = said.replace(&input.display().to_string(), "kernel.ptx");
        return Err(CompileError::Backend(format!("{shown} refused the PTX ({}): {}", run.status, said.trim())));
    }
    std::fs::read(&output).map_err(file_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(program: &Path, architecture: &str, ptx: &[u8]) -> String {
        match assemble_with(program, architecture, ptx) {
            Err(CompileError::Backend(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_assembler_that_is_not_there_is_named_with_what_to_do() {
        let message = refusal(Path::new("/nonexistent/ptxas"), "sm_80", b"");
        assert!(message.contains("/nonexistent/ptxas") && message.contains(VARIABLE), "{message}");
    }

    #[test]
    fn what_the_assembler_says_of_bad_ptx_is_shown() {
        let Some(program) = assembler() else {
            eprintln!("no ptxas here: its messages are not tested");
            return;
        };
        let message = refusal(&program, "sm_80", b".version 8.0\n.target sm_80\n.address_size 64\nnonsense;\n");
        assert!(message.contains("kernel.ptx, line 4"), "{message}");
        let message = refusal(&program, "sm_1", b"");
        assert!(message.contains("sm_1"), "{message}");
    }
}
