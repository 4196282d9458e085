//! [`ExternalTool`]: a third-party program that a plugin runs, such as an assembler or a validator.
//!
//! The environment variable of a tool names its file. Without the variable, the tool is searched in `PATH` or among
//! files that the plugin gives. Errors name the tool, the searched places, and how to install it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};

use thiserror::Error;

use crate::CompileError;

/// A third-party program that a plugin runs if the machine has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExternalTool {
    /// Name of the program in `PATH`.
    pub program: &'static str,
    /// Environment variable that may name another file to run for this program.
    pub variable: &'static str,
    /// Instruction to install the program: a clause that begins with a verb.
    pub install: &'static str,
}

/// A tool that is missing, cannot be run, or fails.
#[derive(Debug, Error)]
pub enum ToolError {
    /// The program was not found.
    #[error(
        "`{}` was not found: {} is not set, and it is not {search_path}; set {} to the file, or {}",
        tool.program, tool.variable, tool.variable, tool.install
    )]
    NotFound {
        /// The tool that was not found.
        tool: ExternalTool,
        /// The searched places other than the environment variable, as words that follow "it is not".
        search_path: &'static str,
    },
    /// The tool's program, or a file that the program needs, cannot be used.
    #[error("cannot run {}: {source}; set {} to the `{}` to use, or {}", path.display(), tool.variable, tool.program, tool.install)]
    CannotRun {
        /// The tool that cannot be run.
        tool: ExternalTool,
        /// The file that could not be run.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The program ran and failed.
    #[error("{} rejected the {input} ({status}): {message}", path.display())]
    Refused {
        /// The path of the program that was run.
        path: PathBuf,
        /// Name of the format of the program's input, e.g. `PTX`, for the message.
        input: &'static str,
        /// The program's exit status.
        status: ExitStatus,
        /// The program's output.
        message: String,
    },
}

impl ToolError {
    /// Converts to a failure of the code generator. This is no `From`, since `?` in closures could then no longer infer
    /// the error type.
    #[must_use]
    pub fn into_compile_error(self) -> CompileError {
        CompileError::Backend(self.to_string())
    }
}

impl ExternalTool {
    /// Returns the program that the environment variable names, or else the one found in `PATH`.
    ///
    /// A program from the variable is not checked before it runs: a wrong name is an error and never selects another
    /// program.
    ///
    /// # Errors
    /// [`ToolError::NotFound`] if the variable is unset and `PATH` has no such program.
    pub fn find(&self) -> Result<PathBuf, ToolError> {
        let found = self.find_by_variable().or_else(|| which::which(self.program).ok());
        found.ok_or(ToolError::NotFound { tool: *self, search_path: "on PATH" })
    }

    /// Returns the program that the environment variable names, or else the first of `candidates` that is a file;
    /// `search_path` names the candidates' directories, in words that follow "it is not".
    ///
    /// # Errors
    /// [`ToolError::NotFound`] if the variable is unset and no candidate is a file.
    pub fn find_among(
        &self,
        search_path: &'static str,
        candidates: impl IntoIterator<Item = PathBuf>,
    ) -> Result<PathBuf, ToolError> {
        let found = self.find_by_variable().or_else(|| candidates.into_iter().find(|file| file.is_file()));
        found.ok_or(ToolError::NotFound { tool: *self, search_path })
    }

    /// Returns the program that the environment variable names; `None` if it is unset. A bare name is searched in
    /// `PATH`.
    #[must_use]
    pub fn find_by_variable(&self) -> Option<PathBuf> {
        let name: OsString = std::env::var_os(self.variable).filter(|name| !name.is_empty())?;
        Some(which::which(&name).unwrap_or_else(|_| PathBuf::from(name)))
    }

    /// Runs the program at `path` with the arguments that `prepare` adds; returns the program's output if it succeeds.
    /// `input` names the format of the program's input, for messages.
    ///
    /// # Errors
    /// [`ToolError::CannotRun`] if the program does not start, [`ToolError::Refused`] if it exits with a failure.
    pub fn run(
        &self,
        path: &Path,
        input: &'static str,
        prepare: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Result<Output, ToolError> {
        let output = prepare(&mut Command::new(path)).output().map_err(|source| self.cannot_run_error(path, source))?;
        if output.status.success() {
            return Ok(output);
        }
        let printed = [&output.stdout[..], &output.stderr[..]].concat();
        let message = String::from_utf8_lossy(&printed).trim().to_owned();
        Err(ToolError::Refused { path: path.to_owned(), input, status: output.status, message })
    }

    /// Returns the error that the program at `path`, or a file that it needs, cannot be used.
    #[must_use]
    pub fn cannot_run_error(&self, path: &Path, source: std::io::Error) -> ToolError {
        ToolError::CannotRun { tool: *self, path: path.to_owned(), source }
    }
}
