//! `tilewright compile`: compiles a tile program to layouts, kernel IR or code.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use tilewright::CompilationStageOutput;

use crate::emit::{CodeForm, CodeOutputOptions, compile_and_write, write_code};
use crate::failure::CommandError;
use crate::program::{ProgramRequest, to_command_error};
use crate::{GlobalOptions, input};

/// The requested form of the output.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Requested {
    /// The program as written, verified.
    Program,
    /// The program with a layout for every tensor.
    Layouts,
    /// The layout of every tensor, the remaining layout conversions, and their costs.
    Plan,
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

/// Options of `tilewright compile`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    request: ProgramRequest,
    /// The output form.
    #[arg(long, value_enum, value_name = "FORM", default_value = "asm")]
    emit: Requested,
    /// Also print the chosen layout of every tensor, and the reason, to standard error.
    #[arg(long)]
    explain: bool,
    /// Write the program after each stage to this directory.
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    #[command(flatten)]
    code: CodeOutputOptions,
}

/// Runs `tilewright compile`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let file = &options.request.program;
    if matches!(options.emit, Requested::Program) {
        let (text, module) = options.request.parse_program(&session)?;
        let module = module.map_err(|error| to_command_error(file, &text, &error))?;
        return write_code(&options.code, tilewright::tile::print_module(&module).as_bytes(), true);
    }
    let (mut layouts, mut plan, mut dumped) = (String::new(), String::new(), Ok(()));
    let mut warnings: Vec<String> = Vec::new();
    let static_memory = matches!(options.emit, Requested::Functions);
    let (text, kernel) = options.request.compile_kernel(&session, static_memory, &mut |stage| {
        if let CompilationStageOutput::Sizes(chosen) = stage {
            eprint!("{chosen}");
        }
        if let CompilationStageOutput::Layouts(assigned) = stage {
            layouts = stage.to_string();
            // Writing to a string does not fail.
            let _ = write!(plan, "{}", assigned.report);
            warnings = assigned.report.warnings().map(|warning| format!("{}: {warning}", file.display())).collect();
        }
        if let (Some(folder), true) = (&options.dump, dumped.is_ok()) {
            dumped = dump(folder, &stage.dump_file_name(), &stage.to_string());
            if let (CompilationStageOutput::Layouts(assigned), true) = (stage, dumped.is_ok()) {
                dumped = dump(folder, "3-plan.txt", &assigned.report.to_string());
            }
        }
    })?;
    dumped?;
    if options.explain {
        eprint!("{plan}");
    } else {
        warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    }
    // The layouts and the plan exist, and are written, even if a later stage has failed.
    let form = match (options.emit, !plan.is_empty()) {
        (Requested::Layouts, true) => return write_code(&options.code, layouts.as_bytes(), true),
        (Requested::Plan, true) => return write_code(&options.code, plan.as_bytes(), true),
        (Requested::Llvm, _) => CodeForm::Llvm,
        (Requested::Asm, _) => CodeForm::Asm,
        (Requested::Object, _) => CodeForm::Object,
        (Requested::Functions, _) => CodeForm::Functions,
        _ => CodeForm::Kernel,
    };
    let kernel = kernel.map_err(|error| to_command_error(file, &text, &error))?;
    let code = options.code.clone().with_disabled(options.request.disabled());
    compile_and_write(&session, &options.request.target, vec![kernel], form, &code)
}

fn dump(folder: &Path, name: &str, text: &str) -> Result<(), CommandError> {
    let file = folder.join(name);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&file, text))
        .map_err(|error| CommandError::Input(format!("cannot write {}: {error}", file.display())))
}
