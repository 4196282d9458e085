//! Compilation and execution of a case's program.

use thiserror::Error;
use tilewright::{ProgramCompiler, ProgramError, ProgramOptions};
use tilewright_emulator::{FaultKind, RunLimits};
use tilewright_kernel::{Kernel, Module};
use tilewright_plan::movement::PlanContext;
use tilewright_plugin::{Artifact, CompileOptions};

use super::{CaseRunResult, ProgramCase};
use crate::{CheckFailure, TestLaunch};

/// An error of compiling or running a case's program.
#[derive(Debug, Error)]
pub enum CaseRunError {
    /// The program cannot be compiled.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The kernel did not complete.
    #[error(transparent)]
    Launch(#[from] CheckFailure),
}

impl CaseRunError {
    /// Whether the program is valid, but the target does not support it or lacks a resource for it.
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
    /// Compiles `text`, a variant of the case's program. If the options do not set warps or stages, those of the case
    /// are used.
    ///
    /// # Errors
    /// [`ProgramError`] if the text is no valid program, or cannot be compiled for the target.
    pub fn compile_variant(
        &self,
        compiler: &ProgramCompiler<'_>,
        text: &str,
        options: &ProgramOptions,
    ) -> Result<Kernel, ProgramError> {
        let options = options
            .clone()
            .with_warps(options.warps.unwrap_or(self.warps))
            .with_entry(&self.entry)
            .with_stages(options.stages.or(self.stages));
        compiler.compile_kernel(text, &options, &mut |_| {})
    }

    /// Compiles `text`, a variant of the case's program, to the forms of `options`; returns the launch and its code.
    /// Inline assembly in the target's own language stays.
    ///
    /// # Errors
    /// [`CaseRunError::Program`] if the text does not compile to a kernel, [`CaseRunError::Launch`] if the kernel takes
    /// other arguments or the target does not compile it.
    pub fn compile_variant_launch(
        &self,
        compiler: &ProgramCompiler<'_>,
        text: &str,
        options: &CompileOptions,
    ) -> Result<(TestLaunch, Artifact), CaseRunError> {
        let test = self.to_test_case(self.compile_variant(
            compiler,
            text,
            &ProgramOptions::default().with_disabled(options.disabled).with_kept_assembly(true),
        )?)?;
        let module = Module { kernels: vec![test.kernel] };
        let artifact = compiler.target.compile(&module, options).map_err(CheckFailure::from)?;
        Ok((test.launch, artifact))
    }

    /// Compiles `text`, a variant of the case's program, and runs it on the emulator over the whole grid.
    ///
    /// # Errors
    /// [`CaseRunError::Program`] if the text does not compile to a kernel, [`CaseRunError::Launch`] if the run fails.
    pub fn compile_and_run_variant(
        &self,
        compiler: &ProgramCompiler<'_>,
        text: &str,
        options: &ProgramOptions,
        limits: &RunLimits,
    ) -> Result<(Kernel, CaseRunResult), CaseRunError> {
        let kernel = self.compile_variant(compiler, text, options)?;
        let context = PlanContext::new(compiler.target.description()).with_instructions(compiler.target.instructions());
        let outcome = self.run_emulated(&kernel, context, limits)?;
        Ok((kernel, outcome))
    }
}
