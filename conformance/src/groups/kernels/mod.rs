//! Group `kernels` of the suite: complete tile programs. Each is compiled from its text, run on the emulator over its
//! whole grid, and compared with its expected buffers; then code is generated. If devices are requested, the code runs
//! too and is compared with the same buffers.
//!
//! The suite carries a set of programs; `--cases DIR` replaces it by folders of other programs.

mod on_device;
mod source;

use std::sync::Arc;

use tilewright::{ProgramCompiler, ProgramOptions};
use tilewright_emulator::RunLimits;
use tilewright_kernel::Module;
use tilewright_verify::case::{CaseRunError, ProgramCase};

use super::artifact::check_compilation;
use super::emulated::merge_verdicts;
use super::executed::device_case;
use crate::{Case, CaseGroup, Context, EvidenceLevel, Status, Verdict};

use source::Source;

/// The group `kernels` of the conformance suite: cases on complete tile programs.
#[derive(Debug, Clone, Copy)]
pub struct Kernels;

/// Max number of operations that the warps of a case execute in all, to end programs that loop forever.
const STEPS: u64 = 4_000_000_000;

impl CaseGroup for Kernels {
    fn name(&self) -> &'static str {
        "kernels"
    }

    fn cases(&self, context: &Context) -> Vec<Case> {
        let sources = match Source::all(context.case_folders()) {
            Ok(sources) => sources,
            // An unreadable folder is reported as a failing case, so that the run does not pass without programs.
            Err(message) => {
                return vec![Case::new("kernels/folder", move |_| Verdict::fail(EvidenceLevel::Layout, &message))];
            }
        };
        let mut cases = Vec::new();
        for source in sources.into_iter().map(Arc::new) {
            if context.tested_device().is_some() {
                let (name, source) = (format!("kernels/device/{}", source.name()), Arc::clone(&source));
                cases.push(device_case(name, move |context| on_device::test_cases(context, &source)));
            }
            let name = format!("kernels/{}", source.name());
            cases.push(Case::new(name, move |context| run_program(context, &source)));
        }
        cases
    }
}

/// Calls `work` with a compiler, a test case and its program's text; returns a failing verdict if they cannot be read.
fn with_program<T>(
    context: &Context,
    source: &Source,
    work: impl FnOnce(&ProgramCompiler<'_>, &ProgramCase, &str) -> T,
) -> Result<T, Verdict> {
    let (case, text) = source.read().map_err(|message| Verdict::fail(EvidenceLevel::Layout, message))?;
    let (dialects, imports) = (tilewright_dialects::all_dialects(), tilewright_dialects::read_import_tables());
    Ok(work(&ProgramCompiler { dialects: &dialects, imports: &imports, target: context.target() }, &case, &text))
}

/// Returns the verdict on a program that cannot be compiled or that faults when run.
fn refused(error: &CaseRunError) -> Verdict {
    match error {
        error if error.is_unsupported() => Verdict::unsupported(error.to_string()),
        CaseRunError::Launch(_) => Verdict::fail(EvidenceLevel::Emulated, error.to_string()),
        error => Verdict::fail(EvidenceLevel::Layout, error.to_string()),
    }
}

/// Compiles a program, runs it on the emulator, and compares its buffers with the expected ones.
fn run_program(context: &Context, source: &Source) -> Verdict {
    merge_verdicts(with_program(context, source, |compiler, case, text| {
        let limits = RunLimits { steps: STEPS, ..RunLimits::default() };
        let (kernel, outcome) = match case.compile_and_run_variant(compiler, text, &ProgramOptions::default(), &limits)
        {
            Ok(ran) => ran,
            Err(error) => return refused(&error),
        };
        if !outcome.differences.is_empty() {
            let differences: Vec<_> = outcome.differences.iter().map(ToString::to_string).collect();
            return Verdict::fail(EvidenceLevel::Emulated, differences.join("; "));
        }
        // The program ran correctly; the detail adds the result of code generation.
        let code = check_compilation(context, &Module { kernels: vec![kernel] });
        match code.status {
            Status::Pass => Verdict::pass(EvidenceLevel::Emulated).with_detail(code.detail),
            _ => code,
        }
    }))
}
