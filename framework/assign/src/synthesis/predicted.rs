//! The predicted time of a leaf of the search tree (a complete choice), and a lower bound for all leaves below a
//! partial choice.

use super::SynthesisError;
use super::derivation::PredictedPerformance;
use super::model::{self, ModelLaunch, ModelStep, Pipelining, StepWork, TimePrediction};
use crate::LaunchConfig;
use tilewright_target::{DeviceThroughput, TargetDescription};

/// Assumed number of blocks for each compute unit: enough to fill it with resident blocks several times.
const ASSUMED_BLOCKS_PER_COMPUTE_UNIT: u64 = 16;

/// Returns a launch of `launched` blocks that execute these steps; if it is `None`, of enough blocks to fill the target
/// several times.
pub(super) fn blocks(config: &LaunchConfig<'_>, launched: Option<u64>, steps: Vec<ModelStep>) -> ModelLaunch {
    ModelLaunch {
        blocks: launched.unwrap_or_else(|| {
            compute_units(&with_assumed_throughput(config.context.target)) * ASSUMED_BLOCKS_PER_COMPUTE_UNIT
        }),
        warps: config.warps.into(),
        producers: 0,
        lanes: config.lanes.into(),
        registers: 1,
        shared_bytes: 0,
        distinct_bytes: None,
        steps,
    }
}

/// Returns a lower bound of the predicted cycles of every program that contains `work`; each entry is the work of one
/// execution and the number of executions. `launched` is the number of blocks, as in [`blocks`]. The bound holds
/// because predictions are monotonic.
pub(super) fn cycle_lower_bound(
    work: &[(StepWork, u64)],
    config: &LaunchConfig<'_>,
    launched: Option<u64>,
) -> Result<f64, SynthesisError> {
    let steps = work.iter().map(|&(work, iteration_count)| ModelStep::Loop {
        iteration_count,
        pipelining: Pipelining { stages: 1, is_filled: false, groups: 1, tile_groups: 1 },
        body: vec![ModelStep::Work(work)],
    });
    Ok(model::predict_time(
        &blocks(config, launched, steps.collect()),
        &with_assumed_throughput(config.context.target),
    )?
    .cycles)
}

fn compute_units(target: &TargetDescription) -> u64 {
    target.throughput.as_ref().map_or(1, |stats| u64::from(stats.compute_units).max(1))
}

/// Returns the number of registers that a lane can have in a block with further `producers` warps.
pub(super) fn registers_per_lane(config: &LaunchConfig<'_>, producers: u64) -> u64 {
    let target = config.context.target;
    let (warps, lanes) = (u64::from(config.warps) + producers, u64::from(config.lanes));
    let of_block = u64::from(target.limits.registers_per_block) / warps.saturating_mul(lanes).max(1);
    let of_unit = target.throughput.as_ref().map_or(of_block, |unit| unit.registers_per_lane(warps, lanes));
    u64::from(target.limits.registers_per_lane).min(of_block).min(of_unit).max(1)
}

/// Returns the model's prediction, as a line of the derivation. Registers of a lane are capped at the target's limit.
pub(super) fn predicted(
    block: &ModelLaunch,
    config: &LaunchConfig<'_>,
) -> Result<PredictedPerformance, SynthesisError> {
    let target = with_assumed_throughput(config.context.target);
    let most = registers_per_lane(config, block.producers);
    let fitting = ModelLaunch { registers: block.registers.min(most), ..block.clone() };
    let TimePrediction { cycles, launch, resident, pipes, latency, bound_by } = model::predict_time(&fitting, &target)?;
    Ok(PredictedPerformance {
        cycles,
        microseconds: cycles / target.throughput.as_ref().map_or(1.0, |stats| stats.clock_mhz),
        blocks_per_compute_unit: block.blocks.div_ceil(compute_units(&target)),
        resident: resident.blocks,
        limited_by: resident.limited_by.to_owned(),
        registers: block.registers,
        shared_bytes: block.shared_bytes,
        launch,
        pipes,
        latency,
        bound_by: bound_by.to_owned(),
    })
}

/// Returns the target; if its file has no throughput table, with assumed throughput.
fn with_assumed_throughput(target: &TargetDescription) -> TargetDescription {
    let mut figured = target.clone();
    figured.throughput.get_or_insert_with(|| DeviceThroughput {
        registers_per_unit: target.limits.registers_per_block,
        shared_bytes_per_unit: target.shared.bytes.saturating_mul(2),
        ..DeviceThroughput::assumed_default()
    });
    figured
}
