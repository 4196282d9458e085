//! Execution of the kernel that was compiled from a case's program.

use super::compare::BufferMismatchSummary;
use super::{CaseValue, ProgramCase};
use crate::check::emulate;
use crate::{CheckFailure, TestCase};
use tilewright::run::bind_arguments;
use tilewright_emulator::{RunLimits, RunReport};
use tilewright_kernel::Kernel;
use tilewright_plan::movement::PlanContext;

/// The result of a run that completed.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseRunResult {
    /// Counts and other statistics of the run.
    pub report: RunReport,
    /// Buffers that differ from the expected contents; empty if all are correct.
    pub differences: Vec<BufferMismatchSummary>,
}

impl ProgramCase {
    /// Runs a kernel on the emulator over the whole grid, and compares the buffers. A cluster of as many blocks as the
    /// kernel has (`kernel.launch.blocks`) executes each program of the grid. Buffers are at distant addresses, aligned
    /// to 256 bytes.
    ///
    /// # Errors
    /// [`CheckFailure`] if the kernel takes other arguments, or does not complete.
    pub fn run_emulated(
        &self,
        kernel: &Kernel,
        context: PlanContext<'_>,
        limits: &RunLimits,
    ) -> Result<CaseRunResult, CheckFailure> {
        let (report, differences) = emulate(self.to_test_case(kernel.clone())?, context, limits)?;
        Ok(CaseRunResult { report, differences })
    }

    /// Creates a test case from a kernel that was compiled from the case's program.
    ///
    /// # Errors
    /// [`CheckFailure::Arguments`] if the grid has too many blocks, or the kernel takes other arguments than the case
    /// has.
    pub fn to_test_case(&self, kernel: Kernel) -> Result<TestCase, CheckFailure> {
        let grid = self.blocks(&kernel).map_err(CheckFailure::Arguments)?;
        let arguments = self.given(&kernel).map_err(CheckFailure::Arguments)?;
        Ok(TestCase::new(kernel, grid, arguments, self.buffers.clone()))
    }

    /// Returns the number of blocks along the three axes of the grid: as many as programs, but along x multiplied by
    /// the blocks of a program's cluster. An error if that number exceeds 32 bits.
    fn blocks(&self, kernel: &Kernel) -> Result<[u32; 3], String> {
        let [x, y, z] = self.grid;
        let of_program = kernel.launch.blocks;
        let x = x.checked_mul(of_program).ok_or_else(|| format!("{x} programs of {of_program} blocks are too many"))?;
        Ok([x, y, z])
    }

    /// Returns the argument for each kernel parameter: the case's arguments in order, then the arguments that a launch
    /// derives from them, such as tensor maps.
    fn given(&self, kernel: &Kernel) -> Result<Vec<CaseValue>, String> {
        let given: Vec<_> = self.arguments.iter().map(|argument| (argument.name.as_str(), argument.value)).collect();
        let bytes: Vec<_> = self.buffers.iter().map(|buffer| buffer.before.len() as u64).collect();
        bind_arguments(kernel, &given, &bytes)
    }
}
