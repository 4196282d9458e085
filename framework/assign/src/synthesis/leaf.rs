//! One leaf of the tree of choices: all choices made, so that everything else follows.

use std::collections::{HashMap, HashSet};
use tilewright_tile::op::name::{tt, ttg, tw};

use super::accesses::Asked;
use super::derived::Traced;
use super::follows::Follows;
use super::place::{self, Known};
use super::predicted::predicted;
use super::solved::Solved;
use super::work::Counted;
use super::{CopyLine, LoopLine, MemoryLine, Options, PredictionLine, ProductLine, RegisterLine, SynthesisError};
use crate::layouts::LayoutCache;
use crate::product::product;
use crate::{Assigned, LaunchConfig, Strategy, assign};
use tilewright_layout::MemoryLayout;
use tilewright_plan::contract::Contraction;
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::marks::{K_WIDTH, N_WIDTH};
use tilewright_tile::op::Dialects;
use tilewright_tile::transform::explicit::{Choices, Loop, expand};
use tilewright_tile::{Attribute, Body, Function, Op, TileModule, Value};

/// A leaf.
pub(super) struct Leaf {
    pub assigned: Assigned,
    pub products: Vec<ProductLine>,
    pub copies: Vec<CopyLine>,
    pub memories: Vec<MemoryLine>,
    pub loops: Vec<LoopLine>,
    pub shared_bytes: u64,
    pub prediction: PredictionLine,
    plans: HashMap<Op, Contraction>,
    /// Products, as the program has them, that can go on while the program does.
    queued: HashSet<Op>,
}

impl Leaf {
    /// Solves what is left when choices are made. How some copies go follows from the memory that is found: they are chosen
    /// then, and the rest is solved once more.
    pub(super) fn solve(
        module: &TileModule,
        choices: &Choices,
        loops: &[Loop],
        machine: &LaunchConfig<'_>,
        options: Options,
    ) -> Result<Self, SynthesisError> {
        let (found, follows) = Self::once(module, choices, &HashMap::new(), loops, machine, options)?;
        if follows.is_empty() {
            return Ok(found);
        }
        let made = follows.choices(choices);
        let again = Self::once(module, &made, &follows.memories, loops, machine, options);
        match again {
            // Where nothing is fetched as memory wants it, what was found first does too.
            Ok((again, _)) if follows.fetched.is_empty() && again.prediction.cycles >= found.prediction.cycles => {
                Ok(found)
            }
            Err(_) if follows.fetched.is_empty() => Ok(found),
            again => Ok(again?.0),
        }
    }

    /// Solves what is left when choices are made, some memories being settled; with it, what follows for copies.
    fn once(
        module: &TileModule,
        choices: &Choices,
        settled: &HashMap<Op, MemoryLayout>,
        loops: &[Loop],
        machine: &LaunchConfig<'_>,
        options: Options,
    ) -> Result<(Self, Follows), SynthesisError> {
        let dialects = Dialects::neutral();
        let Some(function) = module.functions.first() else {
            return Err(crate::EngineError::Program {
                operation: "module".to_owned(),
                message: "the program has no function".to_owned(),
            }
            .into());
        };
        let expanded = expand(function, choices, &dialects)?;
        let mut whole = module.clone();
        whole.functions[0] = expanded.function;
        let mut assigned = assign(&whole, machine, Strategy::LeastCost)?;
        let layouts = LayoutCache::new(machine.families);
        let (mut memories, mut moved) = (Vec::new(), HashMap::new());
        let mut follows = Follows::default();
        if let Some(body) = assigned.module.functions.get_mut(0).and_then(|function| function.body.as_mut()) {
            let requested = requested(function, choices, &expanded.copies);
            for &(from, tensor) in &expanded.tensors {
                let given = function.body.as_ref().and_then(|body| body.op(from).attributes.get("layout"));
                let known = Known { given: given.and_then(Attribute::as_text), settled: settled.get(&from) };
                let placed = place::place(body, tensor, (known, &requested), machine, &layouts, options)?;
                memories.push(placed.line);
                moved.extend(placed.moved);
                follows.fetch(body, from, (placed.fetched, &placed.memory), (&expanded.copies, &layouts))?;
            }
        }
        let shared_bytes = memories.iter().map(|memory| memory.bytes).sum();
        let most = u64::from(machine.context.target.shared.bytes);
        if shared_bytes > most {
            return Err(SynthesisError::Room {
                target: machine.context.target.name.clone(),
                bytes: shared_bytes,
                most,
            });
        }
        let empty = Body::default();
        let made = assigned.module.functions.first();
        let body = made.and_then(|function| function.body.as_ref()).unwrap_or(&empty);
        let (mut plans, mut products, mut queued) = (HashMap::new(), Vec::new(), HashSet::new());
        for &(from, op) in &expanded.products {
            let plan = planned(body, op, machine)?;
            let in_place = choices.products.get(&from).is_some_and(|choice| choice.in_place == [true; 2]);
            queued.extend((in_place && plan.pending_queue().is_some()).then_some(from));
            products.push(of_product(body, op, &plan));
            plans.insert(op, plan);
        }
        let mut copies: Vec<CopyLine> = Vec::new();
        for line in expanded.copies.iter().filter_map(|&(from, op)| of_copy(function, from, body, op)) {
            // The copies of a loop stand before it too.
            if !copies.contains(&line) {
                copies.push(line);
            }
        }
        // Where who copies what is left out, copies stay as they are.
        if options.task_mapping {
            follows.go_ahead(body, &expanded.copies, (loops, choices), &moved);
        }
        let loops: Vec<LoopLine> = loops.iter().map(|of| of_loop(function, of, choices)).collect();
        let facts = made.map(AxisInfoMap::of).unwrap_or_else(|| AxisInfoMap::of(function));
        let program = Solved { body, facts: &facts, machine, layouts: &layouts, plans: &plans };
        let counted = Counted { program, moved: &moved };
        let prediction = predicted(&counted.blocks(shared_bytes, options.blocks)?, machine)?;
        Ok((Self { products, copies, memories, loops, shared_bytes, prediction, assigned, plans, queued }, follows))
    }

    /// Whether the sums of a loop's products can be waited for in the next turn.
    pub(super) fn goes_on(&self, of: &Loop) -> bool {
        !of.accumulator.is_empty() && of.accumulator.iter().all(|product| self.queued.contains(product))
    }

    /// Which constraint gave the layout of each tensor in registers.
    pub(super) fn registers(
        &self,
        machine: &LaunchConfig<'_>,
        options: Options,
    ) -> Result<Vec<RegisterLine>, SynthesisError> {
        let layouts = LayoutCache::new(machine.families);
        let Some(function) = self.assigned.module.functions.first() else { return Ok(Vec::new()) };
        let Some(body) = &function.body else { return Ok(Vec::new()) };
        let facts = AxisInfoMap::of(function);
        let program = Solved { body, facts: &facts, machine, layouts: &layouts, plans: &self.plans };
        Traced { program, memories: &self.memories, options }.lines()
    }
}

/// An operation as the program says it: its result, its name, and the tensors that it is between.
fn description(function: &Function, op: Op) -> String {
    let Some(body) = &function.body else { return String::new() };
    let operation = body.op(op);
    let result = operation.results.first().map(|value| format!("{} = ", body.display_name(*value)));
    let ends: Vec<String> = operation.operands.iter().take(2).map(|value| body.display_name(*value)).collect();
    format!("{}{} {}", result.unwrap_or_default(), operation.name(), ends.join(" to "))
}

/// What is known of each copy: what facts say, and what the program does.
fn requested(function: &Function, choices: &Choices, copies: &[(Op, Op)]) -> HashMap<Op, Asked> {
    let named = |op: Op| {
        let attributes = &function.body.as_ref()?.op(op).attributes;
        attributes.get("instruction").and_then(Attribute::as_text).map(str::to_owned)
    };
    let of = |&(from, made): &(Op, Op)| {
        let bytes = choices.copies.get(&from).and_then(|choice| choice.bytes);
        (made, Asked { explicit: description(function, from), bytes, instruction: named(from) })
    };
    copies.iter().map(of).collect()
}

fn layout_text(body: &Body, value: Value) -> String {
    body.ty(value).layout().map_or_else(String::new, |layout| layout.text().to_owned())
}

fn planned(body: &Body, op: Op, machine: &LaunchConfig<'_>) -> Result<Contraction, SynthesisError> {
    let wrong = |source| SynthesisError::Product { operation: body.display_name(body.op(op).results[0]), source };
    Ok(product(body, op, machine).map_err(wrong)?.plan)
}

fn of_product(body: &Body, op: Op, plan: &Contraction) -> ProductLine {
    let operation = body.op(op);
    let number = |name: &str| {
        let number = operation.attributes.get(name).and_then(Attribute::as_integer)?;
        u64::try_from(number).ok()
    };
    ProductLine {
        value: body.display_name(operation.results[0]),
        instruction: plan.unit_name().to_owned(),
        k_width: number(K_WIDTH),
        n_width: number(N_WIDTH),
        cycles: plan.cost.cycles(),
        layouts: [0, 1, 2].map(|operand| layout_text(body, operation.operands[operand])),
    }
}

/// What a copy became, and why its layout is what it is.
fn of_copy(function: &Function, from: Op, body: &Body, op: Op) -> Option<CopyLine> {
    let operation = body.op(op);
    let original = function.body.as_ref()?;
    let source = original.op(from);
    let value = source.results.first().or(source.operands.get(1))?;
    let (value, tensor, constraint) = match operation.name() {
        ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => (
            *value,
            operation.operands[0],
            "anchor: neighbours in global memory in neighbouring lanes, as wide as it is aligned",
        ),
        tt::LOAD => (*value, operation.results[0], "f = g: global memory is read as what uses it has it, or coalesced"),
        tw::LOAD_BOX => {
            let layout = body.operand(op, "dst").map_or_else(String::new, |buffer| layout_text(body, buffer));
            return Some(CopyLine {
                operation: operation.name().to_owned(),
                value: original.display_name(*value),
                layout,
                constraint: "whole boxes of memory that the launch maps, as the arrangement has them".to_owned(),
            });
        }
        ttg::LOCAL_LOAD => (*value, operation.results[0], "f = g q^-1 p: read as what uses it has it"),
        ttg::LOCAL_STORE => (*value, operation.operands[0], "f = g q^-1 p: written as what makes it has it"),
        tt::STORE => {
            (*value, operation.operands[1], "f = g: global memory is written as what makes it has it, or coalesced")
        }
        _ => return None,
    };
    Some(CopyLine {
        operation: operation.name().to_owned(),
        value: original.display_name(value),
        layout: layout_text(body, tensor),
        constraint: constraint.to_owned(),
    })
}

fn of_loop(function: &Function, of: &Loop, choices: &Choices) -> LoopLine {
    let name = |op: &Op| match &function.body {
        Some(body) => body.op(*op).results.first().map_or_else(String::new, |value| body.display_name(*value)),
        None => String::new(),
    };
    LoopLine {
        stages: choices.stages.get(&of.op).copied().unwrap_or(1),
        boxes: of.copies.iter().any(|copy| choices.boxes.contains_key(copy)),
        producers: u32::from(choices.producers.contains_key(&of.op)),
        pending: if choices.pending.contains(&of.op) { of.accumulator.iter().map(name).collect() } else { Vec::new() },
        tensors: of.tensors.iter().map(name).collect(),
        rejected: of.rejected.clone(),
    }
}
