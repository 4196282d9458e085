//! Gives every tensor of a module a layout.

use super::graph::build;
use super::pool::Pool;
use super::price::Prices;
use super::propagate::propagate;
use super::report::{AssignmentReport, FunctionReport};
use super::rewrite::rewrite;
use super::{EngineError, LaunchConfig, Strategy, least, ways};
use tilewright_plan::movement::check_block;
use tilewright_tile::op::Dialects;
use tilewright_tile::op::name::ttg;
use tilewright_tile::{TileModule, TileType};

/// A module in which every tensor has a layout and every conversion is an operation, and what was chosen.
#[derive(Debug, Clone)]
pub struct Assigned {
    /// The module.
    pub module: TileModule,
    /// What was chosen, and why.
    pub report: AssignmentReport,
}

/// Gives every tensor of a verified module a layout. Layouts that types name already stay.
///
/// # Errors
/// [`EngineError`]: a product that the target cannot do, a block that it has not, names of layouts that are none, clusters of
/// blocks.
pub fn assign(module: &TileModule, machine: &LaunchConfig<'_>, strategy: Strategy) -> Result<Assigned, EngineError> {
    let wrong = |message: &str| EngineError::Program { operation: "module".to_owned(), message: message.to_owned() };
    if module.attributes.get("ttg.num-ctas").and_then(tilewright_tile::Attribute::as_integer).unwrap_or(1) != 1 {
        return Err(wrong("programs of several blocks in a cluster get no layouts"));
    }
    check_block(machine.lanes.into(), machine.warps.into(), machine.context.target)?;
    if !machine.warps.is_power_of_two() {
        return Err(wrong("a block has a power of two of warps"));
    }
    let dialects = Dialects::neutral();
    let convert = dialects.get(ttg::CONVERT_LAYOUT).ok_or_else(|| wrong("there is no `ttg.convert_layout`"))?;
    let mut assigned = module.clone();
    let mut functions = Vec::new();
    for function in &mut assigned.functions {
        let pool = Pool::default();
        let graph = build(function, machine, &pool)?;
        let prices = Prices::new(&graph, machine);
        let mut state = propagate(&graph, &prices, machine)?;
        let first = state.total();
        if strategy == Strategy::LeastCost {
            least::improve(&mut state, machine)?;
            ways::take(&mut state, function, machine)?;
        }
        let (made, left) = rewrite(function, &state, machine, convert)?;
        functions.push(FunctionReport::of(function, &made, &state, &left, first, machine));
        *function = made;
    }
    let number = |value: u32| tilewright_tile::Attribute::integer(i64::from(value), TileType::integer(32));
    assigned.attributes.set("ttg.num-warps", number(machine.warps));
    assigned.attributes.set("ttg.threads-per-warp", number(machine.lanes));
    assigned.attributes.set("ttg.num-ctas", number(1));
    Ok(Assigned { module: assigned, report: AssignmentReport { strategy, functions } })
}
