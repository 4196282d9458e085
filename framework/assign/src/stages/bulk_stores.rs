//! Stores through tensor descriptors that become bulk tensor copies (TMA), after layout assignment.

use std::collections::HashMap;

use tilewright_plan::memory_synthesis::SharedLayoutSearchLimits;
use tilewright_target::Direction;
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::Dialects;
use tilewright_tile::op::name::tt;
use tilewright_tile::transform::{BulkStoreLayouts, store_by_bulk_copies};
use tilewright_tile::{Function, FunctionBody, Op};

use crate::bulk_store::find_bulk_store;
use crate::graph::Access;
use crate::layouts::LayoutCache;
use crate::memory::{describe_descriptor_global_tensor, find_descriptor_mask_alignment};
use crate::shared_buffer::memory_name;
use crate::{AssignmentError, LaunchConfig};

/// Replaces the stores through tensor descriptors by bulk tensor copies where these take less time in the assigned
/// layouts, as layout assignment has priced them.
pub(super) fn with_bulk_stores(
    function: &Function,
    config: &LaunchConfig<'_>,
    limits: &SharedLayoutSearchLimits,
) -> Result<Option<Function>, AssignmentError> {
    let Some(body) = &function.body else { return Ok(None) };
    let is_store = |op: &Op| body.op(*op).name() == tt::DESCRIPTOR_STORE;
    let stores: Vec<Op> = body.walk_region(body.root()).into_iter().filter(is_store).collect();
    if stores.is_empty() {
        return Ok(None);
    }
    let axis_info = AxisInfoMap::analyze(function);
    let layouts = LayoutCache::new(config.families);
    let plan = |op: &Op| Some((*op, plan_store(body, &axis_info, *op, (config, &layouts), limits)?));
    let plans: HashMap<Op, BulkStoreLayouts> = stores.iter().filter_map(plan).collect();
    if plans.is_empty() {
        return Ok(None);
    }
    let wrong = |violation: tilewright_tile::TileViolation| AssignmentError::Program {
        operation: tt::DESCRIPTOR_STORE.to_owned(),
        message: violation.to_string(),
    };
    store_by_bulk_copies(function, &plans, &Dialects::neutral()).map(Some).map_err(wrong)
}

/// Returns the layouts of a store's buffer; `None` if direct stores take less time, or if no bulk tensor copy is
/// possible.
fn plan_store(
    body: &FunctionBody,
    axis_info: &AxisInfoMap,
    op: Op,
    (config, layouts): (&LaunchConfig<'_>, &LayoutCache<'_>),
    limits: &SharedLayoutSearchLimits,
) -> Option<BulkStoreLayouts> {
    let bulk_block = Some(find_bulk_store(body, op, config)?);
    let stored = body.value_type(body.operand(op, "src")?);
    let together = find_descriptor_mask_alignment(body, axis_info, op);
    let named = describe_descriptor_global_tensor(stored, together)?;
    let access = Access { named, direction: Direction::Store, bulk_block };
    let layout = layouts.resolve_distributed(stored).ok()?;
    let chosen = access.bulk_store(&layout, config)?;
    let best = access.plan_bulk_store(&layout, config, limits.clone()).unwrap_or(chosen);
    Some(BulkStoreLayouts { memory: memory_name(&best.memory), block: memory_name(&best.block) })
}
