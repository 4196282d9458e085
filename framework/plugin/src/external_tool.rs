//! [`ExternalTool`]: a program of somebody else's that a plugin runs, such as an assembler or a validator.
//!
//! One rule finds it: the environment variable of the tool, then `PATH`, then the places that only its plugin knows. One text
//! says what went wrong: the tool, where it was looked for, and how to install it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};

use thiserror::Error;

use crate::CompileError;

/// A program that plugins run if the machine has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExternalTool {
    /// Name of the program, as it is called along `PATH`.
    pub program: &'static str,
    /// Environment variable that names the program to use instead.
    pub variable: &'static str,
    /// How to get the program: a clause that begins with a verb.
    pub install: &'static str,
}

/// A tool that is missing, cannot be run, or fails.
#[derive(Debug, Error)]
pub enum ToolError {
    /// The program is in none of the places.
    #[error(
        "`{}` was not found: {} is not set, and it is not {places}; set {} to the file, or {}",
        tool.program, tool.variable, tool.variable, tool.install
    )]
    NotFound {
        /// The tool.
        tool: ExternalTool,
        /// Where it was looked for, besides the variable.
        places: &'static str,
    },
    /// The program, or a file that it needs, cannot be used.
    #[error("cannot run {}: {source}; set {} to the `{}` to use, or {}", path.display(), tool.variable, tool.program, tool.install)]
    CannotRun {
        /// The tool.
        tool: ExternalTool,
        /// The file that was to be run.
        path: PathBuf,
        /// Why it cannot be.
        source: std::io::Error,
    },
    /// The program ran and failed.
    #[error("{} refused the {input} ({status}): {message}", path.display())]
    Refused {
        /// The file that was run.
        path: PathBuf,
        /// The input, by the name of its format.
        input: &'static str,
        /// How the program ended.
        status: ExitStatus,
        /// All that it printed.
        message: String,
    },
}

impl ToolError {
    /// The same as a failure of the code generator. Not a `From`, with which `?` in closures no longer has one error to infer.
    #[must_use]
    pub fn into_compile_error(self) -> CompileError {
        CompileError::Backend(self.to_string())
    }
}

impl ExternalTool {
    /// The program that the variable names, else the one along `PATH`.
    ///
    /// A program that the variable names is not looked at before it is run, so that a wrong name is an error and never
    /// another program.
    ///
    /// # Errors
    /// [`ToolError::NotFound`].
    pub fn find(&self) -> Result<PathBuf, ToolError> {
        let found = self.named().or_else(|| which::which(self.program).ok());
        found.ok_or(ToolError::NotFound { tool: *self, places: "on PATH" })
    }

    /// The program that the variable names, else the first of some `candidates` that is a file; `places` says where these are, in words that follow "it is not".
    ///
    /// # Errors
    /// [`ToolError::NotFound`].
    pub fn find_among(
        &self,
        places: &'static str,
        candidates: impl IntoIterator<Item = PathBuf>,
    ) -> Result<PathBuf, ToolError> {
        let found = self.named().or_else(|| candidates.into_iter().find(|file| file.is_file()));
        found.ok_or(ToolError::NotFound { tool: *self, places })
    }

    /// The program that the variable names, if it is set. A bare name is looked for along `PATH`.
    #[must_use]
    pub fn named(&self) -> Option<PathBuf> {
        let name: OsString = std::env::var_os(self.variable).filter(|name| !name.is_empty())?;
        Some(which::which(&name).unwrap_or_else(|_| PathBuf::from(name)))
    }

    /// Runs the program at `path` with the arguments that `prepare` adds, and gives what it printed if it succeeds. `input`
    /// names the format of what it reads.
    ///
    /// # Errors
    /// [`ToolError::CannotRun`] and [`ToolError::Refused`].
    pub fn run(
        &self,
        path: &Path,
        input: &'static str,
        prepare: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Result<Output, ToolError> {
        let output = prepare(&mut Command::new(path)).output().map_err(|source| self.cannot_run(path, source))?;
        if output.status.success() {
            return Ok(output);
        }
        let printed = [&output.stdout[..], &output.stderr[..]].concat();
        let message = String::from_utf8_lossy(&printed).trim().to_owned();
        Err(ToolError::Refused { path: path.to_owned(), input, status: output.status, message })
    }

    /// The error of a file that the program at `path` needs, or of the program itself.
    #[must_use]
    pub fn cannot_run(&self, path: &Path, source: std::io::Error) -> ToolError {
        ToolError::CannotRun { tool: *self, path: path.to_owned(), source }
    }
}
