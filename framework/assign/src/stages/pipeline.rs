//! Chooses the stages of loops and pipelines them.

use super::choose::{Chosen, Room};
use super::how::Question;
use super::lines;
use super::lines::PipelinedLoopLine;
use crate::layouts::LayoutCache;
use crate::synthesis::registers::live;
use crate::{Assigned, EngineError, LaunchConfig};
use std::cell::RefCell;
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::op::Dialects;
use tilewright_tile::op::name::scf;
use tilewright_tile::transform::loads::{LayoutQueries, load_loops, pipeline};
use tilewright_tile::{Attribute, Body, Function, Op};

/// The attribute of a loop that says how many stages it is to have.
const SAID: &str = "tt.num_stages";

/// The same program with its loads ahead. `stages` says in how many stages at most; else loops do, else the
/// target. One is none ahead; what goes by registers has two buffers, always.
///
/// # Errors
/// [`EngineError`]: layouts or products that the program does not have, which is a fault of who assigned them.
pub fn staged(assigned: &Assigned, machine: &LaunchConfig<'_>, stages: Option<u32>) -> Result<Assigned, EngineError> {
    let mut made = assigned.clone();
    for (function, report) in made.module.functions.iter_mut().zip(&mut made.report.functions) {
        let Some((written, lines, gone)) = of_function(function, machine, stages)? else { continue };
        report.conversions.retain(|conversion| {
            !gone
                .iter()
                .any(|(value, from, to)| conversion.value == *value && conversion.from == *from && conversion.to == *to)
        });
        report.loops = lines;
        *function = written;
    }
    Ok(made)
}

/// Conversions that are gone: the value, and the layouts from and to which it was brought.
type Gone = Vec<(String, String, String)>;

fn of_function(
    function: &Function,
    machine: &LaunchConfig<'_>,
    stages: Option<u32>,
) -> Result<Option<(Function, Vec<PipelinedLoopLine>, Gone)>, EngineError> {
    let Some(body) = &function.body else { return Ok(None) };
    if !body.walk(body.root()).into_iter().any(|op| body.op(op).name() == scf::FOR) {
        return Ok(None);
    }
    let layouts = LayoutCache::new(machine.families);
    let (facts, products) = (AxisInfoMap::of(function), RefCell::default());
    let problem = Question { body, facts: &facts, layouts: &layouts, machine, products };
    let asks = LayoutQueries { moves: &|op| problem.moves(op), reads: &|op, side| problem.reads(op, side) };
    let found = load_loops(function, &asks);
    let registers = live(body, &layouts).unwrap_or(u64::MAX);
    let mut room = Room::of(machine, registers);
    let (mut choices, mut lines, mut gone) = (Vec::new(), Vec::new(), Vec::new());
    for of in found {
        let required = stages.or_else(|| explicit(body, of.op)).unwrap_or(machine.context.target.global.stages);
        let Chosen { staged, line } = problem.chosen(&of, required, &mut room);
        for fetch in &staged.loads {
            gone.extend(lines::conversion(body, &fetch.load));
        }
        lines.push(line);
        choices.push(staged);
    }
    let wrong = |violation: tilewright_tile::TileViolation| EngineError::Program {
        operation: scf::FOR.to_owned(),
        message: violation.to_string(),
    };
    let written = match choices.iter().all(|choice| choice.loads.is_empty()) {
        true => function.clone(),
        false => pipeline(function, &choices, &Dialects::neutral()).map_err(wrong)?,
    };
    Ok(Some((written, lines, gone)))
}

/// The stages that a loop itself asks for.
fn explicit(body: &Body, op: Op) -> Option<u32> {
    let explicit = body.op(op).attributes.get(SAID).and_then(Attribute::as_integer)?;
    u32::try_from(explicit).ok().filter(|stages| *stages > 0)
}
