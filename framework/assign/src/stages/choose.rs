//! Chooses the loads of a loop that are prefetched, and the number of pipeline stages.

use super::how::{PipelinePlanner, PrefetchPlan};
use super::lines::{LoadPrefetchReport, LoopPipelineReport, named};
use crate::LaunchConfig;
use crate::shared_buffer::memory_name;
use crate::source::source;
use crate::synthesis::iteration_count::known_iteration_count;
use tilewright_tile::ValueOrigin;
use tilewright_tile::op::name::ttg;
use tilewright_tile::transform::explicit::ProducerChoice;
use tilewright_tile::transform::loads::{
    HoistedSharedOperand, InvariantDotOperand, LoadLoop, LoopPipelinePlan, PlannedPrefetch, PrefetchConsumer,
    PrefetchPath, PrefetchableLoad, REGISTER_PATH_BUFFER_COUNT, producer_loops,
};

/// The resources of a block that are still available for prefetching.
pub(super) struct BlockResources {
    /// Bytes of shared memory.
    bytes: u64,
    /// Number of 32-bit registers of a lane that the program does not use.
    registers: u64,
}

impl BlockResources {
    /// Returns the resources of a block that remain for prefetching if the program uses `live` registers of a lane and
    /// no shared memory.
    pub fn remaining(config: &LaunchConfig<'_>, live: u64) -> Self {
        let registers = config.registers_per_lane().saturating_sub(live);
        Self { bytes: u64::from(config.context.target.shared.bytes), registers }
    }
}

/// The choices for one loop that precede the plans of its prefetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LoopChoice {
    /// Max number of stages.
    pub stages: u32,
    /// The warps of the loop if a producer warp issues its copies.
    pub producer: Option<ProducerChoice>,
}

/// The decision for one loop: the loads that are prefetched and the number of stages (`staged`), and their report
/// (`line`).
pub(super) struct LoopDecision {
    pub staged: LoopPipelinePlan,
    pub line: LoopPipelineReport,
}

/// A load with the plan of its prefetch.
type Prefetch = (PrefetchableLoad, PrefetchPlan);

impl PipelinePlanner<'_, '_> {
    /// Chooses the loads of a loop that are prefetched, with at most the stages of `choice`, and by its producer warp
    /// if the loop can have one; subtracts the resources that they need from `available`.
    pub fn choose_prefetches(&self, of: &LoadLoop, choice: LoopChoice, available: &mut BlockResources) -> LoopDecision {
        let required = choice.stages;
        let (mut staged, mut line) = self.without_prefetches(of);
        let iterations = known_iteration_count(self.body, self.axis_info, of.op);
        let most = u32::try_from(iterations.unwrap_or(u64::MAX)).unwrap_or(u32::MAX).min(required);
        if iterations.is_none_or(|iterations| iterations > 1) {
            staged.stored_operands = self.choose_stored_operands(of, available, &mut line);
        }
        if most < 2 {
            let reason = if required < 2 { "one stage is requested" } else { "the loop has one iteration at most" };
            of.loads.iter().for_each(|load| self.report_left(&mut line, load, reason));
            return LoopDecision { staged, line };
        }
        let (found, registers) = self.plan_prefetches(of, most, available.registers, &mut line);
        let stages = (2..=most).rev().find(|stages| buffer_bytes(&found, *stages) <= available.bytes);
        let Some(stages) = stages.filter(|_| !found.is_empty()) else {
            let bytes = buffer_bytes(&found, 2);
            let reason =
                format!("two buffers of each take {bytes} bytes of shared memory, {} are left", available.bytes);
            found.iter().for_each(|(load, _)| self.report_left(&mut line, load, &reason));
            return LoopDecision { staged, line };
        };
        line.note = note_on_stages(&found, (stages, required), iterations, available);
        let bytes = buffer_bytes(&found, stages);
        line.bytes += bytes;
        (line.stages, staged.stages) = (stages, stages);
        if !found.iter().any(|(_, how)| how.is_asynchronous_copy()) {
            line.stages = REGISTER_PATH_BUFFER_COUNT;
        }
        *available = BlockResources { registers, bytes: available.bytes - bytes };
        staged.producer = choice.producer.filter(|_| self.can_have_producer(of, &found));
        line.producers = u32::from(staged.producer.is_some());
        line.registers = staged.producer.and_then(|warps| warps.registers);
        staged.overlapped_dots = self.overlapped_dots(of.op, &found, &staged.stored_operands);
        staged.mma_waits_cover_block = self.waits_cover_block(&staged.overlapped_dots);
        for (load, how) in found {
            let memory = how.solution.as_ref().map(|solution| memory_name(&solution.memory));
            line.loads.push(LoadPrefetchReport::for_prefetch(self.body, &load, &how, memory.as_ref()));
            let view = |read| self.view_of(&how.solution.as_ref()?.memory, read);
            let views = load.reads.iter().map(view).collect();
            staged.loads.push(PlannedPrefetch { load, path: how.path, memory, views, block: how.block });
        }
        LoopDecision { staged, line }
    }

    /// Whether a producer warp can issue all prefetches of a loop: these are bulk tensor copies, and the producer can
    /// execute the loops around it, too.
    fn can_have_producer(&self, of: &LoadLoop, found: &[Prefetch]) -> bool {
        found.iter().all(|(_, how)| how.path == PrefetchPath::TensorCopy)
            && producer_loops(self.body, of.op, found.iter().map(|(load, _)| load)).is_ok()
    }

    /// Returns the plan and the report of a loop without prefetched loads.
    fn without_prefetches(&self, of: &LoadLoop) -> (LoopPipelinePlan, LoopPipelineReport) {
        let body = self.body;
        let left = of.left.iter().map(|(load, reason)| LoadPrefetchReport::left(body, *load, reason.clone()));
        let line = LoopPipelineReport {
            name: named(body, of.op),
            source: source(body, of.op),
            stages: 1,
            bytes: 0,
            producers: 0,
            registers: None,
            loads: left.collect(),
            note: None,
        };
        let staged = LoopPipelinePlan {
            op: of.op,
            stages: 1,
            loads: Vec::new(),
            overlapped_dots: Vec::new(),
            mma_waits_cover_block: false,
            producer: None,
            stored_operands: Vec::new(),
        };
        (staged, line)
    }

    /// Reports that a load is not prefetched.
    fn report_left(&self, line: &mut LoopPipelineReport, load: &PrefetchableLoad, reason: &str) {
        line.loads.push(LoadPrefetchReport::left(self.body, load.op, reason.to_owned()));
    }

    /// Plans the prefetches of a loop's loads in at most `most` stages, and reports loads that have none. Values in
    /// flight take at most `registers` registers of a lane; also returns the number that they leave.
    fn plan_prefetches(
        &self,
        of: &LoadLoop,
        most: u32,
        mut registers: u64,
        line: &mut LoopPipelineReport,
    ) -> (Vec<Prefetch>, u64) {
        let mut found: Vec<Prefetch> = Vec::new();
        for load in &of.loads {
            // With two stages, copies are no farther ahead than loads to registers, so a value that can stay in
            // registers is not copied.
            match self.plan_prefetch(load, most > REGISTER_PATH_BUFFER_COUNT) {
                Ok(planned) => found.push(planned),
                Err(reason) => self.report_left(line, load, &reason),
            }
        }
        found.retain(|(load, how)| {
            let fits = how.registers <= registers;
            match fits {
                true => registers -= how.registers,
                false => self.report_left(line, load, "no registers are left for the value in flight"),
            }
            fits
        });
        (found, registers)
    }

    /// Chooses the MMA operands that are stored to shared memory before the loop: those with a shared-memory layout
    /// that the MMAs can read and that fits into `available`. MMAs that cannot share a buffer have one each. Operands
    /// of MMAs that read registers stay there, unless a lane has none left: then each iteration loads them, which takes
    /// fewer accesses than to spill and reload other values. Operands that the program itself loads from shared memory
    /// stay there, too. Subtracts the bytes from `available` and adds the operands to the report `line`.
    fn choose_stored_operands(
        &self,
        of: &LoadLoop,
        available: &mut BlockResources,
        line: &mut LoopPipelineReport,
    ) -> Vec<HoistedSharedOperand> {
        let mut chosen = Vec::new();
        let with_plan = |operand: InvariantDotOperand| Some((self.plan_stored_operand(&operand)?, operand));
        let is_shared = |value| match self.body.value_origin(value) {
            ValueOrigin::Result(op, _) => self.body.op(op).name() == ttg::LOCAL_LOAD,
            ValueOrigin::Argument(..) => false,
        };
        let is_left = |operand: &&InvariantDotOperand| {
            operand.reads.iter().any(|read| read.reader == PrefetchConsumer::Lanes)
                && (available.registers > 0 || is_shared(operand.value))
        };
        let stored = of.invariant_operands.iter().filter(|operand| !is_left(operand));
        let plans = stored.flat_map(|operand| match with_plan(operand.clone()) {
            Some(shared) => vec![shared],
            None if operand.reads.len() > 1 => operand.split().filter_map(with_plan).collect(),
            None => Vec::new(),
        });
        for ((solution, bytes), operand) in plans {
            if bytes > available.bytes {
                continue;
            }
            available.bytes -= bytes;
            line.bytes += bytes;
            let memory = memory_name(&solution.memory);
            line.loads.push(LoadPrefetchReport::for_stored_operand(self.body, &operand, &solution, bytes, &memory));
            let views = operand.reads.iter().map(|read| self.view_of(&solution.memory, read)).collect();
            chosen.push(HoistedSharedOperand { operand, memory, views });
        }
        chosen
    }
}

/// Returns the reason why a loop has `stages` stages, fewer than `required`; `None` if it has as many, or if no copy
/// has a buffer for each stage.
fn note_on_stages(
    found: &[Prefetch],
    (stages, required): (u32, u32),
    iterations: Option<u64>,
    available: &BlockResources,
) -> Option<String> {
    let has_copies = found.iter().any(|(_, how)| how.is_asynchronous_copy());
    (stages < required && has_copies).then(|| match iterations {
        Some(iterations) if u64::from(stages) == iterations => format!("the loop has {iterations} iterations"),
        _ => format!(
            "{required} stages take {} bytes of shared memory, {} are left",
            buffer_bytes(found, required),
            available.bytes
        ),
    })
}

/// Bytes of shared memory that the mbarrier of one stage takes.
const MBARRIER_BYTES: u64 = 8;

/// Returns the bytes of shared memory that the buffers of all prefetched loads take, with their mbarriers, for `stages`
/// stages.
fn buffer_bytes(found: &[Prefetch], stages: u32) -> u64 {
    let of = |how: &PrefetchPlan| match how.path {
        PrefetchPath::Copy | PrefetchPath::TensorCopy => how.bytes * u64::from(stages),
        PrefetchPath::Registers => how.bytes * u64::from(REGISTER_PATH_BUFFER_COUNT),
        PrefetchPath::Carried => 0,
    };
    let has_tensor_copies = found.iter().any(|(_, how)| how.path == PrefetchPath::TensorCopy);
    let mbarriers = if has_tensor_copies { MBARRIER_BYTES * u64::from(stages) } else { 0 };
    found.iter().map(|(_, how)| of(how)).sum::<u64>() + mbarriers
}
