//! Assigns a layout to every tensor of a module.

use super::dot_alternatives::TriedPlans;
use super::graph::build;
use super::interner::Interner;
use super::price::Prices;
use super::propagate::propagate;
use super::report::{AssignmentReport, FunctionReport};
use super::rewrite::rewrite;
use super::{
    AssignmentError, AssignmentOptions, LaunchConfig, Strategy, dot_alternatives, local_search, operand_orders,
    operand_words, replica_stores, store_swaps,
};
use tilewright_plan::movement::{MovementError, check_block_fits_target};
use tilewright_target::Optimization;
use tilewright_tile::op::Dialects;
use tilewright_tile::op::name::ttg;
use tilewright_tile::{TileModule, TileType};

/// A module whose tensors all have layouts and whose conversions are all explicit (`ttg.convert_layout`), plus the
/// report.
#[derive(Debug, Clone)]
pub struct AssignedModule {
    /// The module with layouts in its types.
    pub module: TileModule,
    /// The report: the chosen layouts and conversions, with their costs.
    pub report: AssignmentReport,
}

/// Assigns a layout to every tensor of a verified module. Layouts that types name already are kept.
///
/// # Errors
/// [`AssignmentError`] if the target has no instruction for a dot, if it does not support the size of the block or of
/// the cluster, if the number of warps is not a power of two, or if a type's layout does not resolve or is for other
/// threads than the launch.
///
/// # Examples
/// ```
/// use tilewright_assign::{LaunchConfig, Strategy, assign_layouts};
/// use tilewright_layout::families::NeutralFamilies;
/// use tilewright_tile::{op::Dialects, text};
/// # let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/src/test_targets/small.toml"));
/// # let target = tilewright_target::TargetDescription::from_toml("small.toml", text)?;
/// let source = "tt.func @iota(%out: !tt.ptr<i32>) {
///   %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
///   %base = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
///   %to = tt.addptr %base, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
///   tt.store %to, %i : tensor<64x!tt.ptr<i32>>
///   tt.return
/// }";
/// let module = text::parse_module(source, &Dialects::neutral())?;
/// let machine = LaunchConfig { context: (&target).into(), families: &NeutralFamilies, lanes: 8, warps: 2 };
/// let assigned = assign_layouts(&module, &machine, Strategy::default())?;
/// // Every tensor has a layout, and none is converted: the store's.
/// assert!(text::print_module(&assigned.module).contains("#ttg."));
/// assert!(assigned.report.functions[0].conversions.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn assign_layouts(
    module: &TileModule,
    config: &LaunchConfig<'_>,
    options: impl Into<AssignmentOptions>,
) -> Result<AssignedModule, AssignmentError> {
    let AssignmentOptions { strategy, stages } = options.into();
    let wrong =
        |message: &str| AssignmentError::Program { operation: "module".to_owned(), message: message.to_owned() };
    check_cluster(module, config)?;
    check_block_fits_target(config.lanes.into(), config.warps.into(), config.context.target)?;
    if !config.warps.is_power_of_two() {
        return Err(wrong("the number of warps of a block must be a power of two"));
    }
    let dialects = Dialects::neutral();
    let convert = dialects
        .find_definition(ttg::CONVERT_LAYOUT)
        .ok_or_else(|| wrong("the dialects have no `ttg.convert_layout`"))?;
    let mut assigned = module.clone();
    let mut functions = Vec::new();
    for function in &mut assigned.functions {
        if config.context.enables(Optimization::OperandOrders) {
            operand_orders::record(function);
        }
        let interner = Interner::default();
        let graph = build(function, config, &interner)?;
        let prices = Prices::new(&graph, config);
        let mut state = propagate(&graph, &prices, config)?;
        let first = state.total(f64::INFINITY);
        let mut plans = TriedPlans::of(function, &graph);
        if strategy == Strategy::LeastCost {
            local_search::improve(&mut state, config)?;
            if config.context.enables(Optimization::DotAlternatives) {
                dot_alternatives::take(&mut state, function, &mut plans, (config, stages), convert)?;
            }
            if let (true, Some(body)) = (config.context.enables(Optimization::OperandWords), &function.body) {
                operand_words::fill_operand_words(&mut state, body, config)?;
            }
            if config.context.enables(Optimization::StoreSwaps) {
                store_swaps::swap_lanes_of_stores(&mut state)?;
            }
            if config.context.enables(Optimization::ReplicaStores) {
                replica_stores::divide_among_replicas(&mut state)?;
            }
        }
        let (rewritten, left) = rewrite(function, &state, config, convert)?;
        functions.push(FunctionReport::of(function, &rewritten, &state, &left, (first, plans), config));
        *function = rewritten;
    }
    let number = |value: u32| tilewright_tile::Attribute::integer(i64::from(value), TileType::integer(32));
    assigned.attributes.set("ttg.num-warps", number(config.warps));
    assigned.attributes.set("ttg.threads-per-warp", number(config.lanes));
    assigned.attributes.set("ttg.num-ctas", number(config.context.blocks));
    Ok(AssignedModule { module: assigned, report: AssignmentReport { strategy, functions } })
}

/// Checks that the program and the launch configuration have the same number of blocks in a cluster, and that the
/// target supports clusters of this size.
fn check_cluster(module: &TileModule, config: &LaunchConfig<'_>) -> Result<(), AssignmentError> {
    let (target, blocks) = (config.context.target, config.context.blocks);
    let explicit = module.attributes.get("ttg.num-ctas").and_then(tilewright_tile::Attribute::as_integer);
    if explicit.is_some_and(|explicit| explicit != i64::from(blocks)) {
        let message = format!("`ttg.num-ctas` is not {blocks}, the number of blocks of the launch");
        return Err(AssignmentError::Program { operation: "module".to_owned(), message });
    }
    let most = u64::from(target.limits.blocks_per_cluster);
    match u64::from(blocks) {
        blocks if blocks.is_power_of_two() && blocks <= most => Ok(()),
        blocks => {
            let reason =
                format!("target {} has clusters of at most {most} blocks; the program has {blocks}", target.name);
            Err(MovementError::Impossible { reasons: reason }.into())
        }
    }
}
