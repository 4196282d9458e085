//! Whole programs on a device.

use tilewright::pipeline::program::{ProgramCompiler, ProgramOptions};

use super::super::executed::on_device;
use super::source::Source;
use crate::{Context, Level, Verdict};

/// Compiles the program, runs its code on the device over the whole grid, and compares every buffer.
pub(super) fn shown(context: &Context, source: &Source) -> Verdict {
    let wrong = |message: String| Verdict::fail(Level::Layout, message);
    let (case, text) = match source.read() {
        Ok(read) => read,
        Err(message) => return wrong(message),
    };
    let (dialects, imports) = (tilewright_dialects::all(), tilewright_dialects::imports());
    let compiler = ProgramCompiler { dialects: &dialects, imports: &imports, target: context.target() };
    let options =
        ProgramOptions { warps: Some(case.warps), entry: Some(case.entry.clone()), ..ProgramOptions::default() };
    let kernel = match compiler.kernel(&text, &options, &mut |_| {}) {
        Ok(kernel) => kernel,
        Err(error) if error.is_unsupported() => return Verdict::unsupported(error.to_string()),
        Err(error) => return wrong(error.to_string()),
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
}
