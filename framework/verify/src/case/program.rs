//! A case's program, compiled and run.

use thiserror::Error;
use tilewright::{ProgramCompiler, ProgramError, ProgramOptions};
use tilewright_emulator::{FaultKind, RunLimits};
use tilewright_kernel::Kernel;
use tilewright_plan::movement::PlanContext;

use super::{Ended, ProgramCase};
use crate::CheckFailure;

/// Why a case's program gives no kernel, or does not run to its end.
#[derive(Debug, Error)]
pub enum RunError {
    /// The program gives no kernel.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The kernel did not run to its end.
    #[error(transparent)]
    Launch(#[from] CheckFailure),
}

impl RunError {
    /// Returns true if nothing is wrong with the program, but the target cannot carry it out or has too little of
    /// something.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::Program(error) => error.is_unsupported(),
            Self::Launch(CheckFailure::Fault(fault)) => matches!(fault.kind, FaultKind::SharedLimit { .. }),
            Self::Launch(_) => false,
        }
    }
}

impl ProgramCase {
    /// Compiles the text of the case's program; warps and stages are the case's if the options leave them open.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub fn compile(
        &self,
        compiler: &ProgramCompiler<'_>,
        text: &str,
        options: &ProgramOptions,
    ) -> Result<Kernel, ProgramError> {
        let options = ProgramOptions {
            warps: options.warps.or(Some(self.warps)),
            entry: Some(self.entry.clone()),
            stages: options.stages.or(self.stages),
            ..options.clone()
        };
        compiler.kernel(text, &options, &mut |_| {})
    }

    /// Compiles the text of the case's program and runs it on the emulator over the whole grid.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn compile_and_run(
        &self,
        compiler: &ProgramCompiler<'_>,
        text: &str,
        options: &ProgramOptions,
        limits: &RunLimits,
    ) -> Result<(Kernel, Ended), RunError> {
        let kernel = self.compile(compiler, text, options)?;
        let context = PlanContext::of(compiler.target.description()).with_instructions(compiler.target.instructions());
        let ended = self.run(&kernel, context, limits)?;
        Ok((kernel, ended))
    }
}
