//! `tilewright explain`: how the layouts of a tile program were found.

use clap::Args;

use tilewright::Stage;

use crate::failure::CommandError;
use crate::program::{ProgramRequest, failure};
use crate::{GlobalOptions, input};

/// What to explain.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    asked: ProgramRequest,
    /// As JSON; of programs that say where tiles lie alone.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::session(global)?;
    let file = &options.asked.program;
    let (mut sizes, mut derivation, mut plan) = (None, None, None);
    let (text, kernel) = options.asked.kernel(&session, &mut |stage| match stage {
        Stage::Sizes(chosen) => sizes = Some(chosen.to_string()),
        Stage::Synthesis(found) => derivation = Some(found.clone()),
        Stage::Layouts(assigned) => plan = Some(assigned.report.to_string()),
        _ => {}
    })?;
    match (sizes, options.json) {
        (Some(sizes), true) => eprint!("{sizes}"),
        (Some(sizes), false) => print!("{sizes}"),
        (None, _) => {}
    }
    // What was found before a later stage failed is there all the same.
    match (derivation, plan, options.json) {
        (Some(derivation), _, true) => {
            let text =
                serde_json::to_string_pretty(&derivation).map_err(|error| CommandError::Broken(error.to_string()))?;
            println!("{text}");
        }
        (Some(derivation), ..) => print!("{derivation}"),
        (None, Some(_), true) => {
            return Err(CommandError::Input(format!(
                "{}: it does not say where tiles lie, so that nothing was derived; leave out --json",
                file.display()
            )));
        }
        (None, Some(plan), false) => print!("{plan}"),
        (None, None, _) => {}
    }
    kernel.map(drop).map_err(|error| failure(file, &text, &error))
}
