//! A host compiler in Rust for a small tile language: requests a layout and a layout conversion from Tilewright,
//! compiles a program for the named targets, and prints the assembly.
//!
//!     tilewright-host [--own-module] PROGRAM TARGET...
//!
//! With `--own-module` it prints the assembly of the host's own LLVM module, into which the program is linked as a
//! function.

mod language;
mod own_module;
mod translate;

use std::error::Error;
use std::process::ExitCode;

use tilewright::kernel::Module;
use tilewright::layout::Dim;
use tilewright::plugin::{Artifact, CodeFormat, CompileOptions};
use tilewright::tile::{Dialects, ForeignOpReplacements, print_module};
use tilewright::{LayoutRequest, ProgramCompiler, ProgramOptions, Session};

fn main() -> ExitCode {
    match run_command_line() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run_command_line() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<_> = std::env::args().skip(1).collect();
    let own_module = arguments.first().is_some_and(|first| first == "--own-module");
    arguments.drain(..usize::from(own_module));
    let [program, targets @ ..] = &arguments[..] else {
        return Err("usage: tilewright-host [--own-module] PROGRAM TARGET...".into());
    };
    let program = language::read(&std::fs::read_to_string(program)?)?;
    let dialects = Dialects::neutral();
    let text = print_module(&translate::translate_to_tile_ir(&program, &dialects)?);
    let session = Session::builder(tilewright_targets::read_default_catalogue()?).open()?;
    for target in targets {
        print_example_conversion(&session, target)?;
        let form = if own_module { CodeFormat::Functions } else { CodeFormat::Assembly };
        let (kernel, artifact) = compile_program_for_target(&session, target, &text, &dialects, form)?;
        if own_module {
            let functions = artifact.payload(form).ok_or_else(|| format!("{target} has no functions for a host"))?;
            let processor = &session.catalogue().get(target)?.architecture;
            println!("{}", own_module::compile_with_bitcode(&functions.bytes, &kernel, processor)?);
        } else {
            println!("{}", artifact.payload_text(form).ok_or("the target's assembly is not text")?);
        }
    }
    Ok(())
}

/// Plans the conversion of a tile of 32 x 32 f32 on a target, from the layout that is best for loading rows to the one
/// that is best for storing columns.
fn print_example_conversion(session: &Session, target: &str) -> Result<(), Box<dyn Error>> {
    let few = session.catalogue().get(target)?.lanes.default / 8;
    let layout = |text: String| -> Result<_, Box<dyn Error>> {
        Ok(LayoutRequest::from_text(&format!("#ttg.blocked<{{{text}}}>"))?.resolve_linear_layout(
            session,
            Some(target),
            &[32, 32],
        )?)
    };
    let rows =
        layout(format!("sizePerThread = [1, 4], threadsPerWarp = [{few}, 8], warpsPerCTA = [4, 1], order = [1, 0]"))?;
    let columns =
        layout(format!("sizePerThread = [4, 1], threadsPerWarp = [8, {few}], warpsPerCTA = [1, 4], order = [0, 1]"))?;
    let element = rows.apply(&[(Dim::REGISTER, 1), (Dim::LANE, 9), (Dim::WARP, 2), (Dim::BLOCK, 0)])?;
    let element: Vec<_> = element.iter().map(|(_, coordinate)| coordinate.to_string()).collect();
    println!("; {target}: register 1 of lane 9 of warp 2 holds element ({})", element.join(", "));
    let plan = session.plan_conversion(target, &rows, &columns, 32)?;
    println!(
        "; to columns: path {}, {} shuffles, {} + {} wavefronts, {} bytes",
        plan.path,
        plan.stats.counts.shuffles,
        plan.stats.counts.wavefronts_stored,
        plan.stats.counts.wavefronts_loaded,
        plan.stats.shared_bytes
    );
    Ok(())
}

/// Compiles the program `text`; returns the kernel's name and the code in the form `form`.
fn compile_program_for_target(
    session: &Session,
    name: &str,
    text: &str,
    dialects: &Dialects,
    form: CodeFormat,
) -> Result<(String, Artifact), Box<dyn Error>> {
    let target = session.target(name)?;
    let compiler = ProgramCompiler { dialects, imports: &ForeignOpReplacements::default(), target: &*target };
    let kernel = compiler.compile_kernel(text, &ProgramOptions::default(), &mut |_| {})?;
    let options = CompileOptions { emit: vec![form], ..CompileOptions::default() };
    let name_of_kernel = kernel.name.clone();
    Ok((name_of_kernel, session.compile(name, &Module { kernels: vec![kernel] }, &options)?))
}
