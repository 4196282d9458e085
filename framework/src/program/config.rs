//! The launch configuration of a program: warps of a block, lanes of a warp, registers of a lane.

use super::compiler::ProgramOptions;
use super::error::ProgramError;
use tilewright_assign::LaunchConfig;
use tilewright_layout::FamilyProviders;
use tilewright_plan::PlanCache;
use tilewright_plan::movement::PlanContext;
use tilewright_plugin::Target;
use tilewright_tile::{Attribute, TileModule};

/// The default number of warps of a block.
const WARPS: u32 = 4;

/// The module attribute for the number of registers of a lane, as Triton spells it.
const MAX_REGISTERS: &str = "ttg.maxnreg";

/// Returns the launch configuration of a program. Warps of a block, lanes of a warp and registers of a lane are those
/// of the program's attributes, else of the options, else the defaults; the blocks of a cluster are those of the
/// attributes, else one. `plans` caches the plans of the program.
pub(super) fn launch_config<'m>(
    target: &'m dyn Target,
    module: Option<&TileModule>,
    options: &ProgramOptions,
    families: &'m FamilyProviders<'m>,
    plans: &'m PlanCache<'m>,
) -> Result<LaunchConfig<'m>, ProgramError> {
    let description = target.description();
    let attribute = |name: &str| module.map_or(Ok(None), |module| integer_attribute(module, name));
    let registers = module.and_then(|module| module.attributes.get(MAX_REGISTERS)?.as_integer());
    let registers = match registers.map(u32::try_from) {
        Some(Ok(registers)) if registers > 0 => Some(registers),
        Some(_) => return Err(ProgramError::Entry(format!("`{MAX_REGISTERS}`: expected a positive number"))),
        None => options.registers,
    };
    let memory = if options.static_memory { description.shared.static_bytes } else { description.shared.bytes };
    let context = PlanContext::new(description)
        .with_instructions(target.instructions())
        .with_scratch_bytes(u64::from(memory))
        .with_registers(registers)
        .with_cache(plans)
        .with_disabled(options.disabled);
    let warps = attribute("ttg.num-warps")?.or(options.warps).unwrap_or(WARPS);
    let lanes = attribute("ttg.threads-per-warp")?.or(options.lanes).unwrap_or(description.lanes.default);
    let context = context.with_cluster_blocks(attribute("ttg.num-ctas")?.unwrap_or(1));
    Ok(LaunchConfig { context, families, lanes, warps })
}

/// Returns an empty cache for the plans of one program.
pub(super) fn plan_cache(target: &dyn Target) -> PlanCache<'_> {
    PlanCache::new(target.description(), target.instructions())
}

/// Returns the value of an integer attribute of a module, which must be a power of two; `None` if the attribute is
/// absent.
fn integer_attribute(module: &TileModule, name: &str) -> Result<Option<u32>, ProgramError> {
    let Some(count) = module.attributes.get(name).and_then(Attribute::as_integer) else { return Ok(None) };
    match u32::try_from(count) {
        Ok(count) if count.is_power_of_two() => Ok(Some(count)),
        _ => Err(ProgramError::Entry(format!("`{name}` is {count}: expected a power of two"))),
    }
}
