//! Predicts the time of a launch of a compiled program.

use super::compiler::{ProgramCompiler, ProgramOptions};
use super::config::{launch_config, plan_cache};
use super::error::ProgramError;
use tilewright_assign::AssignedModule;
use tilewright_assign::synthesis::{LaunchPredictionInput, PredictedPerformance, predict_launch_time};
use tilewright_kernel::Kernel;
use tilewright_layout::FamilyProviders;
use tilewright_layout::families::NeutralFamilies;

impl ProgramCompiler<'_> {
    /// Predicts the time of a launch of `kernel`, which [`Self::compile_kernel`] has compiled with these options.
    /// `assigned` is the program in the last
    /// [`CompilationStageOutput::Layouts`](super::CompilationStageOutput::Layouts) of that compilation.
    ///
    /// # Errors
    /// [`ProgramError`]: the program has no function, or the performance model has no prediction.
    pub fn predict_launch(
        &self,
        assigned: &AssignedModule,
        kernel: &Kernel,
        options: &ProgramOptions,
        launch: &LaunchPredictionInput,
    ) -> Result<PredictedPerformance, ProgramError> {
        let Some(function) = assigned.module.functions.first() else {
            return Err(ProgramError::Entry("the program has no entry function".to_owned()));
        };
        let families = FamilyProviders::new(vec![&NeutralFamilies, self.target.families()]);
        let plans = plan_cache(self.target);
        let config = launch_config(self.target, Some(&assigned.module), options, &families, &plans)?;
        Ok(predict_launch_time(function, Some(kernel.shared_bytes()), Some(launch), &config)?)
    }
}
