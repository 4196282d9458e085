//! `tilewright explain`: the layouts that the compiler assigned to a tile program, and why.

use clap::Args;

use tilewright::CompilationStage;

use crate::failure::CommandError;
use crate::program::{ProgramRequest, failure};
use crate::{GlobalOptions, input};

/// Options of `tilewright explain`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    request: ProgramRequest,
    /// Print JSON; only for explicit-memory programs (whose buffers in shared memory are written in the program).
    #[arg(long)]
    json: bool,
}

/// Runs `tilewright explain`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::session(global)?;
    let file = &options.request.program;
    let (mut sizes, mut derivation, mut plan) = (None, None, None);
    let (text, kernel) = options.request.kernel(&session, false, &mut |stage| match stage {
        CompilationStage::Sizes(chosen) => sizes = Some(chosen.to_string()),
        CompilationStage::Synthesis(found) => derivation = Some(found.clone()),
        CompilationStage::Layouts(assigned) => plan = Some(assigned.report.to_string()),
        _ => {}
    })?;
    match (sizes, options.json) {
        (Some(sizes), true) => eprint!("{sizes}"),
        (Some(sizes), false) => print!("{sizes}"),
        (None, _) => {}
    }
    // The layouts and the plan exist, and are printed, even if a later stage has failed.
    match (derivation, plan, options.json) {
        (Some(derivation), _, true) => {
            let text =
                serde_json::to_string_pretty(&derivation).map_err(|error| CommandError::Broken(error.to_string()))?;
            println!("{text}");
        }
        (Some(derivation), ..) => print!("{derivation}"),
        (None, Some(_), true) => {
            return Err(CommandError::Input(format!(
                "{}: it is not an explicit-memory program, so no layout was derived; leave out --json",
                file.display()
            )));
        }
        (None, Some(plan), false) => print!("{plan}"),
        (None, None, _) => {}
    }
    kernel.map(drop).map_err(|error| failure(file, &text, &error))
}
