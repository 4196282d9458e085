//! Chooses the stages of loops and pipelines them.

use super::choose::{BlockResources, LoopDecision};
use super::how::PipelinePlanner;
use super::lines;
use super::lines::LoopPipelineReport;
use crate::layouts::LayoutCache;
use crate::synthesis::registers::{RegisterPressure, live};
use crate::{AssignedModule, AssignmentError, LaunchConfig};
use std::cell::RefCell;
use std::collections::HashMap;
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::Dialects;
use tilewright_tile::op::name::scf;
use tilewright_tile::op_attrs::NUM_STAGES;
use tilewright_tile::transform::loads::{LayoutQueries, innermost_load_loops, pipeline_function};
use tilewright_tile::{Attribute, Function, FunctionBody, Op};

/// Pipelines the loops of an assigned module. `stages` is the max number of stages; `None` takes the loop's attribute,
/// else the target's value. One stage disables prefetching. A prefetch through registers has two buffers in shared
/// memory, whatever the number of stages; one whose value the loop carries in registers has none.
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
        let Some((written, lines, removed_lines)) = of_function(function, config, stages)? else { continue };
        report.conversions.retain(|conversion| {
            !removed_lines
                .iter()
                .any(|(value, from, to)| conversion.value == *value && conversion.from == *from && conversion.to == *to)
        });
        report.loops = lines;
        *function = written;
    }
    Ok(pipelined)
}

/// The conversions that pipelining has replaced, each as the name of the value, its layout and the required layout.
type RemovedLines = Vec<(String, String, String)>;

fn of_function(
    function: &Function,
    config: &LaunchConfig<'_>,
    stages: Option<u32>,
) -> Result<Option<(Function, Vec<LoopPipelineReport>, RemovedLines)>, AssignmentError> {
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
    let found = innermost_load_loops(function, &queries);
    let registers = live(body, &axis_info, &layouts, &HashMap::new()).map_or(u64::MAX, RegisterPressure::registers);
    let mut available = BlockResources::remaining(config, registers);
    let (mut choices, mut lines, mut removed_lines) = (Vec::new(), Vec::new(), Vec::new());
    for of in found {
        let required = stages.or_else(|| explicit(body, of.op)).unwrap_or(config.context.target.global.stages);
        let LoopDecision { staged, line } = planner.choose_prefetches(&of, required, &mut available);
        for fetch in &staged.loads {
            removed_lines.extend(lines::conversion(body, &fetch.load));
        }
        lines.push(line);
        choices.push(staged);
    }
    let wrong = |violation: tilewright_tile::TileViolation| AssignmentError::Program {
        operation: scf::FOR.to_owned(),
        message: violation.to_string(),
    };
    let written = match choices.iter().all(|choice| choice.loads.is_empty() && choice.stored_operands.is_empty()) {
        true => function.clone(),
        false => pipeline_function(function, &choices, &Dialects::neutral()).map_err(wrong)?,
    };
    Ok(Some((written, lines, removed_lines)))
}

/// Returns the number of stages that a loop's attribute states; `None` if it has no such attribute.
fn explicit(body: &FunctionBody, op: Op) -> Option<u32> {
    let explicit = body.op(op).attributes.get(NUM_STAGES).and_then(Attribute::as_integer)?;
    u32::try_from(explicit).ok().filter(|stages| *stages > 0)
}
