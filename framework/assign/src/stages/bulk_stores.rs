//! Stores and reductions through tensor descriptors that become bulk tensor copies (TMA), after layout assignment.

use std::collections::HashMap;

use tilewright_layout::Layout;
use tilewright_plan::memory_synthesis::SharedLayoutSearchLimits;
use tilewright_target::Direction;
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::Dialects;
use tilewright_tile::op::name::{tt, ttg};
use tilewright_tile::transform::{BulkStoreSource, BulkStoreTensor, store_by_bulk_copies};
use tilewright_tile::{Function, FunctionBody, Op, ValueOrigin};

use super::lines::BulkStoreReport;
use crate::bulk_store::{find_bulk_store, plan_block_copy};
use crate::graph::Access;
use crate::layouts::LayoutCache;
use crate::memory::{describe_descriptor_global_tensor, element_bits_while_moved, find_descriptor_mask_alignment};
use crate::shared_buffer::memory_name;
use crate::{AssignmentError, LaunchConfig};

/// Replaces the stores and reductions through tensor descriptors by bulk tensor copies where these take less time in the assigned
/// layouts, as layout assignment has priced them. Also returns a report of each; `None` if none is replaced.
pub(super) fn with_bulk_stores(
    function: &Function,
    config: &LaunchConfig<'_>,
    limits: &SharedLayoutSearchLimits,
) -> Result<Option<(Function, Vec<BulkStoreReport>)>, AssignmentError> {
    let Some(body) = &function.body else { return Ok(None) };
    let is_store = |op: &Op| matches!(body.op(*op).name(), tt::DESCRIPTOR_STORE | tt::DESCRIPTOR_REDUCE);
    let stores: Vec<Op> = body.walk_region(body.root()).into_iter().filter(is_store).collect();
    if stores.is_empty() {
        return Ok(None);
    }
    let axis_info = AxisInfoMap::analyze(function);
    let layouts = LayoutCache::new(config.families);
    let (mut sources, mut reports) = (HashMap::new(), Vec::new());
    for op in stores {
        let own = find_loaded_tensor(body, op, (config, &layouts));
        let planned = own.or_else(|| plan_store(body, &axis_info, op, (config, &layouts), limits));
        let Some((source, report)) = planned else { continue };
        reports.push(report);
        sources.insert(op, source);
    }
    if sources.is_empty() {
        return Ok(None);
    }
    let wrong = |violation: tilewright_tile::TileViolation| AssignmentError::Program {
        operation: tt::DESCRIPTOR_STORE.to_owned(),
        message: violation.to_string(),
    };
    let function = store_by_bulk_copies(function, &sources, &Dialects::neutral()).map_err(wrong)?;
    Ok(Some((function, reports)))
}

/// A bulk store, and its report.
type PlannedStore = (BulkStoreSource, BulkStoreReport);

/// Finds the tensor of the program in shared memory that holds the value which `op` stores, such as the source of an
/// imported bulk copy. `None` if the value is not loaded from one directly before the store, or if no bulk tensor copy
/// reads the tensor's layout.
fn find_loaded_tensor(
    body: &FunctionBody,
    op: Op,
    (config, layouts): (&LaunchConfig<'_>, &LayoutCache<'_>),
) -> Option<PlannedStore> {
    let block = find_bulk_store(body, op, config)?;
    let stored = body.operand(op, "src")?;
    let ValueOrigin::Result(load, _) = body.value_origin(stored) else { return None };
    let all = body.walk_region(body.root());
    let between = all.iter().skip_while(|other| **other != load).take_while(|other| **other != op).skip(1);
    let uses = all.iter().filter(|other| body.op(**other).operands.contains(&stored)).count();
    let is_only_moved = between.into_iter().all(|other| body.op(*other).definition.traits.pure) && uses == 1;
    if body.op(load).name() != ttg::LOCAL_LOAD || !is_only_moved {
        return None;
    }
    let ty = body.value_type(body.op(load).operands[0]);
    let memory = layouts.resolve_memory(ty).ok()?;
    let is_full = memory.copies.is_empty() && ty.as_memory()?.allocation.is_none();
    let Layout::Memory(layout) = memory.layout else { return None };
    let bits = element_bits_while_moved(ty.element());
    let (block, copy) = plan_block_copy(&block, bits, &layout, config).filter(|_| is_full)?;
    let source = BulkStoreSource { tensor: BulkStoreTensor::LoadedBy(load), block: memory_name(&block) };
    Some((source, BulkStoreReport::of_own_tensor(body, op, load, copy.instruction())))
}

/// Returns the plan of a store; `None` if direct stores take less time, or if no bulk tensor copy is
/// possible.
fn plan_store(
    body: &FunctionBody,
    axis_info: &AxisInfoMap,
    op: Op,
    (config, layouts): (&LaunchConfig<'_>, &LayoutCache<'_>),
    limits: &SharedLayoutSearchLimits,
) -> Option<PlannedStore> {
    let bulk_block = Some(find_bulk_store(body, op, config)?);
    let stored = body.value_type(body.operand(op, "src")?);
    let together = find_descriptor_mask_alignment(body, axis_info, op);
    let named = describe_descriptor_global_tensor(stored, together)?;
    let access = Access { named, direction: Direction::Store, bulk_block };
    let layout = layouts.resolve_distributed(stored).ok()?;
    let chosen = access.bulk_store(&layout, config)?;
    let best = access.plan_bulk_store(&layout, config, limits.clone()).unwrap_or(chosen);
    let memory = memory_name(&best.solution.memory);
    let report = BulkStoreReport::of(body, op, &best, &memory);
    Some((BulkStoreSource { tensor: BulkStoreTensor::Buffer(memory), block: memory_name(&best.block) }, report))
}
