//! Compiles a tile program to a kernel, stage by stage.

use super::error::ProgramError;
use super::sizes::Sized;
use super::stage::Stage;
use std::borrow::Cow;
use tilewright_assign::layouts::Layouts;
use tilewright_assign::synthesis::{self, is_explicit, synthesize};
use tilewright_assign::{self as engine, Assigned, Machine, Strategy};
use tilewright_kernel::{self as kernel, Kernel};
use tilewright_layout::FamilySet;
use tilewright_layout::families::Neutral;
use tilewright_lower as lower;
use tilewright_plan::movement::Means;
use tilewright_plugin::Target;
use tilewright_tile::facts::Facts;
use tilewright_tile::import::{Imports, import};
use tilewright_tile::op::Dialects;
use tilewright_tile::transform::{at_once, inline_calls, remove_unused, scaled_before, structure};
use tilewright_tile::{self as tile, Attribute, Module};

/// What tile programs are compiled with and for.
#[derive(Clone, Copy)]
pub struct ProgramCompiler<'a> {
    /// The operations that programs may use.
    pub dialects: &'a Dialects,
    /// What foreign words mean.
    pub imports: &'a Imports,
    /// The target.
    pub target: &'a dyn Target,
}

/// How a program is compiled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramOptions {
    /// Warps of a block; where the program itself says how many, it is asked. Four where neither says.
    pub warps: Option<u32>,
    /// Lanes of a warp; the target's default where neither says.
    pub lanes: Option<u32>,
    /// The function that a launch begins with; may be left out where there is one alone.
    pub entry: Option<String>,
    /// How layouts are chosen.
    pub strategy: Strategy,
    /// Stages of loops whose loads go ahead of what uses them, at most; one is none ahead. Where nobody says, what loops
    /// themselves ask for, else what [`tilewright_assign::stages`] takes.
    pub stages: Option<u32>,
    /// What synthesis may do for programs that say where tiles lie.
    pub synthesis: synthesis::Options,
    /// Sizes that the program leaves open, by name, with the number that each shall be.
    pub sizes: Vec<(String, u64)>,
}

/// The warps of a block where nobody says.
const WARPS: u32 = 4;

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

    /// The program as one function of neutral words.
    pub(super) fn neutral(
        &self,
        text: &str,
        entry: Option<&str>,
        seen: &mut dyn FnMut(Stage<'_>),
    ) -> Result<Module, ProgramError> {
        let in_text = |violation: tile::Violation| ProgramError::Text(violation.in_text(text));
        let module = tile::text::parse(text, self.dialects)?;
        tile::verify(&module).map_err(in_text)?;
        seen(Stage::Read(&module));
        let module = import(&module, self.imports, self.dialects).map_err(in_text)?;
        seen(Stage::Import(&module));
        let module = at_once(&module, self.dialects).map_err(in_text)?;
        let module = scaled_before(&module, self.dialects).map_err(in_text)?;
        let module = structure(&module, self.dialects).map_err(in_text)?;
        let mut module = inline_calls(&module, self.dialects).map_err(in_text)?;
        keep(&mut module, entry)?;
        remove_unused(&mut module);
        tile::verify(&module).map_err(in_text)?;
        seen(Stage::Shape(&module));
        Ok(module)
    }
}

/// The kernel of a program whose layouts are assigned.
fn lowered(assigned: &Assigned, machine: &Machine<'_>, text: &str) -> Result<Kernel, ProgramError> {
    let Some(function) = assigned.module.functions.first() else {
        return Err(ProgramError::Entry("the program has no function that a launch may begin with".to_owned()));
    };
    let (facts, layouts) = (Facts::of(function), Layouts::new(machine.families));
    let program = lower::Program { function, facts: &facts, layouts: &layouts, machine };
    lower::program_kernel(&program).map_err(|error| ProgramError::lowered(error, text))
}

/// The program with its loops in stages, and its kernel. What else shared memory is for is known when it is lowered: where
/// buffers leave no room for that, there are fewer of them, and none at last;
/// then the stage is seen again.
fn with_stages(
    assigned: &Assigned,
    machine: &Machine<'_>,
    stages: Option<u32>,
    text: &str,
    seen: &mut dyn FnMut(Stage<'_>),
) -> Result<Kernel, ProgramError> {
    let most = u64::from(machine.means.target.shared.bytes);
    let mut wanted = stages;
    loop {
        let staged = engine::stages::staged(assigned, machine, wanted)?;
        seen(Stage::Layouts(&staged));
        let loops = staged.report.functions.iter().flat_map(|function| &function.loops);
        let deepest = loops.map(|of| of.stages).max().unwrap_or(1);
        let kernel = lowered(&staged, machine, text)?;
        if kernel.shared_bytes() <= most || deepest < 2 {
            return Ok(kernel);
        }
        wanted = Some(deepest - 1);
    }
}

/// Who executes a program: warps and lanes as it says itself, else as it is asked.
pub(super) fn machine_of<'m>(
    target: &'m dyn Target,
    module: Option<&Module>,
    options: &ProgramOptions,
    families: &'m FamilySet<'m>,
) -> Result<Machine<'m>, ProgramError> {
    let description = target.description();
    let means = Means::of(description).with_instructions(target.instructions());
    let own = |name: &str| module.map_or(Ok(None), |module| said(module, name));
    let warps = own("ttg.num-warps")?.or(options.warps).unwrap_or(WARPS);
    let lanes = own("ttg.threads-per-warp")?.or(options.lanes).unwrap_or(description.lanes.default);
    Ok(Machine { means, families, lanes, warps })
}

/// The number that a program itself says, where it says one.
fn said(module: &Module, name: &str) -> Result<Option<u32>, ProgramError> {
    let Some(count) = module.attributes.get(name).and_then(Attribute::as_integer) else { return Ok(None) };
    match u32::try_from(count) {
        Ok(count) if count.is_power_of_two() => Ok(Some(count)),
        _ => Err(ProgramError::Entry(format!("`{name}` is {count}: expected a power of two"))),
    }
}

/// Leaves the entry alone.
fn keep(module: &mut Module, entry: Option<&str>) -> Result<(), ProgramError> {
    let names: Vec<_> = module.entries().map(|function| function.name.to_string()).collect();
    let listed = || names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let name = match (entry, &names[..]) {
        (Some(name), _) if names.iter().any(|known| known == name) => name.to_owned(),
        (Some(name), _) => {
            return Err(ProgramError::Entry(format!(
                "there is no function `{name}` to begin with; there are {}",
                listed()
            )));
        }
        (None, [name]) => name.clone(),
        (None, []) => return Err(ProgramError::Entry("there is no function to begin with".to_owned())),
        (None, _) => return Err(ProgramError::Entry(format!("name the function to begin with, one of {}", listed()))),
    };
    module.functions.retain(|function| *function.name == *name);
    Ok(())
}
