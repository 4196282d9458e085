//! `tilewright compile`: a tile program as layouts, kernel or code.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use tilewright::Stage;

use crate::emit::{Code, CodeForm, emit, write};
use crate::failure::CommandError;
use crate::program::{ProgramRequest, failure};
use crate::{GlobalOptions, input};

/// What is written.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Requested {
    /// The program with a layout for every tensor.
    Layouts,
    /// What was chosen for every tensor, which conversions are left, what they cost.
    Plan,
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

/// What to compile to what.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    asked: ProgramRequest,
    /// What to write.
    #[arg(long, value_enum, value_name = "FORM", default_value = "asm")]
    emit: Requested,
    /// Write what was chosen for every tensor, and why, to standard error too.
    #[arg(long)]
    explain: bool,
    /// Write the program after each stage to this directory.
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    #[command(flatten)]
    code: Code,
}

/// Runs the command.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::session(global)?;
    let file = &options.asked.program;
    let (mut layouts, mut plan, mut dumped) = (String::new(), String::new(), Ok(()));
    let (text, kernel) = options.asked.kernel(&session, &mut |stage| {
        if let Stage::Sizes(chosen) = stage {
            eprint!("{chosen}");
        }
        if let Stage::Layouts(assigned) = stage {
            layouts = stage.to_string();
            // Writing to a text does not fail.
            let _ = write!(plan, "{}", assigned.report);
        }
        if let (Some(folder), true) = (&options.dump, dumped.is_ok()) {
            dumped = dump(folder, &stage.file(), &stage.to_string());
            if let (Stage::Layouts(assigned), true) = (stage, dumped.is_ok()) {
                dumped = dump(folder, "3-plan.txt", &assigned.report.to_string());
            }
        }
    })?;
    dumped?;
    if options.explain {
        eprint!("{plan}");
    }
    // What was made before a later stage failed is there all the same.
    let form = match (options.emit, !plan.is_empty()) {
        (Requested::Layouts, true) => return write(&options.code, layouts.as_bytes(), true),
        (Requested::Plan, true) => return write(&options.code, plan.as_bytes(), true),
        (Requested::Llvm, _) => CodeForm::Llvm,
        (Requested::Asm, _) => CodeForm::Asm,
        (Requested::Object, _) => CodeForm::Object,
        (Requested::Functions, _) => CodeForm::Functions,
        _ => CodeForm::Kernel,
    };
    let kernel = kernel.map_err(|error| failure(file, &text, &error))?;
    emit(&session, &options.asked.target, vec![kernel], form, &options.code)
}

fn dump(folder: &Path, name: &str, text: &str) -> Result<(), CommandError> {
    let file = folder.join(name);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&file, text))
        .map_err(|error| CommandError::Input(format!("cannot write {}: {error}", file.display())))
}
