//! `tilewright explain`: the layouts that the compiler assigned to a tile program, and why.

use std::path::PathBuf;

use clap::Args;

use tilewright::{CompilationStageOutput, ProgramError, Session};
use tilewright_assign::AssignedModule;
use tilewright_assign::synthesis::{LaunchPredictionInput, PredictedPerformance};
use tilewright_kernel::Kernel;

use crate::failure::CommandError;
use crate::launch::read_launch;
use crate::program::{ProgramRequest, to_command_error};
use crate::{GlobalOptions, input};

/// Options of `tilewright explain`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    request: ProgramRequest,
    /// Also predict the time of a launch, whose grid, arguments and buffers a case states. With --json, print only the
    /// prediction.
    #[arg(long, value_name = "CASE")]
    launch: Option<PathBuf>,
    /// Print JSON: the derivation of an explicit-memory program (whose buffers in shared memory are written in the
    /// program), or the report of layout assignment.
    #[arg(long)]
    json: bool,
}

/// Runs `tilewright explain`.
pub fn run(global: &GlobalOptions, options: &Options) -> Result<(), CommandError> {
    let session = input::open_session(global)?;
    let file = &options.request.program;
    let launch = options.launch.as_deref().map(read_launch).transpose()?;
    let (mut sizes, mut derivation, mut plan, mut last) = (None, None, None, None);
    let (text, kernel) = options.request.compile_kernel(&session, false, &mut |stage| match stage {
        CompilationStageOutput::Sizes(chosen) => sizes = Some(chosen.to_string()),
        CompilationStageOutput::Synthesis(found) => derivation = Some(found.clone()),
        CompilationStageOutput::Layouts(assigned) => {
            plan = Some(assigned.report.clone());
            last = Some(assigned.clone());
        }
        _ => {}
    })?;
    if let (Some(launch), true) = (&launch, options.json) {
        let prediction = options.predict(&session, (&text, kernel), last.as_ref(), launch)?;
        println!("{}", complete(serde_json::to_string_pretty(&prediction))?);
        return Ok(());
    }
    match (sizes, options.json) {
        (Some(sizes), true) => eprint!("{sizes}"),
        (Some(sizes), false) => print!("{sizes}"),
        (None, _) => {}
    }
    // The layouts and the plan exist, and are printed, even if a later stage has failed.
    match (derivation, plan, options.json) {
        (Some(derivation), _, true) => println!("{}", complete(serde_json::to_string_pretty(&derivation))?),
        (Some(derivation), ..) => {
            print!("{derivation}");
            // The loops of Triton's loads, which are pipelined after synthesis.
            last.iter().flat_map(|assigned| assigned.report.pipelined_loops()).for_each(|of| print!("{of}"));
        }
        (None, Some(plan), true) => println!("{}", complete(serde_json::to_string_pretty(&plan))?),
        (None, Some(plan), false) => print!("{plan}"),
        (None, None, _) => {}
    }
    let Some(launch) = launch else { return kernel.map(drop).map_err(|error| to_command_error(file, &text, &error)) };
    print!("{}", options.predict(&session, (&text, kernel), last.as_ref(), &launch)?);
    Ok(())
}

impl Options {
    /// Predicts the time of a launch of the kernel; `assigned` is the kernel's program with layouts, `None` if the
    /// compilation failed before layouts were assigned.
    fn predict(
        &self,
        session: &Session,
        (text, kernel): (&str, Result<Kernel, ProgramError>),
        assigned: Option<&AssignedModule>,
        launch: &LaunchPredictionInput,
    ) -> Result<PredictedPerformance, CommandError> {
        let wrong = |error: ProgramError| to_command_error(&self.request.program, text, &error);
        let kernel = kernel.map_err(wrong)?;
        let missing = || CommandError::Broken("the compiler has shown no program with layouts".to_owned());
        self.request.predict_launch(session, assigned.ok_or_else(missing)?, &kernel, launch)?.map_err(wrong)
    }
}

fn complete(json: serde_json::Result<String>) -> Result<String, CommandError> {
    json.map_err(|error| CommandError::Broken(error.to_string()))
}
