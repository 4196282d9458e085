//! A module as code in the form that is asked for, to standard output or a file.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use tilewright::kernel::Module;
use tilewright::pipeline::Session;
use tilewright::vendor::{CompileOptions, Emit};

use crate::failure::Failure;

/// Where the code goes, and how well it is optimised.
#[derive(Debug, Args)]
pub struct Code {
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Optimisation level of the code generator.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=3))]
    opt: u8,
}

/// A form of code.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Form {
    /// The kernel IR.
    Kernel,
    /// The code generator's intermediate form.
    Llvm,
    /// Assembly text.
    Asm,
    /// What a driver loads.
    Object,
}

impl Code {
    /// Writes the module's code for a target.
    pub fn write(&self, session: &Session, target: &str, module: &Module, form: Form) -> Result<(), Failure> {
        let form = match form {
            Form::Kernel => return self.put(module.to_string().as_bytes(), true),
            Form::Llvm => Emit::Intermediate,
            Form::Asm => Emit::Assembly,
            Form::Object => Emit::Object,
        };
        let wanted = CompileOptions { emit: vec![form], optimisation: self.opt };
        let artifact = session.compile(target, module, &wanted)?;
        let payload = artifact.payload(form).ok_or_else(|| {
            Failure::Input(format!("target {target} has no such form of code; another value of --emit may do"))
        })?;
        self.put(&payload.bytes, std::str::from_utf8(&payload.bytes).is_ok())
    }

    fn put(&self, bytes: &[u8], text: bool) -> Result<(), Failure> {
        match &self.output {
            Some(path) => std::fs::write(path, bytes)
                .map_err(|error| Failure::Input(format!("cannot write {}: {error}", path.display()))),
            None if !text && std::io::stdout().is_terminal() => {
                Err(Failure::Input("the code is binary: write it to a file with -o FILE, or to a pipe".to_owned()))
            }
            None => Ok(std::io::stdout().lock().write_all(bytes)?),
        }
    }
}
