//! The predicted time of a launch of a program whose tensors all have layouts.

use std::collections::HashMap;
use tilewright_tile::op::name::{tt, ttg};

use super::accesses::{AccessCounts, AccessIndex, AccessOp, accesses};
use super::iteration_count::persistent_block_count;
use super::leaf::plan_dot_mma;
use super::live_bytes::{TensorBytes, allocated};
use super::model::ModelLaunch;
use super::predicted::predicted;
use super::scratch::fit_scratch;
use super::solved::Solved;
use super::work::WorkCounter;
use super::{PredictedPerformance, SynthesisError};
use crate::LaunchConfig;
use crate::layouts::LayoutCache;
use crate::memory::element_bits_while_moved;
use tilewright_layout::Layout;
use tilewright_plan::memory_synthesis::{SharedTensor, choose_accesses_for_layout};
use tilewright_plan::mma::MmaPlan;
use tilewright_tile::axis_info::{AxisInfoMap, LaunchValues};
use tilewright_tile::{Function, FunctionBody, Op, Value};

/// A launch whose time is predicted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchPredictionInput {
    /// The grid and the integer arguments.
    pub values: LaunchValues,
    /// Bytes of all buffers that the launch accesses; `None` if unknown. The model assumes that device memory transfers
    /// each of these bytes once, and that the last-level cache serves every access.
    pub buffer_bytes: Option<u64>,
}

/// Predicts the time of a launch of a function with layouts, after pipelining, whose kernel takes `shared_bytes` bytes
/// of shared memory; `None` predicts these, too, from the tensors in shared memory and the scratch memory. If `launch` is `None`, the launch has unknown arguments and enough blocks to fill the target several
/// times, or those of a persistent program.
///
/// # Errors
/// [`SynthesisError`] if a dot or an access of shared memory has no plan, if a type's layout does not resolve, or if a
/// block does not fit a compute unit.
pub fn predict_launch_time(
    function: &Function,
    shared_bytes: Option<u64>,
    launch: Option<&LaunchPredictionInput>,
    config: &LaunchConfig<'_>,
) -> Result<PredictedPerformance, SynthesisError> {
    let empty = FunctionBody::default();
    let body = function.body.as_ref().unwrap_or(&empty);
    let layouts = LayoutCache::new(config.families);
    let axis_info = AxisInfoMap::analyze(function);
    let launch_info = launch.map(|launch| AxisInfoMap::analyze_for_launch(function, &launch.values));
    let plans = plan_dots(body, config)?;
    let moved = count_accesses(body, config, &layouts)?;
    let program = Solved { body, axis_info: &axis_info, config, layouts: &layouts, plans: &plans };
    let (limited, shared_bytes) = match shared_bytes {
        Some(bytes) => (*config, bytes),
        None => fit_scratch(program, &allocations(body, &layouts)?)?,
    };
    let program = Solved { config: &limited, ..program };
    let grid = launch.map(|launch| launch.values.grid.iter().product::<u64>() * u64::from(config.context.blocks));
    let grid = grid.or_else(|| persistent_block_count(body, &axis_info));
    let block = WorkCounter::new(program, &moved, launch_info.as_ref())?.blocks(shared_bytes, grid)?;
    let distinct_bytes = launch.and_then(|launch| launch.buffer_bytes);
    predicted(&ModelLaunch { distinct_bytes, ..block }, config)
}

/// Alignment of tensors in shared memory, in bytes; a layout may require more.
const ALIGNMENT: u64 = 16;

/// Returns the tensors that a program allocates in shared memory.
fn allocations(body: &FunctionBody, layouts: &LayoutCache<'_>) -> Result<Vec<TensorBytes>, SynthesisError> {
    let mut found = Vec::new();
    for op in body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).name() == ttg::LOCAL_ALLOC) {
        let tensor = body.op(op).results[0];
        let memory = layouts.resolve_memory(body.value_type(tensor))?;
        // Tensor memory is no shared memory.
        let Layout::Memory(layout) = &memory.layout else { continue };
        let bits = element_bits_while_moved(body.value_type(tensor).element());
        let bytes = layout.allocated_bytes(bits) * memory.copies.iter().product::<u64>();
        found.extend(allocated(body, tensor, bytes.next_multiple_of(ALIGNMENT)));
    }
    Ok(found)
}

fn plan_dots(body: &FunctionBody, config: &LaunchConfig<'_>) -> Result<HashMap<Op, MmaPlan>, SynthesisError> {
    let dots =
        body.walk_region(body.root()).into_iter().filter(|op| matches!(body.op(*op).name(), tt::DOT | tt::DOT_SCALED));
    dots.map(|op| Ok((op, plan_dot_mma(body, op, config)?))).collect()
}

/// Counts the accesses of all tensors in shared memory, in the layouts that their types name.
fn count_accesses(
    body: &FunctionBody,
    config: &LaunchConfig<'_>,
    layouts: &LayoutCache<'_>,
) -> Result<HashMap<Op, AccessCounts>, SynthesisError> {
    let (index, mut moved) = (AccessIndex::of(body), HashMap::new());
    let allocations = body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).name() == ttg::LOCAL_ALLOC);
    for tensor in allocations.map(|op| body.op(op).results[0]) {
        moved.extend(count_accesses_of((body, &index), tensor, config, layouts)?);
    }
    Ok(moved)
}

fn count_accesses_of(
    (body, index): (&FunctionBody, &AccessIndex),
    tensor: Value,
    config: &LaunchConfig<'_>,
    layouts: &LayoutCache<'_>,
) -> Result<Vec<(Op, AccessCounts)>, SynthesisError> {
    let buffers = index.buffers(body, tensor);
    let buffer = *buffers.last().unwrap_or(&tensor);
    let ty = body.value_type(buffer);
    let (ops, accesses): (Vec<Vec<AccessOp>>, Vec<_>) =
        accesses((body, index), &buffers, &HashMap::new(), config, layouts)?.into_iter().unzip();
    let problem = SharedTensor::new(ty.shape().unwrap_or_default(), element_bits_while_moved(ty.element()));
    // Tensor memory has no banks.
    let Layout::Memory(memory) = layouts.resolve_memory(ty)?.layout else { return Ok(Vec::new()) };
    let wrong = |source| SynthesisError::Memory { tensor: body.display_name(tensor), source: Box::new(source) };
    let solution = choose_accesses_for_layout(&problem, &accesses, &memory, &config.context).map_err(wrong)?;
    let counts = solution.served.iter().map(AccessCounts::from);
    Ok(counts.zip(&ops).flat_map(|(counts, ops)| ops.iter().map(move |access| (access.op, counts))).collect())
}
