//! What a leaf is predicted to take, and what all leaves below a choice take at least.

use super::SynthesisError;
use super::derivation::PredictionLine;
use super::model::{self, Block, ModelStep, Prediction, Work};
use crate::LaunchConfig;
use tilewright_target::{TargetDescription, Throughput};

/// Blocks that each compute unit is taken to get: enough for some to be resident at a time, and others to follow.
const BLOCKS_OF_A_UNIT: u64 = 16;

/// The blocks of a launch that do these steps, as many as fill the target where it is not said how many.
pub(super) fn blocks(machine: &LaunchConfig<'_>, launched: Option<u64>, steps: Vec<ModelStep>) -> Block {
    Block {
        blocks: launched.unwrap_or_else(|| units(&figured(machine.context.target)) * BLOCKS_OF_A_UNIT),
        warps: machine.warps.into(),
        producers: 0,
        lanes: machine.lanes.into(),
        registers: 1,
        shared_bytes: 0,
        steps,
    }
}

/// What every program takes at least that does this work, each part so many times: no prediction is less where more is done.
pub(super) fn at_least(
    work: &[(Work, u64)],
    machine: &LaunchConfig<'_>,
    launched: Option<u64>,
) -> Result<f64, SynthesisError> {
    let steps =
        work.iter().map(|&(work, trips)| ModelStep::Loop { trips, stages: 1, body: vec![ModelStep::Work(work)] });
    Ok(model::predict(&blocks(machine, launched, steps.collect()), &figured(machine.context.target))?.cycles)
}

fn units(target: &TargetDescription) -> u64 {
    target.throughput.as_ref().map_or(1, |stats| u64::from(stats.compute_units).max(1))
}

/// The model's answer, as the derivation has it. A lane has no more registers than the target gives it: what it lacks it
/// keeps elsewhere, which is not counted.
pub(super) fn predicted(block: &Block, machine: &LaunchConfig<'_>) -> Result<PredictionLine, SynthesisError> {
    let target = figured(machine.context.target);
    let threads = (block.warps + block.producers).saturating_mul(block.lanes).max(1);
    let most = u64::from(target.limits.registers_per_lane.min(target.limits.registers_per_block / threads as u32));
    let fitting = Block { registers: block.registers.min(most.max(1)), ..block.clone() };
    let Prediction { cycles, resident, latency, bound_by, .. } = model::predict(&fitting, &target)?;
    Ok(PredictionLine {
        cycles,
        blocks_of_a_unit: block.blocks.div_ceil(units(&target)),
        resident: resident.blocks,
        limited_by: resident.limited_by.to_owned(),
        registers: block.registers,
        latency,
        bound_by: bound_by.to_owned(),
    })
}

/// The target, with figures of a product in the middle where its file has none.
fn figured(target: &TargetDescription) -> TargetDescription {
    let mut figured = target.clone();
    figured.throughput.get_or_insert_with(|| Throughput {
        registers_per_unit: target.limits.registers_per_block,
        shared_bytes_per_unit: target.shared.bytes.saturating_mul(2),
        ..Throughput::assumed()
    });
    figured
}
