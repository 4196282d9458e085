//! Whole programs on a device.

use tilewright::pipeline::program::ProgramOptions;

use super::super::executed::on_device;
use super::source::Source;
use super::{refused, with_program};
use crate::{Context, Level, Verdict};

/// Compiles the program, runs its code on the device over the whole grid, and compares every buffer.
pub(super) fn shown(context: &Context, source: &Source) -> Verdict {
    with_program(context, source, |compiler, case, text| {
        let kernel = match compiler.kernel_of(case, text, &ProgramOptions::default()) {
            Ok(kernel) => kernel,
            Err(error) => return refused(&error),
        };
        let mut differences = Vec::new();
        let verdict = on_device(context, |device| {
            differences = case.run_on(device, context.target(), kernel)?;
            Ok(())
        });
        if differences.is_empty() {
            return verdict;
        }
        let differences: Vec<_> = differences.iter().map(ToString::to_string).collect();
        Verdict::fail(Level::Device, format!("{}; {}", differences.join("; "), verdict.detail))
    })
}
