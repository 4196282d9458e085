//! Compiles a tile program to a kernel, stage by stage.

use std::borrow::Cow;

use super::compiler::{ProgramCompiler, ProgramOptions};
use super::error::ProgramError;
use super::machine::machine_of;
use super::sizes::Sized;
use super::stage::Stage;
use tilewright_assign::layouts::LayoutCache;
use tilewright_assign::synthesis::{is_explicit, synthesize};
use tilewright_assign::{self as engine, Assigned, LaunchConfig};
use tilewright_kernel::{self as kernel, Kernel};
use tilewright_layout::FamilySet;
use tilewright_layout::families::Neutral;
use tilewright_lower as lower;
use tilewright_tile::facts::AxisInfoMap;

impl ProgramCompiler<'_> {
    /// The kernel of a program. `seen` is shown every stage.
    ///
    /// # Errors
    /// [`ProgramError`], which names the stage; [`ProgramError::is_unsupported`] tells what a target cannot do from what
    /// is wrong with the program.
    pub fn kernel(
        &self,
        text: &str,
        options: &ProgramOptions,
        seen: &mut dyn FnMut(Stage<'_>),
    ) -> Result<Kernel, ProgramError> {
        let sized = self.sized(text, options)?;
        let (text, known) = match sized {
            Some(Sized { chosen, text, found }) => {
                seen(Stage::Sizes(&chosen));
                (Cow::Owned(text), found)
            }
            None => (Cow::Borrowed(text), None),
        };
        let text = &*text;
        let module = self.neutral(text, options.entry.as_deref(), seen)?;
        let description = self.target.description();
        let families = FamilySet::new(vec![&Neutral, self.target.families()]);
        let machine = machine_of(self.target, Some(&module), options, &families)?;
        let explicit = is_explicit(&module);
        let assigned = if explicit {
            let found = match known {
                Some(found) => found,
                None => synthesize(&module, &machine, options.synthesis)
                    .map_err(|error| ProgramError::synthesis(error, text))?,
            };
            seen(Stage::Synthesis(&found.derivation));
            found.assigned
        } else {
            engine::assign(&module, &machine, options.strategy)?
        };
        let mut kernel = match explicit {
            true => {
                seen(Stage::Layouts(&assigned));
                lowered(&assigned, &machine, text)?
            }
            false => with_stages(&assigned, &machine, options.stages, text, seen)?,
        };
        seen(Stage::Kernel(&kernel));
        tilewright_math::expand(&mut kernel, |function, element| {
            description.function(function.name(), element.name()).is_some()
        });
        seen(Stage::Math(&kernel));
        let verified = kernel::Module { kernels: vec![kernel] };
        kernel::verify(&verified)?;
        verified.kernels.into_iter().next().ok_or_else(|| ProgramError::Entry("there is no kernel".to_owned()))
    }
}

/// The kernel of a program whose layouts are assigned.
fn lowered(assigned: &Assigned, machine: &LaunchConfig<'_>, text: &str) -> Result<Kernel, ProgramError> {
    let Some(function) = assigned.module.functions.first() else {
        return Err(ProgramError::Entry("the program has no function that a launch may begin with".to_owned()));
    };
    let (facts, layouts, plans) =
        (AxisInfoMap::of(function), LayoutCache::new(machine.families), lower::FixedPlans::default());
    let program = lower::LoweringInput { function, facts: &facts, layouts: &layouts, machine, plans: &plans };
    lower::program_kernel(&program).map_err(|error| ProgramError::lowered(error, text))
}

/// The program with its loops in stages, and its kernel. What else shared memory is for is known when it is lowered: where
/// buffers leave no room for that, there are fewer of them, and none at last;
/// then the stage is seen again.
fn with_stages(
    assigned: &Assigned,
    machine: &LaunchConfig<'_>,
    stages: Option<u32>,
    text: &str,
    seen: &mut dyn FnMut(Stage<'_>),
) -> Result<Kernel, ProgramError> {
    let most = u64::from(machine.context.target.shared.bytes);
    let mut required = stages;
    loop {
        let staged = engine::stages::staged(assigned, machine, required)?;
        seen(Stage::Layouts(&staged));
        let loops = staged.report.functions.iter().flat_map(|function| &function.loops);
        let deepest = loops.map(|of| of.stages).max().unwrap_or(1);
        let kernel = lowered(&staged, machine, text)?;
        if kernel.shared_bytes() <= most || deepest < 2 {
            return Ok(kernel);
        }
        required = Some(deepest - 1);
    }
}
