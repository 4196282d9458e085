//! From PTX to a cubin with the vendor's assembler, if the machine has it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tilewright_plugin::{CompileError, ExternalTool, ToolError};

/// The assembler.
const PTXAS: ExternalTool = ExternalTool {
    program: "ptxas",
    variable: "TILEWRIGHT_PTXAS",
    install: "install the CUDA toolkit or the PyPI package `nvidia-cuda-nvcc`",
};

/// The assembler's file: the one that `TILEWRIGHT_PTXAS` names, the one along `PATH`, or the one in the PyPI package
/// `nvidia-cuda-nvcc` of the `python3` along `PATH`.
///
/// # Errors
/// [`ToolError::NotFound`].
pub fn assembler() -> Result<PathBuf, ToolError> {
    PTXAS.find().or_else(|error| python_assembler().ok_or(error))
}

/// The assembler of the Python package: `bin/ptxas` of one of the parts of the package `nvidia`. Looked for once, since it
/// takes a run of the interpreter.
fn python_assembler() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(find_python_assembler).clone()
}

fn find_python_assembler() -> Option<PathBuf> {
    const FOLDERS: &str = "import importlib.util as u; s = u.find_spec('nvidia'); \
                           print('\\n'.join(s.submodule_search_locations) if s else '')";
    let run = Command::new("python3").args(["-c", FOLDERS]).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let folders = String::from_utf8(run.stdout).ok()?;
    let parts = folders.lines().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    parts.map(|part| part.path().join("bin").join("ptxas")).find(|file| file.is_file())
}

/// The cubin of PTX text; `None` if there is no assembler.
pub(crate) fn assemble(architecture: &str, ptx: &[u8]) -> Result<Option<Vec<u8>>, CompileError> {
    assembler().ok().map(|program| assemble_with(&program, architecture, ptx)).transpose()
}

/// The cubin that this assembler makes of PTX text.
///
/// # Errors
/// [`CompileError::Backend`] with the assembler's message.
pub fn assemble_with(program: &Path, architecture: &str, ptx: &[u8]) -> Result<Vec<u8>, CompileError> {
    let file_error = |error| PTXAS.cannot_run(program, error).into_compile_error();
    let directory = tempfile::tempdir().map_err(file_error)?;
    let (input, output) = (directory.path().join("kernel.ptx"), directory.path().join("kernel.cubin"));
    std::fs::write(&input, ptx).map_err(file_error)?;
    let arch = format!("-arch={architecture}");
    // The assembler repeats the path of its input, so it gets one that says the same in every run.
    PTXAS
        .run(program, "PTX", |command| {
            command.current_dir(directory.path()).args([&arch, "kernel.ptx", "-o", "kernel.cubin"])
        })
        .map_err(ToolError::into_compile_error)?;
    std::fs::read(&output).map_err(file_error)
}
