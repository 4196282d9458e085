//! A leaf of the search tree: all choices are made, and the solver determines all layouts from them.

use std::collections::{HashMap, HashSet};
use tilewright_tile::op::name::{tt, ttg, tw};

use super::accesses::{AccessIndex, CopyConstraints};
use super::derived::ConstraintTrace;
use super::follows::CopyConsequences;
use super::live_bytes::allocated;
use super::model::ModelLaunch;
use super::predicted::predicted;
use super::scratch::fit_scratch;
use super::shared_layout::{self, Known};
use super::solved::Solved;
use super::tree::Tree;
use super::work::WorkCounter;
use super::{
    CopyReport, PingPongReport, PredictedPerformance, RegisterTensorReport, SharedCopyLoopReport, SharedTensorReport,
    SynthesisError, SynthesisOptions,
};
use crate::dot_plan::plan_dot;
use crate::layouts::LayoutCache;
use crate::{AssignedModule, DotReport, LaunchConfig, Strategy, assign_layouts};
use tilewright_layout::MemoryLayout;
use tilewright_plan::mma::MmaPlan;
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::Dialects;
use tilewright_tile::transform::explicit::{ExplicitMemoryChoices, SharedCopyLoop, expand_explicit_memory};
use tilewright_tile::{Attribute, Function, FunctionBody, Op, TileModule, Value, ValueOrigin};

/// A solved leaf of the search tree: the program with layouts, and the lines of its derivation.
pub(super) struct Leaf {
    pub assigned: AssignedModule,
    pub dots: Vec<DotReport>,
    pub copies: Vec<CopyReport>,
    pub memories: Vec<SharedTensorReport>,
    pub loops: Vec<SharedCopyLoopReport>,
    pub shared_bytes: u64,
    pub prediction: PredictedPerformance,
    plans: HashMap<Op, MmaPlan>,
    /// The dots of the original program whose MMA can be asynchronous.
    queued: HashSet<Op>,
}

impl Leaf {
    /// Solves a program under the choices `choices`. The memory layouts that are found may imply further choices for
    /// some copies; the program is then solved a second time with these.
    pub(super) fn solve<'m>(
        module: &TileModule,
        choices: &ExplicitMemoryChoices,
        tree: &Tree<'m>,
        config: &LaunchConfig<'m>,
        options: SynthesisOptions,
    ) -> Result<Self, SynthesisError> {
        let (found, follows) = Self::once(module, choices, &HashMap::new(), tree, config, options)?;
        if follows.is_empty() {
            return Ok(found);
        }
        let updated = follows.choices(choices);
        let second = Self::once(module, &updated, &follows.memories, tree, config, options);
        match second {
            // If only copies through registers follow, the first solution remains valid, and is kept if it is faster.
            Ok((second, _)) if follows.fetched.is_empty() && second.prediction.cycles >= found.prediction.cycles => {
                Ok(found)
            }
            Err(_) if follows.fetched.is_empty() => Ok(found),
            second => Ok(second?.0),
        }
    }

    /// Solves a program once, under the choices `choices` and with the memory layouts `settled` fixed. Also returns the
    /// choices for copies that follow from the memory layouts.
    fn once<'m>(
        module: &TileModule,
        choices: &ExplicitMemoryChoices,
        settled: &HashMap<Op, MemoryLayout>,
        tree: &Tree<'m>,
        config: &LaunchConfig<'m>,
        options: SynthesisOptions,
    ) -> Result<(Self, CopyConsequences), SynthesisError> {
        let dialects = Dialects::neutral();
        let Some(function) = module.functions.first() else {
            return Err(crate::AssignmentError::Program {
                operation: "module".to_owned(),
                message: "the program has no function".to_owned(),
            }
            .into());
        };
        let expanded = expand_explicit_memory(function, choices, &dialects)?;
        let mut expanded_module = module.clone();
        expanded_module.functions[0] = expanded.function;
        let mut assigned = assign_layouts(&expanded_module, config, Strategy::LeastCost)?;
        let layouts = LayoutCache::new(config.families);
        let (mut memories, mut moved) = (Vec::new(), HashMap::new());
        let mut follows = CopyConsequences::default();
        if let Some(body) = assigned.module.functions.get_mut(0).and_then(|function| function.body.as_mut()) {
            let requested = requested(function, choices, &expanded.copies);
            let index = AccessIndex::of(body);
            for &(from, tensor) in &expanded.tensors {
                let given = function.body.as_ref().and_then(|body| body.op(from).attributes.get("layout"));
                let name = is_copy(function, from).then(|| format!("of `{}`", description(function, from)));
                let given = given.and_then(Attribute::as_text);
                let known = Known { name: name.as_deref(), given, settled: settled.get(&from) };
                let known = (known, &requested, &tree.solved_layouts);
                let placed = shared_layout::choose_layout((body, &index), tensor, known, config, &layouts, options)?;
                memories.push(placed.line);
                moved.extend(placed.moved);
                follows.fetch(body, from, (placed.fetched, &placed.memory), (&expanded.copies, &layouts))?;
            }
        }
        let empty = FunctionBody::default();
        let solved = assigned.module.functions.first();
        let body = solved.and_then(|function| function.body.as_ref()).unwrap_or(&empty);
        let PlannedDots { plans, dots, queued } = PlannedDots::of(function, body, &expanded.dots, choices, config)?;
        let copies = copy_reports(function, &expanded.copies, body);
        // Without task mapping, copies keep their layouts.
        if options.task_mapping {
            follows.find_synchronous_copies(body, &expanded.copies, (tree, choices), &moved);
        }
        let loops: Vec<SharedCopyLoopReport> =
            tree.loops.iter().map(|open| of_loop(function, &open.of, choices)).collect();
        let axis_info = solved.map(AxisInfoMap::analyze).unwrap_or_else(|| AxisInfoMap::analyze(function));
        let program = Solved { body, axis_info: &axis_info, config, layouts: &layouts, plans: &plans };
        let tensors = expanded.tensors.iter().zip(&memories);
        let tensors = tensors.filter_map(|(&(_, tensor), memory)| allocated(body, tensor, memory.bytes));
        let (limited, shared_bytes) = fit_scratch(program, &tensors.collect::<Vec<_>>())?;
        let program = Solved { config: &limited, ..program };
        let block = WorkCounter::new(program, &moved, None)?.blocks(shared_bytes, options.blocks)?;
        let distinct_bytes = tree.reuse.distinct_bytes(&block);
        let prediction = predicted(&ModelLaunch { distinct_bytes, ..block }, config)?;
        let found = Self { dots, copies, memories, loops, shared_bytes, prediction, assigned, plans, queued };
        Ok((found, follows))
    }

    /// Returns the choices of the leaf as text: instructions, stages, layouts of shared memory, and copies.
    pub(super) fn choices(&self) -> Vec<String> {
        let dots = self.dots.iter().map(DotReport::to_string);
        let (loops, tensors) = (
            self.loops.iter().map(SharedCopyLoopReport::to_string),
            self.memories.iter().map(SharedTensorReport::heading),
        );
        dots.chain(loops).chain(tensors).chain(self.copies.iter().map(CopyReport::heading)).collect()
    }

    /// Whether all MMAs that a loop accumulates can overlap with the next iteration.
    pub(super) fn can_overlap(&self, of: &SharedCopyLoop) -> bool {
        !of.accumulator.is_empty() && of.accumulator.iter().all(|dot| self.queued.contains(dot))
    }

    /// Returns the constraint that determines the layout of each tensor in registers.
    pub(super) fn registers(
        &self,
        config: &LaunchConfig<'_>,
        options: SynthesisOptions,
    ) -> Result<Vec<RegisterTensorReport>, SynthesisError> {
        let layouts = LayoutCache::new(config.families);
        let Some(function) = self.assigned.module.functions.first() else { return Ok(Vec::new()) };
        let Some(body) = &function.body else { return Ok(Vec::new()) };
        let axis_info = AxisInfoMap::analyze(function);
        let program = Solved { body, axis_info: &axis_info, config, layouts: &layouts, plans: &self.plans };
        ConstraintTrace { program, memories: &self.memories, options }.lines()
    }
}

/// Whether a shared tensor belongs to a copy: to a bulk tensor copy from registers to global memory.
fn is_copy(function: &Function, from: Op) -> bool {
    function.body.as_ref().is_some_and(|body| body.op(from).name() == tw::COPY)
}

/// Returns an operation as text: its result, its name, and its first two operands.
pub(super) fn description(function: &Function, op: Op) -> String {
    let Some(body) = &function.body else { return String::new() };
    let operation = body.op(op);
    let result = operation.results.first().map(|value| format!("{} = ", body.display_name(*value)));
    let ends: Vec<String> = operation.operands.iter().take(2).map(|value| body.display_name(*value)).collect();
    format!("{}{} {}", result.unwrap_or_default(), operation.name(), ends.join(" to "))
}

/// Returns the known properties of each expanded copy, from AxisInfo and from the attributes of the program. `copies`
/// has each copy of the program with its expansion.
fn requested(
    function: &Function,
    choices: &ExplicitMemoryChoices,
    copies: &[(Op, Op)],
) -> HashMap<Op, CopyConstraints> {
    let named = |op: Op| {
        let attributes = &function.body.as_ref()?.op(op).attributes;
        attributes.get("instruction").and_then(Attribute::as_text).map(str::to_owned)
    };
    let of = |&(from, expanded_op): &(Op, Op)| {
        let bytes = choices.copies.get(&from).and_then(|choice| choice.bytes);
        let (explicit, instruction) = (description(function, from), named(from));
        (expanded_op, CopyConstraints { copy: from, explicit, bytes, instruction })
    };
    copies.iter().map(of).collect()
}

fn layout_text(body: &FunctionBody, value: Value) -> String {
    body.value_type(value).layout().map_or_else(String::new, |layout| layout.text().to_owned())
}

/// The planned dots of an expanded program.
#[derive(Default)]
struct PlannedDots {
    plans: HashMap<Op, MmaPlan>,
    dots: Vec<DotReport>,
    /// The dots of the original program whose MMA can be asynchronous.
    queued: HashSet<Op>,
}

impl PlannedDots {
    /// Plans all dots; `expanded` has each dot of the program with its expansion.
    fn of(
        function: &Function,
        body: &FunctionBody,
        expanded: &[(Op, Op)],
        choices: &ExplicitMemoryChoices,
        config: &LaunchConfig<'_>,
    ) -> Result<Self, SynthesisError> {
        let mut found = Self::default();
        for &(from, op) in expanded {
            let plan = plan_dot_mma(body, op, config)?;
            let smem_operands = choices.dots.get(&from).is_some_and(|choice| choice.smem_operands == [true; 2]);
            found.queued.extend((smem_operands && plan.pending_queue().is_some()).then_some(from));
            let layouts = [0, 1, 2].map(|operand| layout_text(body, body.op(op).operands[operand]));
            let report = DotReport::new(result_name(function, from), &plan, &plan.problem);
            let report = DotReport { layouts, ..report };
            // Groups of consumers have the same dots.
            if !found.dots.contains(&report) {
                found.dots.push(report);
            }
            found.plans.insert(op, plan);
        }
        Ok(found)
    }
}

/// Plans the MMA of a dot.
pub(super) fn plan_dot_mma(body: &FunctionBody, op: Op, config: &LaunchConfig<'_>) -> Result<MmaPlan, SynthesisError> {
    let wrong = |source| SynthesisError::Mma { operation: body.display_name(body.op(op).results[0]), source };
    Ok(plan_dot(body, op, config).map_err(wrong)?.plan)
}

/// Whether an operation is a store to global memory without a layout conversion of its value.
fn is_plain_store(body: &FunctionBody, op: Op) -> bool {
    let operation = body.op(op);
    let value = body.operand(op, "value").filter(|_| operation.name() == tt::STORE);
    let is_converted = |value| matches!(body.value_origin(value), ValueOrigin::Result(op, _) if body.op(op).name() == ttg::CONVERT_LAYOUT);
    value.is_some_and(|value| !is_converted(value))
}

/// Returns the reports of all copies of the program. `copies` has each copy with the operations that implement it; each
/// is reported once, with the number of its repetitions in the prologues of loops.
fn copy_reports(function: &Function, copies: &[(Op, Op)], body: &FunctionBody) -> Vec<CopyReport> {
    let mut reports: Vec<(Op, CopyReport)> = Vec::new();
    for &(from, op) in copies {
        let Some(report) = of_copy(function, from, body, op) else { continue };
        let alike = |(copy, known): &&mut (Op, CopyReport)| {
            *copy == from && (&known.operation, &known.layout) == (&report.operation, &report.layout)
        };
        match reports.iter_mut().find(alike) {
            Some((_, known)) => known.emitted += 1,
            None => reports.push((from, report)),
        }
    }
    reports.into_iter().map(|(_, report)| report).collect()
}

/// Returns the derivation line of the copy `from` of the original program: the operation `op` that implements it, and
/// the reason for its layout. `None` if `op` does not copy.
fn of_copy(function: &Function, from: Op, body: &FunctionBody, op: Op) -> Option<CopyReport> {
    let operation = body.op(op);
    let original = function.body.as_ref()?;
    let source = original.op(from);
    let value = source.results.first().or(source.operands.get(1))?;
    let (value, tensor, constraint) = match operation.name() {
        ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => (
            *value,
            operation.operands[0],
            "anchor: neighbours in global memory in neighbouring lanes, as wide as its alignment allows",
        ),
        tt::LOAD => {
            (*value, operation.results[0], "f = g: read from global memory in the layout of its user, or coalesced")
        }
        name @ (tw::BULK_TENSOR_LOAD | tw::BULK_TENSOR_STORE) => {
            let (memory, constraint) = match name == tw::BULK_TENSOR_LOAD {
                true => ("dst", "bulk tensor copies of whole boxes, in the canonical layout"),
                false => ("src", "a bulk tensor copy of whole boxes to global memory, in the canonical layout"),
            };
            return Some(CopyReport {
                operation: name.to_owned(),
                value: original.display_name(*value),
                layout: body.operand(op, memory).map_or_else(String::new, |buffer| layout_text(body, buffer)),
                constraint: constraint.to_owned(),
                emitted: 1,
            });
        }
        ttg::LOCAL_LOAD => (*value, operation.results[0], "f = g q^-1 p: read in the layout of its user"),
        ttg::LOCAL_STORE => (*value, operation.operands[0], "f = g q^-1 p: written in the layout of its producer"),
        tt::STORE if is_plain_store(body, op) => {
            (*value, operation.operands[1], "f = g: written to global memory in the layout of its producer")
        }
        tt::STORE => {
            (*value, operation.operands[1], "f = g: written to global memory coalesced, after a layout conversion")
        }
        _ => return None,
    };
    Some(CopyReport {
        operation: operation.name().to_owned(),
        value: original.display_name(value),
        layout: layout_text(body, tensor),
        constraint: constraint.to_owned(),
        emitted: 1,
    })
}

/// Returns the name of the first result of an operation of the program; empty if it has none.
fn result_name(function: &Function, op: Op) -> String {
    let Some(body) = &function.body else { return String::new() };
    body.op(op).results.first().map_or_else(String::new, |value| body.display_name(*value))
}

/// Returns the names of the tensors in shared memory that a loop fills.
pub(super) fn of_tensors(function: &Function, of: &SharedCopyLoop) -> String {
    let names: Vec<String> = of.tensors.iter().map(|op| result_name(function, *op)).collect();
    names.join(", ")
}

pub(super) fn of_loop(
    function: &Function,
    of: &SharedCopyLoop,
    choices: &ExplicitMemoryChoices,
) -> SharedCopyLoopReport {
    let name = |op: &Op| result_name(function, *op);
    SharedCopyLoopReport {
        stages: choices.stages.get(&of.op).copied().unwrap_or(1),
        buffers: choices.buffer_count(of.op).unwrap_or(1),
        tensor_copies: of.copies.iter().any(|copy| choices.tensor_copies.contains_key(copy)),
        producers: u32::from(choices.producers.contains_key(&of.op)),
        registers: choices.producers.get(&of.op).and_then(|choice| choice.registers),
        tile_groups: choices.producers.get(&of.op).map(|choice| choice.groups).filter(|groups| *groups > 1),
        ping_pong: choices.ping_pong.get(&of.op).map(|exclusive| PingPongReport {
            groups: exclusive.groups,
            first: name(&exclusive.first),
            last: name(&exclusive.last),
        }),
        pending: if choices.overlapped_mmas.contains(&of.op) {
            of.accumulator.iter().map(name).collect()
        } else {
            Vec::new()
        },
        tensors: of.tensors.iter().map(name).collect(),
        rejected: of.rejected.clone(),
    }
}
