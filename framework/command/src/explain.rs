//! `tilewright explain`: how the layouts of a tile program were found.

use std::path::PathBuf;

use clap::Args;

use tilewright::pipeline::program::{ProgramCompiler, Stage};

use crate::failure::Failure;
use crate::program::{Compiling, failure};
use crate::{Global, input};

/// What to explain.
#[derive(Debug, Args)]
pub struct Options {
    /// The program: one that says where tiles lie, or any other.
    program: PathBuf,
    /// The target.
    #[arg(long)]
    target: String,
    /// The function that a launch begins with; may be left out where there is one alone.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    #[command(flatten)]
    compiling: Compiling,
    /// As JSON; of programs that say where tiles lie alone.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(global: &Global, options: &Options) -> Result<(), Failure> {
    let session = input::session(global)?;
    let target = session.target(&options.target)?;
    let file = &options.program;
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::Input(format!("cannot read {}: {error}", file.display())))?;
    let (dialects, imports) = (tilewright_dialects::all(), tilewright_dialects::imports());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: &*target };
    let compiling = options.compiling.options(options.entry.as_deref());
    let (mut derivation, mut plan) = (None, None);
    let kernel = compiler.kernel(&text, &compiling, &mut |stage| match stage {
        Stage::Synthesis(found) => derivation = Some(found.clone()),
        Stage::Layouts(assigned) => plan = Some(assigned.report.to_string()),
        _ => {}
    });
    // What was found before a later stage failed is there all the same.
    match (derivation, plan, options.json) {
        (Some(derivation), _, true) => {
            let text = serde_json::to_string_pretty(&derivation).map_err(|error| Failure::Broken(error.to_string()))?;
            println!("{text}");
        }
        (Some(derivation), ..) => print!("{derivation}"),
        (None, Some(_), true) => {
            return Err(Failure::Input(format!(
                "{}: it does not say where tiles lie, so that nothing was derived; leave out --json",
                file.display()
            )));
        }
        (None, Some(plan), false) => print!("{plan}"),
        (None, None, _) => {}
    }
    kernel.map(drop).map_err(|error| failure(file, &text, &error))
}
