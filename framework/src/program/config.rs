//! The launch configuration of a program: warps of a block and lanes of a warp.

use super::compiler::ProgramOptions;
use super::error::ProgramError;
use tilewright_assign::LaunchConfig;
use tilewright_layout::FamilySet;
use tilewright_plan::movement::PlanContext;
use tilewright_plugin::Target;
use tilewright_tile::{Attribute, TileModule};

/// The default number of warps of a block.
const WARPS: u32 = 4;

/// Returns the numbers of warps and lanes by the program's attributes, else by the options.
pub(super) fn launch_config<'m>(
    target: &'m dyn Target,
    module: Option<&TileModule>,
    options: &ProgramOptions,
    families: &'m FamilySet<'m>,
) -> Result<LaunchConfig<'m>, ProgramError> {
    let description = target.description();
    let memory = if options.static_memory { description.shared.static_bytes } else { description.shared.bytes };
    let context =
        PlanContext::new(description).with_instructions(target.instructions()).with_scratch(u64::from(memory));
    let attribute = |name: &str| module.map_or(Ok(None), |module| integer_attribute(module, name));
    let warps = attribute("ttg.num-warps")?.or(options.warps).unwrap_or(WARPS);
    let lanes = attribute("ttg.threads-per-warp")?.or(options.lanes).unwrap_or(description.lanes.default);
    Ok(LaunchConfig { context, families, lanes, warps })
}

/// Returns the value of an integer attribute of a module; `None` if the attribute is absent.
fn integer_attribute(module: &TileModule, name: &str) -> Result<Option<u32>, ProgramError> {
    let Some(count) = module.attributes.get(name).and_then(Attribute::as_integer) else { return Ok(None) };
    match u32::try_from(count) {
        Ok(count) if count.is_power_of_two() => Ok(Some(count)),
        _ => Err(ProgramError::Entry(format!("`{name}` is {count}: expected a power of two"))),
    }
}
