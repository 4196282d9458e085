//! Group `kernels`: whole programs. Each is compiled from its text, run by the emulator over its grid, and held against
//! what its buffers must hold; then code is made of it. Where devices are asked for, that code runs too, and what it
//! leaves is held against the same.
//!
//! The suite carries a set of its own; `--cases DIR` names folders of more, which take the place of it.

mod on_device;
mod source;

use std::sync::Arc;

use tilewright::{ProgramCompiler, ProgramOptions};
use tilewright_emulator::RunLimits;
use tilewright_kernel::Module;
use tilewright_verify::case::{ProgramCase, RunError};

use super::artifact::compiled;
use super::emulated::either;
use super::executed::device_case;
use crate::{Case, Context, Group, Level, Status, Verdict};

use source::Source;

/// The group.
#[derive(Debug, Clone, Copy)]
pub struct Kernels;

/// Operations of all warps that one case may take.
const STEPS: u64 = 4_000_000_000;

impl Group for Kernels {
    fn name(&self) -> &'static str {
        "kernels"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let sources = match Source::all(context.cases()) {
            Ok(sources) => sources,
            // A folder that cannot be read is seen as a case that fails.
            Err(message) => return vec![Case::new("kernels/folder", move |_| Verdict::fail(Level::Layout, &message))],
        };
        let mut cases = Vec::new();
        for source in sources.into_iter().map(Arc::new) {
            if context.devices().is_some() {
                let (name, source) = (format!("kernels/device/{}", source.name()), Arc::clone(&source));
                cases.push(device_case(name, move |context| on_device::test_cases(context, &source)));
            }
            let name = format!("kernels/{}", source.name());
            cases.push(Case::new(name, move |context| shown(context, &source)));
        }
        cases
    }
}

/// Does something with a case and its program's text, if they can be read.
fn with_program<T>(
    context: &Context,
    source: &Source,
    work: impl FnOnce(&ProgramCompiler<'_>, &ProgramCase, &str) -> T,
) -> Result<T, Verdict> {
    let (case, text) = source.read().map_err(|message| Verdict::fail(Level::Layout, message))?;
    let (dialects, imports) = (tilewright_dialects::all(), tilewright_dialects::imports());
    Ok(work(&ProgramCompiler { dialects: &dialects, imports: &imports, target: context.target() }, &case, &text))
}

/// The verdict on a program of which no kernel is made, or that does what it may not.
fn refused(error: &RunError) -> Verdict {
    match error {
        error if error.is_unsupported() => Verdict::unsupported(error.to_string()),
        RunError::Launch(_) => Verdict::fail(Level::Emulated, error.to_string()),
        error => Verdict::fail(Level::Layout, error.to_string()),
    }
}

/// What a case shows of the target.
fn shown(context: &Context, source: &Source) -> Verdict {
    either(with_program(context, source, |compiler, case, text| {
        let limits = RunLimits { steps: STEPS, ..RunLimits::default() };
        let (kernel, ended) = match case.compile_and_run(compiler, text, &ProgramOptions::default(), &limits) {
            Ok(ran) => ran,
            Err(error) => return refused(&error),
        };
        if !ended.differences.is_empty() {
            let differences: Vec<_> = ended.differences.iter().map(ToString::to_string).collect();
            return Verdict::fail(Level::Emulated, differences.join("; "));
        }
        // It did what it must; what code comes of it is said beside.
        let code = compiled(context, &Module { kernels: vec![kernel] });
        match code.status {
            Status::Pass => Verdict::pass(Level::Emulated).with_detail(code.detail),
            _ => code,
        }
    }))
}
