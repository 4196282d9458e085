//! Assembles PTX to a cubin with NVIDIA's assembler `ptxas`, if it is installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tilewright_plugin::{CompileError, ExternalTool, ToolError};

use crate::compile::lines::has_lines;

/// The external tool `ptxas`, NVIDIA's assembler.
const PTXAS: ExternalTool = ExternalTool {
    program: "ptxas",
    variable: "TILEWRIGHT_PTXAS",
    install: "install the CUDA toolkit or the PyPI package `nvidia-cuda-nvcc`",
};

/// Returns the path of `ptxas`: `TILEWRIGHT_PTXAS`, the first one in `PATH`, or the one in the PyPI package
/// `nvidia-cuda-nvcc` of the `python3` in `PATH`.
///
/// # Errors
/// [`ToolError::NotFound`] if no assembler is installed.
pub fn find_assembler() -> Result<PathBuf, ToolError> {
    PTXAS.find().or_else(|error| python_assembler().ok_or(error))
}

/// Returns the `ptxas` of the PyPI package: a file `bin/ptxas` below the Python package `nvidia`; `None` if no such
/// file exists. The result is cached, since the search runs the Python interpreter.
fn python_assembler() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(find_python_assembler).clone()
}

fn find_python_assembler() -> Option<PathBuf> {
    const FOLDERS: &str = "import importlib.util as u; s = u.find_spec('nvidia'); \
                           print('\\n'.join(s.submodule_search_locations) if s else '')";
    let run = Command::new("python3").args(["-c", FOLDERS]).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let folders = String::from_utf8(run.stdout).ok()?;
    let directories = folders.lines().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    directories.map(|entry| entry.path().join("bin").join("ptxas")).find(|file| file.is_file())
}

/// Assembles PTX text for an architecture to a cubin; `None` if `ptxas` is not installed.
pub(crate) fn assemble(architecture: &str, ptx: &[u8]) -> Result<Option<Vec<u8>>, CompileError> {
    find_assembler().ok().map(|program| assemble_ptx(&program, architecture, ptx)).transpose()
}

/// Assembles PTX text to a cubin with the assembler at this path.
///
/// # Errors
/// [`CompileError::Backend`] if the assembler cannot be run, or with its message if it rejects the PTX.
pub fn assemble_ptx(program: &Path, architecture: &str, ptx: &[u8]) -> Result<Vec<u8>, CompileError> {
    let file_error = |error| PTXAS.cannot_run_error(program, error).into_compile_error();
    let directory = tempfile::tempdir().map_err(file_error)?;
    let (input, output) = (directory.path().join("kernel.ptx"), directory.path().join("kernel.cubin"));
    std::fs::write(&input, ptx).map_err(file_error)?;
    let arch = format!("-arch={architecture}");
    // `ptxas` writes the path of its input to the cubin, so a fixed file name keeps the output reproducible.
    PTXAS
        .run(program, "PTX", |command| {
            let command = command.current_dir(directory.path()).args([&arch, "kernel.ptx", "-o", "kernel.cubin"]);
            if has_lines(ptx) { command.arg("-lineinfo") } else { command }
        })
        .map_err(ToolError::into_compile_error)?;
    std::fs::read(&output).map_err(file_error)
}
