//! Emits kernels as code in the requested form.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::Value as Json;

use tilewright::{Session, SessionError};
use tilewright_kernel as kernel;
use tilewright_kernel::{Kernel, Module};
use tilewright_plugin::{CodeFormat, CompileOptions};
use tilewright_target::OptimizationSet;

use crate::failure::CommandError;

/// The form of the written code.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum CodeForm {
    /// The kernel IR.
    Kernel,
    /// The code generator's intermediate form, such as LLVM IR.
    Llvm,
    /// Assembly text.
    Asm,
    /// The object that a driver loads.
    Object,
    /// Bitcode with functions for the module of a host program.
    Functions,
}

/// Default optimisation level of the code generator.
const OPTIMISATION: u8 = 2;

/// Options of the output of code: the file, and the optimisation level.
#[derive(Debug, Clone, Args)]
pub struct CodeOutputOptions {
    /// Write the code to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Optimisation level of the code generator.
    #[arg(long, default_value_t = OPTIMISATION, value_parser = clap::value_parser!(u8).range(0..=3))]
    opt: u8,
    /// The optimizations that the code generator disables; a program's options set them.
    #[arg(skip)]
    disabled: OptimizationSet,
}

impl CodeOutputOptions {
    /// Returns the options with these optimizations of the code generator disabled.
    pub fn with_disabled(self, disabled: OptimizationSet) -> Self {
        Self { disabled, ..self }
    }
}

/// Options that select the form of an answer with a plan: text, JSON, or code.
#[derive(Debug, Args)]
pub struct AnswerOptions {
    /// Print the plan as JSON.
    #[arg(long)]
    pub json: bool,
    /// Write code for a kernel around the plan, in this form, instead of the plan's statistics.
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    pub emit: Option<CodeForm>,
    /// Write the code to this file instead of standard output.
    #[arg(short, long, value_name = "FILE", requires = "emit")]
    pub output: Option<PathBuf>,
}

/// Functions that produce an answer in each form; only the requested form is produced.
pub struct AnswerForms<'a> {
    /// Builds the kernels that contain the plan.
    pub kernels: &'a dyn Fn() -> Result<Vec<Kernel>, CommandError>,
    /// Returns the plan as JSON.
    pub json: &'a dyn Fn() -> Json,
    /// Returns the plan as text.
    pub text: &'a dyn Fn() -> Result<String, CommandError>,
}

impl AnswerOptions {
    /// Prints the answer in the requested form; code is generated for `target`.
    pub fn print_answer(&self, session: &Session, target: &str, answer: AnswerForms<'_>) -> Result<(), CommandError> {
        let AnswerForms { kernels, json, text } = answer;
        if let Some(form) = self.emit {
            let code = CodeOutputOptions {
                output: self.output.clone(),
                opt: OPTIMISATION,
                disabled: OptimizationSet::default(),
            };
            return compile_and_write(session, target, kernels()?, form, &code);
        }
        let mut out = std::io::stdout().lock();
        match self.json {
            true => writeln!(out, "{}", json())?,
            false => write!(out, "{}", text()?)?,
        }
        Ok(())
    }
}

/// Compiles kernels for a target, and writes the code in the form `form` to the output that `code` names.
pub fn compile_and_write(
    session: &Session,
    target: &str,
    kernels: Vec<Kernel>,
    form: CodeForm,
    code: &CodeOutputOptions,
) -> Result<(), CommandError> {
    let module = Module { kernels };
    kernel::verify(&module).map_err(SessionError::from)?;
    let form = match form {
        CodeForm::Kernel => return write_code(code, module.to_string().as_bytes(), true),
        CodeForm::Llvm => CodeFormat::Intermediate,
        CodeForm::Asm => CodeFormat::Assembly,
        CodeForm::Object => CodeFormat::Object,
        CodeForm::Functions => CodeFormat::Functions,
    };
    let requested = CompileOptions { emit: vec![form], optimisation: code.opt, disabled: code.disabled };
    let artifact = session.compile(target, &module, &requested)?;
    let payload = artifact.payload(form).ok_or_else(|| {
        CommandError::Input(format!("target {target} has no such form of code; try another value of --emit"))
    })?;
    write_code(code, &payload.bytes, std::str::from_utf8(&payload.bytes).is_ok())
}

/// Writes bytes to the file of the options, or else to standard output.
pub fn write_code(code: &CodeOutputOptions, bytes: &[u8], text: bool) -> Result<(), CommandError> {
    match &code.output {
        Some(path) => std::fs::write(path, bytes)
            .map_err(|error| CommandError::Input(format!("cannot write {}: {error}", path.display()))),
        None if !text && std::io::stdout().is_terminal() => {
            Err(CommandError::Input("the code is binary: write it to a file with -o FILE, or to a pipe".to_owned()))
        }
        None => Ok(std::io::stdout().lock().write_all(bytes)?),
    }
}
