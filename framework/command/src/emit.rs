//! Kernels as code: in which form, and where to.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::Value as Json;

use tilewright::{PipelineError, Session};
use tilewright_kernel as kernel;
use tilewright_kernel::{Kernel, Module};
use tilewright_plugin::{CompileOptions, Emit};

use crate::failure::CommandError;

/// The form of code.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum CodeForm {
    /// The kernel IR.
    Kernel,
    /// The code generator's intermediate form.
    Llvm,
    /// Assembly text.
    Asm,
    /// What a driver loads.
    Object,
    /// Bitcode whose functions a module of a host's own calls.
    Functions,
}

/// The optimisation level of the code generator unless the user gives another.
const OPTIMISATION: u8 = 2;

/// How code is made and where it goes.
#[derive(Debug, Args)]
pub struct Code {
    /// Write the code to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Optimisation level of the code generator.
    #[arg(long, default_value_t = OPTIMISATION, value_parser = clap::value_parser!(u8).range(0..=3))]
    opt: u8,
}

/// How a plan is answered: in words, as JSON, or as code.
#[derive(Debug, Args)]
pub struct Emission {
    /// Print the plan as JSON.
    #[arg(long)]
    pub json: bool,
    /// Write code for a kernel around the plan, in this form, instead of its figures.
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    pub emit: Option<CodeForm>,
    /// Write the code to this file instead of standard output.
    #[arg(short, long, value_name = "FILE", requires = "emit")]
    pub output: Option<PathBuf>,
}

/// A plan in the forms in which it can be answered; only the one that the options name is produced.
pub struct Answer<'a> {
    /// Kernels around the plan.
    pub kernels: &'a dyn Fn() -> Result<Vec<Kernel>, CommandError>,
    /// The plan as programs read it.
    pub json: &'a dyn Fn() -> Json,
    /// The plan as people read it.
    pub text: &'a dyn Fn() -> Result<String, CommandError>,
}

impl Emission {
    /// Answers with a plan for a target.
    pub fn answer(&self, session: &Session, target: &str, answer: Answer<'_>) -> Result<(), CommandError> {
        let Answer { kernels, json, text } = answer;
        if let Some(form) = self.emit {
            let code = Code { output: self.output.clone(), opt: OPTIMISATION };
            return emit(session, target, kernels()?, form, &code);
        }
        let mut out = std::io::stdout().lock();
        match self.json {
            true => writeln!(out, "{}", json())?,
            false => write!(out, "{}", text()?)?,
        }
        Ok(())
    }
}

/// Writes kernels as code of this form.
pub fn emit(
    session: &Session,
    target: &str,
    kernels: Vec<Kernel>,
    form: CodeForm,
    code: &Code,
) -> Result<(), CommandError> {
    let module = Module { kernels };
    kernel::verify(&module).map_err(PipelineError::from)?;
    let form = match form {
        CodeForm::Kernel => return write(code, module.to_string().as_bytes(), true),
        CodeForm::Llvm => Emit::Intermediate,
        CodeForm::Asm => Emit::Assembly,
        CodeForm::Object => Emit::Object,
        CodeForm::Functions => Emit::Functions,
    };
    let requested = CompileOptions { emit: vec![form], optimisation: code.opt };
    let artifact = session.compile(target, &module, &requested)?;
    let payload = artifact.payload(form).ok_or_else(|| {
        CommandError::Input(format!("target {target} has no such form of code; another value of --emit may do"))
    })?;
    write(code, &payload.bytes, std::str::from_utf8(&payload.bytes).is_ok())
}

/// Writes bytes to where code goes.
pub fn write(code: &Code, bytes: &[u8], text: bool) -> Result<(), CommandError> {
    match &code.output {
        Some(path) => std::fs::write(path, bytes)
            .map_err(|error| CommandError::Input(format!("cannot write {}: {error}", path.display()))),
        None if !text && std::io::stdout().is_terminal() => {
            Err(CommandError::Input("the code is binary: write it to a file with -o FILE, or to a pipe".to_owned()))
        }
        None => Ok(std::io::stdout().lock().write_all(bytes)?),
    }
}
