//! What becomes of a mutant: a kernel that keeps the rules, or an error that says why not; never anything else.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use tilewright::{ProgramCompiler, ProgramError, ProgramOptions, Stage};
use tilewright_assign::Strategy;
use tilewright_emulator::RunLimits;
use tilewright_kernel::{Kernel, Module};
use tilewright_lower::Reason;
use tilewright_plan::movement::PlanContext;
use tilewright_plugin::{CompileOptions, Target};
use tilewright_tile as tile;
use tilewright_tile::import::Imports;
use tilewright_tile::op::Dialects;
use tilewright_tile::text;
use tilewright_verify::CheckFailure;
use tilewright_verify::case::ProgramCase;

use super::random::Random;

/// The time that a mutant has. Programs of this size take milliseconds; those whose tensors became as large as they may be,
/// seconds.
const TIME: Duration = Duration::from_secs(60);

/// Operations that a run may take.
const STEPS: u64 = 400_000;

/// What may become of a mutant.
#[derive(Debug)]
pub enum Outcome {
    /// It is a kernel.
    Compiled,
    /// It is refused, where it stands or as a whole.
    Refused(String),
    /// What none may be.
    Broken(String),
}

/// What mutants are compiled with.
pub struct Trial<'a> {
    pub dialects: &'a Dialects,
    pub imports: &'a Imports,
    pub target: &'a dyn Target,
}

impl Trial<'_> {
    /// Compiles a program, then sometimes makes code of it, and runs it where a case says with what.
    pub fn outcome(&self, text: &str, case: Option<&ProgramCase>, random: &mut Random) -> Outcome {
        let start = Instant::now();
        let options = ProgramOptions {
            strategy: if random.once_in(4) { Strategy::Propagation } else { Strategy::LeastCost },
            warps: random.once_in(4).then(|| 1 << random.below(6)),
            stages: random.once_in(2).then(|| 1 << random.below(3)),
            ..ProgramOptions::default()
        };
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
        let mut look = |stage: Stage<'_>| {
            if let Err(message) = self.keeps_rules(stage) {
                wrong.get_or_insert(message);
            }
        };
        let compiled = compiler.kernel(text, options, &mut look);
        if let Some(message) = wrong {
            return Err(Outcome::Broken(message));
        }
        compiled.map_err(|error| {
            let message = error.to_string();
            let late =
                matches!(&error, ProgramError::Lower { source, .. } if matches!(*source.reason, Reason::Malformed(_)));
            match error {
                ProgramError::Kernel(_) => Outcome::Broken(message),
                _ if message.contains("panicked") => Outcome::Broken(message),
                _ if late => Outcome::Refused(format!("late: {message}")),
                _ => Outcome::Refused(message),
            }
        })
    }

    /// Whether a stage is what the next one may take, and is read as it is written.
    fn keeps_rules(&self, stage: Stage<'_>) -> Result<(), String> {
        let module = match stage {
            Stage::Read(module) | Stage::Shape(module) => module,
            Stage::Layouts(assigned) => &assigned.module,
            // What foreign words become is verified with the shape.
            Stage::Sizes(_) | Stage::Import(_) | Stage::Synthesis(_) | Stage::Kernel(_) | Stage::Math(_) => {
                return Ok(());
            }
        };
        let name = stage.name();
        tile::verify(module).map_err(|violation| format!("stage `{name}` keeps not the rules: {violation}"))?;
        let written = text::print(module);
        let read =
            text::parse(&written, self.dialects).map_err(|error| format!("stage `{name}` is not read: {error}"))?;
        tile::verify(&read)
            .map_err(|violation| format!("stage `{name}`, read again: {}", violation.in_text(&written)))?;
        match text::print(&read) == written {
            true => Ok(()),
            false => Err(format!("stage `{name}` is read as something else")),
        }
    }

    /// Runs a kernel; that it does something else now, or what it may not, is no fault.
    fn run(&self, case: &ProgramCase, kernel: &Kernel) -> Result<(), String> {
        let plan_context = PlanContext::of(self.target.description()).with_instructions(self.target.instructions());
        let limits = RunLimits { steps: STEPS, register_bytes: 1 << 28 };
        match case.run(kernel, plan_context, &limits) {
            Err(CheckFailure::Device(error)) => Err(error.to_string()),
            _ => Ok(()),
        }
    }
}

fn panicked(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref().copied());
    format!("panicked: {}", text.unwrap_or("without a text"))
}
