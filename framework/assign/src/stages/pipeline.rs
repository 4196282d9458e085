//! Chooses the stages of loops and pipelines them.

use super::bulk_stores::with_bulk_stores;
use super::choose::{BlockResources, LoopChoice};
use super::how::PipelinePlanner;
use super::lines;
use super::lines::LoopPipelineReport;
use crate::dot_alternatives::to_texts;
use crate::layouts::LayoutCache;
use crate::producer_warps::{has_room_for_producer, reallocated_registers, requested_producer};
use crate::shared_buffer::{SolvedLayouts, limits_for_prices};
use crate::stage_count::{MAX_STAGES, choose_stages};
use crate::synthesis::alternatives::Tried;
use crate::synthesis::registers::{RegisterPressure, live};
use crate::synthesis::{PredictedPerformance, RejectedAlternative, SynthesisError, predict_launch_time};
use crate::{AssignedModule, AssignmentError, LaunchConfig};
use std::cell::RefCell;
use std::collections::HashMap;
use tilewright_plan::memory_synthesis::SharedLayoutSearchLimits;
use tilewright_target::Optimization;
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::Dialects;
use tilewright_tile::op::name::{scf, tt};
use tilewright_tile::op_attrs::NUM_STAGES;
use tilewright_tile::transform::explicit::ProducerChoice;
use tilewright_tile::transform::loads::{
    EnclosingLoop, LayoutQueries, LoadLoop, innermost_load_loops, outermost_loop, pipeline_function, producer_loops,
};
use tilewright_tile::transform::make_partition_captures_explicit;
use tilewright_tile::{Attribute, Function, FunctionBody, Op};

/// The reason why the plans of dots of a program with less predicted time are not taken.
const FASTER: &str = "less than 1 % faster, and the program costs a warp more by the local cost";

/// The least share of the predicted time that a producer warp must save, unless the program asks for one: the warp is
/// part of the launch, and takes registers and issue slots that less would not be worth.
const MIN_PRODUCER_GAIN: f64 = 0.005;

/// Pipelines the loops of an assigned module. `stages` is the max number of stages; `None` takes the loop's attribute;
/// without one, the number is chosen by predicted time. One stage disables prefetching. A prefetch through registers
/// has two buffers in shared memory, whatever the number of stages; one whose value the loop carries in registers has
/// none.
///
/// # Errors
/// [`AssignmentError::Program`] if the program cannot be rewritten with the chosen prefetches.
pub fn pipeline_loops(
    assigned: &AssignedModule,
    config: &LaunchConfig<'_>,
    stages: Option<u32>,
) -> Result<AssignedModule, AssignmentError> {
    let mut pipelined = assigned.clone();
    for (function, report) in pipelined.module.functions.iter_mut().zip(&mut pipelined.report.functions) {
        if let Some(stored) = with_bulk_stores(function, config, &SharedLayoutSearchLimits::default())? {
            (*function, report.bulk_stores) = stored;
        }
        if !function.body.as_ref().is_some_and(has_loops) && report.tried.is_empty() {
            continue;
        }
        let tried = (to_texts(&report.dots), report.tried.clone());
        let buffers = (SharedLayoutSearchLimits::default(), &SolvedLayouts::default());
        let found = with_stage_search(function, (config, buffers), stages, |search| search.with_tried(tried).choose())?;
        let (written, prediction, alternatives) = found;
        report.conversions.retain(|conversion| {
            let conversion = (&conversion.value, &conversion.from, &conversion.to);
            !written.removed_lines.iter().any(|(value, from, to)| conversion == (value, from, to))
        });
        (report.loops, report.prediction, report.alternatives) = (written.lines, prediction, alternatives);
        let has_producers = report.loops.iter().any(|of| of.producers > 0);
        *function = if has_producers { make_partition_captures_explicit(&written.function) } else { written.function };
    }
    Ok(pipelined)
}

/// Pipelines the loops of a function with layouts, and predicts its time. `stages` is the max number of stages; `None`
/// takes the loop's attribute, or the target's number. Also returns the loops with their stages, as text.
pub(crate) fn predict_pipelined<'m>(
    function: &Function,
    (config, solved): (&LaunchConfig<'m>, &SolvedLayouts<'m>),
    stages: Option<u32>,
) -> Result<(Vec<String>, Result<PredictedPerformance, SynthesisError>), AssignmentError> {
    let stored = with_bulk_stores(function, config, &limits_for_prices())?;
    let function = stored.as_ref().map_or(function, |(function, _)| function);
    with_stage_search(function, (config, (limits_for_prices(), solved)), stages, |search| {
        let pipelined = search.pipeline(&search.first_choices())?;
        Ok((pipelined.headings(), pipelined.predict(config)))
    })
}

fn has_loops(body: &FunctionBody) -> bool {
    body.walk_region(body.root()).into_iter().any(|op| body.op(op).name() == scf::FOR)
}

/// A function with pipelined loops.
struct PipelinedFunction {
    function: Function,
    /// The reports of the loops.
    lines: Vec<LoopPipelineReport>,
    /// The conversions that pipelining has replaced, each as the name of the value, its layout and the required layout.
    removed_lines: Vec<(String, String, String)>,
}

/// A function with pipelined loops, and its predicted performance.
type FastestProgram = (PipelinedFunction, PredictedPerformance);

/// A function with pipelined loops, its predicted performance, and the alternatives that were not taken.
type ChosenStages = (PipelinedFunction, Option<PredictedPerformance>, Vec<RejectedAlternative>);

/// Calls `run` with a search for the stages of a function's loops; `stages` is as in [`pipeline_loops`].
fn with_stage_search<'m, T>(
    function: &Function,
    (config, (limits, solved)): (&LaunchConfig<'m>, (SharedLayoutSearchLimits, &SolvedLayouts<'m>)),
    stages: Option<u32>,
    run: impl FnOnce(StageSearch<'_, 'm>) -> T,
) -> T {
    let empty = FunctionBody::default();
    let body = function.body.as_ref().unwrap_or(&empty);
    let layouts = LayoutCache::new(config.families);
    let axis_info = AxisInfoMap::analyze(function);
    let planner = PipelinePlanner {
        body,
        axis_info: &axis_info,
        layouts: &layouts,
        config,
        limits,
        solved,
        dot_plans: RefCell::default(),
        prefetch_plans: RefCell::default(),
    };
    let queries = LayoutQueries {
        moves_through_shared: &|op| planner.conversion_uses_shared(op),
        can_read_from_shared: &|op, side| planner.reads_operand_from_shared(op, side),
    };
    let loops = innermost_load_loops(function, &queries);
    let registers = live(body, &axis_info, &layouts, &HashMap::new()).map_or(u64::MAX, RegisterPressure::registers);
    let stated = loops.iter().map(|of| stages.or_else(|| explicit(body, of.op))).collect();
    let (best, dots, tried) = (None, Vec::new(), Tried::default());
    run(StageSearch { function, planner: &planner, loops: &loops, stated, registers, best, dots, tried })
}

/// The search for the number of stages of each loop of a function.
struct StageSearch<'q, 'm> {
    function: &'q Function,
    planner: &'q PipelinePlanner<'q, 'm>,
    loops: &'q [LoadLoop],
    /// The max number of stages of each loop; `None` if it is to be chosen.
    stated: Vec<Option<u32>>,
    /// Number of registers of a lane that the program uses.
    registers: u64,
    /// The fastest program that was tried.
    best: Option<FastestProgram>,
    /// The plan of each dot, as text.
    dots: Vec<String>,
    /// All programs that were tried.
    tried: Tried,
}

impl StageSearch<'_, '_> {
    /// Adds the plans of the dots, and the programs that were tried before.
    fn with_tried(self, (dots, tried): (Vec<String>, Tried)) -> Self {
        Self { dots, tried, ..self }
    }

    /// Returns the choices from which the search begins: the stated numbers of stages, or the target's.
    fn first_choices(&self) -> Vec<LoopChoice> {
        let first = self.planner.config.context.target.global.stages;
        let stages = self.stated.iter().map(|stated| stated.unwrap_or(first));
        stages.map(|stages| LoopChoice { stages, producer: None }).collect()
    }

    /// Pipelines all loops, each with at most the stated number of stages; without one, with the number by which the
    /// program has the least predicted time. Loops get producer warps if the program is then predicted to be faster, or
    /// requests them.
    fn choose(mut self) -> Result<ChosenStages, AssignmentError> {
        let mut choices = self.first_choices();
        let open: Vec<usize> = (0..choices.len()).filter(|&index| self.is_open(index)).collect();
        open.iter().for_each(|&index| self.choose_stages(index, &mut choices));
        (0..choices.len()).for_each(|index| self.choose_producer(index, &mut choices));
        if open.is_empty() && !self.tried.is_empty() {
            self.try_choices(&choices);
        }
        let Some((found, prediction)) = self.best else { return Ok((self.pipeline(&choices)?, None, Vec::new())) };
        let taken = [self.dots, found.headings()].concat();
        let alternatives = self.tried.into_alternatives(&taken, &prediction, FASTER);
        Ok((found, Some(prediction), alternatives))
    }

    /// Whether the number of stages of a loop is to be chosen.
    fn is_open(&self, index: usize) -> bool {
        !self.loops[index].loads.is_empty() && self.stated[index].is_none()
    }

    /// Chooses the number of stages of the loop with this index.
    fn choose_stages(&mut self, index: usize, choices: &mut [LoopChoice]) {
        choose_stages(&(1..=MAX_STAGES), choices[index].stages, |stages| {
            let mut other = choices.to_vec();
            other[index].stages = stages;
            let is_faster = self.try_choices(&other);
            choices[index].stages = if is_faster { stages } else { choices[index].stages };
            is_faster
        });
    }

    /// Returns the loops around the loop with this index that a producer warp would execute, too; `None` if it could
    /// not.
    fn enclosing_loops(&self, index: usize) -> Option<Vec<EnclosingLoop>> {
        let of = &self.loops[index];
        producer_loops(self.planner.body, of.op, of.loads.iter()).ok()
    }

    /// Chooses whether a producer warp issues the copies of the loop with this index, and whether it hands registers
    /// over. With it, stages that the program does not state are chosen again.
    fn choose_producer(&mut self, index: usize, choices: &mut Vec<LoopChoice>) {
        let (of, body, config) = (&self.loops[index], self.planner.body, self.planner.config);
        let Some(enclosing) = self.enclosing_loops(index) else { return };
        let inner_first = std::iter::once(of.op).chain(enclosing.iter().rev().map(|outer| outer.op));
        let requested = requested_producer(body, inner_first);
        let by_descriptors = of.loads.iter().all(|load| body.op(load.op).name() == tt::DESCRIPTOR_LOAD);
        // One producer warp executes an outermost loop.
        let outermost = outermost_loop(&enclosing, of.op);
        let has_other = (0..choices.len()).any(|other| {
            let outermost_of = |other: usize| Some(outermost_loop(&self.enclosing_loops(other)?, self.loops[other].op));
            choices[other].producer.is_some() && outermost_of(other) == Some(outermost)
        });
        let is_possible = !of.loads.is_empty() && by_descriptors && !has_other && has_room_for_producer(1, config);
        let is_enabled = config.context.enables(Optimization::ProducerWarps) && requested != Some(false);
        if !is_possible || !is_enabled {
            return;
        }
        if self.best.is_none() {
            self.try_choices(choices);
        }
        let cycles = |best: &Option<FastestProgram>| best.as_ref().map_or(f64::INFINITY, |(_, best)| best.cycles);
        let before = self.best.take();
        let (mut produced, mut fastest) = self.with_producer(index, choices, None);
        let needed = fastest.as_ref().map_or(0, |(_, best)| best.registers);
        if let Some(registers) = reallocated_registers(needed, 1, config) {
            let (reallocated, other) = self.with_producer(index, choices, Some(registers));
            // Assemblers spill more than the model predicts, so that equal times decide for more registers.
            if cycles(&other) <= cycles(&fastest) {
                (produced, fastest) = (reallocated, other);
            }
        }
        let is_required = requested == Some(true) && fastest.is_some();
        match is_required || cycles(&fastest) < cycles(&before) * (1.0 - MIN_PRODUCER_GAIN) {
            true => (*choices, self.best) = (produced, fastest),
            false => self.best = before,
        }
    }

    /// Returns the fastest program with a producer warp of the loop with this index, with these registers of consumers
    /// and producer, and its choices; `None` if its time cannot be predicted. Forgets the fastest program so far.
    fn with_producer(
        &mut self,
        index: usize,
        choices: &[LoopChoice],
        registers: Option<[u32; 2]>,
    ) -> (Vec<LoopChoice>, Option<FastestProgram>) {
        let mut produced = choices.to_vec();
        produced[index].producer = Some(ProducerChoice { consumers: self.planner.config.warps, groups: 1, registers });
        self.best = None;
        self.try_choices(&produced);
        // The buffers are live together with all others of the enclosing loops, so that fewer may fit.
        while self.best.is_none() && produced[index].stages > 2 {
            produced[index].stages -= 1;
            self.try_choices(&produced);
        }
        if self.is_open(index) {
            self.choose_stages(index, &mut produced);
        }
        (produced, self.best.take())
    }

    /// Pipelines the loops with these choices. Keeps the function if it is predicted to be the fastest, and returns
    /// whether it is.
    fn try_choices(&mut self, choices: &[LoopChoice]) -> bool {
        let Ok(pipelined) = self.pipeline(choices) else { return false };
        let headings = pipelined.headings();
        if self.best.as_ref().is_some_and(|(known, _)| known.headings() == headings) {
            return false;
        }
        let predicted = pipelined.predict(self.planner.config);
        self.tried.add([&self.dots[..], &headings].concat(), predicted.as_ref());
        let cycles = self.best.as_ref().map_or(f64::INFINITY, |(_, best)| best.cycles);
        let faster = predicted.ok().filter(|prediction| prediction.cycles < cycles);
        let is_faster = faster.is_some();
        self.best = faster.map(|prediction| (pipelined, prediction)).or(self.best.take());
        is_faster
    }

    /// Pipelines the loops, each with its choice.
    fn pipeline(&self, choices: &[LoopChoice]) -> Result<PipelinedFunction, AssignmentError> {
        let mut available = BlockResources::remaining(self.planner.config, self.registers);
        let decide =
            |(of, choice): (&LoadLoop, &LoopChoice)| self.planner.choose_prefetches(of, *choice, &mut available);
        let decisions = self.loops.iter().zip(choices).map(decide);
        let (choices, lines): (Vec<_>, _) = decisions.map(|decision| (decision.staged, decision.line)).unzip();
        let loads = choices.iter().flat_map(|choice| &choice.loads);
        let removed_lines = loads.flat_map(|fetch| lines::conversions(self.planner.body, &fetch.load)).collect();
        let wrong = |violation: tilewright_tile::TileViolation| AssignmentError::Program {
            operation: scf::FOR.to_owned(),
            message: violation.to_string(),
        };
        let function = match choices.iter().all(|choice| choice.loads.is_empty() && choice.stored_operands.is_empty()) {
            true => self.function.clone(),
            false => pipeline_function(self.function, &choices, &Dialects::neutral()).map_err(wrong)?,
        };
        Ok(PipelinedFunction { function, lines, removed_lines })
    }
}

impl PipelinedFunction {
    /// Predicts the time of a launch that fills the target.
    fn predict(&self, config: &LaunchConfig<'_>) -> Result<PredictedPerformance, SynthesisError> {
        predict_launch_time(&self.function, None, None, config)
    }

    fn headings(&self) -> Vec<String> {
        self.lines.iter().map(LoopPipelineReport::heading).collect()
    }
}

/// Returns the number of stages that a loop's attribute states; `None` if it has no such attribute.
fn explicit(body: &FunctionBody, op: Op) -> Option<u32> {
    let explicit = body.op(op).attributes.get(NUM_STAGES).and_then(Attribute::as_integer)?;
    u32::try_from(explicit).ok().filter(|stages| *stages > 0)
}
