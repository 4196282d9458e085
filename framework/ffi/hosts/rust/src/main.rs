//! A host compiler in Rust: reads a program of a small tile language, asks Tilewright for a layout and for what it takes to change
//! it, compiles the program for the targets that are named, and prints the assembly.
//!
//!     tilewright-host PROGRAM TARGET...

mod language;
mod translate;

use std::error::Error;
use std::process::ExitCode;

use tilewright::kernel::Module;
use tilewright::layout::Dim;
use tilewright::pipeline::program::{ProgramCompiler, ProgramOptions};
use tilewright::pipeline::{LayoutQuestion, Session};
use tilewright::plugin::{Discovery, Registry};
use tilewright::tile::import::Imports;
use tilewright::tile::op::Dialects;
use tilewright::tile::text::print;
use tilewright::vendor::{CompileOptions, Emit};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [program, targets @ ..] = &arguments[..] else {
        return Err("usage: tilewright-host PROGRAM TARGET...".into());
    };
    let program = language::read(&std::fs::read_to_string(program)?)?;
    let dialects = Dialects::neutral();
    let text = print(&translate::module(&program, &dialects)?);
    let mut registry = Registry::new();
    registry.discover(&Discovery::standard())?;
    let session = Session::new(tilewright_targets::catalogue()?, registry);
    for target in targets {
        ask(&session, target)?;
        println!("{}", assembly(&session, target, &text, &dialects)?);
    }
    Ok(())
}

/// A tile of 32 x 32 f32 in the layout that loads rows best, and in the one that stores columns best, with warps as the target
/// has them: what is between them?
fn ask(session: &Session, target: &str) -> Result<(), Box<dyn Error>> {
    let few = session.catalogue().get(target)?.lanes.default / 8;
    let layout = |text: String| -> Result<_, Box<dyn Error>> {
        Ok(LayoutQuestion::from_text(&format!("#ttg.blocked<{{{text}}}>"))?.resolve(
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
    let plan = session.convert(target, &rows, &columns, 32)?;
    println!(
        "; to columns: path {}, {} exchanges, {} + {} wavefronts, {} bytes",
        plan.path,
        plan.counts.exchanges,
        plan.counts.wavefronts_stored,
        plan.counts.wavefronts_loaded,
        plan.shared_bytes
    );
    Ok(())
}

fn assembly(session: &Session, name: &str, text: &str, dialects: &Dialects) -> Result<String, Box<dyn Error>> {
    let target = session.target(name)?;
    let compiler = ProgramCompiler { dialects, imports: &Imports::default(), target: &*target };
    let kernel = compiler.kernel(text, &ProgramOptions::default(), &mut |_| {})?;
    let options = CompileOptions { emit: vec![Emit::Assembly], ..CompileOptions::default() };
    let artifact = session.compile(name, &Module { kernels: vec![kernel] }, &options)?;
    Ok(artifact.text(Emit::Assembly).ok_or("the target's assembly is no text")?.to_owned())
}
