//! Compiles mutants and classifies the outcomes: a valid kernel, or an error with a reason; anything else is a defect.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use tilewright::{CompilationStageOutput, ProgramCompiler, ProgramError, ProgramOptions};
use tilewright_assign::Strategy;
use tilewright_emulator::RunLimits;
use tilewright_kernel::{Kernel, Module};
use tilewright_lower::LowerErrorReason;
use tilewright_plan::movement::PlanContext;
use tilewright_plugin::{CompileOptions, Target};
use tilewright_tile as tile;
use tilewright_tile::import::ForeignOpReplacements;
use tilewright_tile::op::Dialects;
use tilewright_tile::text;
use tilewright_verify::CheckFailure;
use tilewright_verify::case::ProgramCase;

use super::random::Random;

/// Time limit of a mutant. Programs of this size take milliseconds, or seconds if their tensors have the maximum size.
const TIME: Duration = Duration::from_secs(60);

/// Max number of operations that a run of a mutant executes.
const STEPS: u64 = 400_000;

/// The outcome of compiling a mutant.
#[derive(Debug)]
pub enum Outcome {
    /// The mutant compiles to a valid kernel.
    Compiled,
    /// The mutant is rejected, for this reason.
    Refused(String),
    /// The compiler has a defect, described here: a stage violates its rules.
    Broken(String),
}

/// Compiles mutants and checks every stage.
pub struct MutantCompiler<'a> {
    pub dialects: &'a Dialects,
    pub imports: &'a ForeignOpReplacements,
    pub target: &'a dyn Target,
}

impl MutantCompiler<'_> {
    /// Compiles a program, sometimes generates code, and runs it if it has a test case.
    pub fn outcome(&self, text: &str, case: Option<&ProgramCase>, random: &mut Random) -> Outcome {
        let start = Instant::now();
        let options = ProgramOptions::default()
            .with_strategy(if random.once_in(4) { Strategy::Propagation } else { Strategy::LeastCost })
            .with_warps(random.once_in(4).then(|| 1 << random.below(6)))
            .with_stages(random.once_in(2).then(|| 1 << random.below(3)));
        let (code, runs) = (random.once_in(40), random.once_in(3));
        let all = || {
            let kernel = match self.kernel(text, &options) {
                Ok(kernel) => kernel,
                Err(outcome) => return outcome,
            };
            if let Some(case) = case.filter(|_| runs)
                && let Err(message) = self.run(case, &kernel)
            {
                return Outcome::Broken(message);
            }
            if code {
                let compiled = self.target.compile(&Module { kernels: vec![kernel] }, &CompileOptions::default());
                if let Err(message) = compiled.map_err(|error| error.to_string())
                    && message.contains("panicked")
                {
                    return Outcome::Broken(message);
                }
            }
            Outcome::Compiled
        };
        let outcome =
            catch_unwind(AssertUnwindSafe(all)).unwrap_or_else(|payload| Outcome::Broken(panicked(&*payload)));
        match start.elapsed() {
            taken if taken > TIME => Outcome::Broken(format!("it takes {taken:?}; {outcome:?}")),
            _ => outcome,
        }
    }

    fn kernel(&self, text: &str, options: &ProgramOptions) -> Result<Kernel, Outcome> {
        let compiler = ProgramCompiler { dialects: self.dialects, imports: self.imports, target: self.target };
        let mut wrong = None;
        let mut look = |stage: CompilationStageOutput<'_>| {
            if let Err(message) = self.keeps_rules(stage) {
                wrong.get_or_insert(message);
            }
        };
        let compiled = compiler.compile_kernel(text, options, &mut look);
        if let Some(message) = wrong {
            return Err(Outcome::Broken(message));
        }
        compiled.map_err(|error| {
            let message = error.to_string();
            let in_lowering =
                matches!(&error, ProgramError::Lower { source, .. } if matches!(*source.reason, LowerErrorReason::Malformed(_)));
            match error {
                ProgramError::Kernel(_) => Outcome::Broken(message),
                _ if message.contains("panicked") => Outcome::Broken(message),
                _ if in_lowering => Outcome::Refused(format!("in lowering: {message}")),
                _ => Outcome::Refused(message),
            }
        })
    }

    /// Checks that a stage's module is valid and that its text parses to the same module.
    fn keeps_rules(&self, stage: CompilationStageOutput<'_>) -> Result<(), String> {
        let module = match stage {
            CompilationStageOutput::Read(module) | CompilationStageOutput::Shape(module) => module,
            CompilationStageOutput::Layouts(assigned) => &assigned.module,
            // Imported operations are verified after the shape stage.
            CompilationStageOutput::Sizes(_)
            | CompilationStageOutput::Import(_)
            | CompilationStageOutput::Synthesis(_)
            | CompilationStageOutput::Kernel(_)
            | CompilationStageOutput::Math(_) => {
                return Ok(());
            }
        };
        let name = stage.name();
        tile::verify_transformed_module(module)
            .map_err(|violation| format!("stage `{name}` is invalid: {violation}"))?;
        let written = text::print_module(module);
        let read = text::parse_module(&written, self.dialects)
            .map_err(|error| format!("stage `{name}` does not parse: {error}"))?;
        tile::verify_transformed_module(&read)
            .map_err(|violation| format!("stage `{name}`, read again: {}", violation.to_text_error(&written)))?;
        match text::print_module(&read) == written {
            true => Ok(()),
            false => Err(format!("stage `{name}` parses to another module")),
        }
    }

    /// Runs a kernel on the emulator. Different results and faults are acceptable for a mutant.
    fn run(&self, case: &ProgramCase, kernel: &Kernel) -> Result<(), String> {
        let plan_context = PlanContext::new(self.target.description()).with_instructions(self.target.instructions());
        let limits = RunLimits { steps: STEPS, register_bytes: 1 << 28, ..RunLimits::default() };
        match case.run_emulated(kernel, plan_context, &limits) {
            Err(CheckFailure::Device(error)) => Err(error.to_string()),
            _ => Ok(()),
        }
    }
}

fn panicked(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref().copied());
    format!("panicked: {}", text.unwrap_or("without a text"))
}
