//! Chooses the stages of loops and pipelines them.

use super::choose::BlockResources;
use super::how::PipelinePlanner;
use super::lines;
use super::lines::LoopPipelineReport;
use crate::layouts::LayoutCache;
use crate::stage_count::{MAX_STAGES, choose_stages};
use crate::synthesis::alternatives::Tried;
use crate::synthesis::registers::{RegisterPressure, live};
use crate::synthesis::{PredictedPerformance, RejectedAlternative, predict_launch_time};
use crate::{AssignedModule, AssignmentError, LaunchConfig};
use std::cell::RefCell;
use std::collections::HashMap;
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::Dialects;
use tilewright_tile::op::name::scf;
use tilewright_tile::op_attrs::NUM_STAGES;
use tilewright_tile::transform::loads::{LayoutQueries, LoadLoop, innermost_load_loops, pipeline_function};
use tilewright_tile::{Attribute, Function, FunctionBody, Op};

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
        let Some((written, alternatives)) = pipeline_loops_of(function, config, stages)? else { continue };
        report.conversions.retain(|conversion| {
            let conversion = (&conversion.value, &conversion.from, &conversion.to);
            !written.removed_lines.iter().any(|(value, from, to)| conversion == (value, from, to))
        });
        (report.loops, report.alternatives, *function) = (written.lines, alternatives, written.function);
    }
    Ok(pipelined)
}

/// A function with pipelined loops.
struct PipelinedFunction {
    function: Function,
    /// The reports of the loops.
    lines: Vec<LoopPipelineReport>,
    /// The conversions that pipelining has replaced, each as the name of the value, its layout and the required layout.
    removed_lines: Vec<(String, String, String)>,
}

fn pipeline_loops_of(
    function: &Function,
    config: &LaunchConfig<'_>,
    stages: Option<u32>,
) -> Result<Option<(PipelinedFunction, Vec<RejectedAlternative>)>, AssignmentError> {
    let Some(body) = &function.body else { return Ok(None) };
    if !body.walk_region(body.root()).into_iter().any(|op| body.op(op).name() == scf::FOR) {
        return Ok(None);
    }
    let layouts = LayoutCache::new(config.families);
    let (axis_info, dot_plans) = (AxisInfoMap::analyze(function), RefCell::default());
    let planner = PipelinePlanner { body, axis_info: &axis_info, layouts: &layouts, config, dot_plans };
    let queries = LayoutQueries {
        moves_through_shared: &|op| planner.conversion_uses_shared(op),
        can_read_from_shared: &|op, side| planner.reads_operand_from_shared(op, side),
    };
    let loops = innermost_load_loops(function, &queries);
    let registers = live(body, &axis_info, &layouts, &HashMap::new()).map_or(u64::MAX, RegisterPressure::registers);
    let search =
        StageSearch { function, planner: &planner, loops: &loops, registers, best: None, tried: Tried::default() };
    search.choose(&loops.iter().map(|of| stages.or_else(|| explicit(body, of.op))).collect::<Vec<_>>()).map(Some)
}

/// The search for the number of stages of each loop of a function.
struct StageSearch<'q> {
    function: &'q Function,
    planner: &'q PipelinePlanner<'q>,
    loops: &'q [LoadLoop],
    /// Number of registers of a lane that the program uses.
    registers: u64,
    /// The fastest program that was tried.
    best: Option<(PipelinedFunction, PredictedPerformance)>,
    /// All programs that were tried.
    tried: Tried,
}

impl StageSearch<'_> {
    /// Pipelines all loops, each with at most the number of stages in `stated`. If that is `None`, with the number by
    /// which the program has the least predicted time; also returns the numbers that were tried and not taken.
    fn choose(
        mut self,
        stated: &[Option<u32>],
    ) -> Result<(PipelinedFunction, Vec<RejectedAlternative>), AssignmentError> {
        let first = self.planner.config.context.target.global.stages;
        let mut stages: Vec<u32> = stated.iter().map(|stated| stated.unwrap_or(first)).collect();
        let has_loads = |index: &usize| !self.loops[*index].loads.is_empty();
        let open = (0..stages.len()).filter(has_loads).filter(|&index| stated[index].is_none());
        for index in open.collect::<Vec<_>>() {
            choose_stages(&(1..=MAX_STAGES), first, |number| {
                let other = [&stages[..index], &[number], &stages[index + 1..]].concat();
                let is_faster = self.try_stages(&other);
                stages[index] = if is_faster { number } else { stages[index] };
                is_faster
            });
        }
        let Some((found, prediction)) = self.best else { return Ok((self.pipeline(&stages)?, Vec::new())) };
        let alternatives = self.tried.into_alternatives(&found.headings(), &prediction);
        Ok((found, alternatives))
    }

    /// Pipelines the loops with at most these numbers of stages. Keeps the function if it is predicted to be the
    /// fastest, and returns whether it is.
    fn try_stages(&mut self, stages: &[u32]) -> bool {
        let Ok(pipelined) = self.pipeline(stages) else { return false };
        let headings = pipelined.headings();
        if self.best.as_ref().is_some_and(|(known, _)| known.headings() == headings) {
            return false;
        }
        let bytes = pipelined.lines.iter().map(|line| line.bytes).sum();
        let predicted = predict_launch_time(&pipelined.function, bytes, None, self.planner.config);
        self.tried.add(headings, predicted.as_ref());
        let cycles = self.best.as_ref().map_or(f64::INFINITY, |(_, best)| best.cycles);
        let faster = predicted.ok().filter(|prediction| prediction.cycles < cycles);
        let is_faster = faster.is_some();
        self.best = faster.map(|prediction| (pipelined, prediction)).or(self.best.take());
        is_faster
    }

    /// Pipelines the loops, each with at most its number of stages.
    fn pipeline(&self, stages: &[u32]) -> Result<PipelinedFunction, AssignmentError> {
        let mut available = BlockResources::remaining(self.planner.config, self.registers);
        let decide = |(of, stages): (&LoadLoop, &u32)| self.planner.choose_prefetches(of, *stages, &mut available);
        let decisions = self.loops.iter().zip(stages).map(decide);
        let (choices, lines): (Vec<_>, _) = decisions.map(|decision| (decision.staged, decision.line)).unzip();
        let loads = choices.iter().flat_map(|choice| &choice.loads);
        let removed_lines = loads.filter_map(|fetch| lines::conversion(self.planner.body, &fetch.load)).collect();
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
    fn headings(&self) -> Vec<String> {
        self.lines.iter().map(LoopPipelineReport::heading).collect()
    }
}

/// Returns the number of stages that a loop's attribute states; `None` if it has no such attribute.
fn explicit(body: &FunctionBody, op: Op) -> Option<u32> {
    let explicit = body.op(op).attributes.get(NUM_STAGES).and_then(Attribute::as_integer)?;
    u32::try_from(explicit).ok().filter(|stages| *stages > 0)
}
