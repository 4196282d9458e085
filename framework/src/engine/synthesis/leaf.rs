//! One leaf of the tree of choices: all choices made, so that everything else follows.

use std::collections::HashMap;

use super::place::{self, weighted};
use super::{CopyLine, LoopLine, MemoryLine, Options, ProductLine, SynthesisError};
use crate::engine::layouts::Layouts;
use crate::engine::product::{K_WIDTH, product};
use crate::engine::{Assigned, Machine, Strategy, assign};
use crate::tile::op::Dialects;
use crate::tile::transform::explicit::{Choices, Loop, expand};
use crate::tile::{Attribute, Body, Function, Module, Op, Value};

/// Cycles until what global memory is asked for is there, as far as no copy goes ahead: some hundreds on all GPUs.
pub(super) const LATENCY: f64 = 600.0;
/// Turns that a loop is taken to have.
const TURNS: f64 = 8.0;

/// A leaf.
pub(super) struct Leaf {
    pub assigned: Assigned,
    pub products: Vec<ProductLine>,
    pub copies: Vec<CopyLine>,
    pub memories: Vec<MemoryLine>,
    pub loops: Vec<LoopLine>,
    pub shared_bytes: u64,
    pub cycles: f64,
}

impl Leaf {
    /// Solves what is left when choices are made.
    pub(super) fn solve(
        module: &Module,
        choices: &Choices,
        loops: &[Loop],
        machine: &Machine<'_>,
        options: Options,
    ) -> Result<Self, SynthesisError> {
        let dialects = Dialects::neutral();
        let Some(function) = module.functions.first() else {
            return Err(crate::engine::EngineError::Program {
                operation: "module".to_owned(),
                message: "the program has no function".to_owned(),
            }
            .into());
        };
        let expanded = expand(function, choices, &dialects)?;
        let mut whole = module.clone();
        whole.functions[0] = expanded.function;
        let mut assigned = assign(&whole, machine, Strategy::LeastCost)?;
        let layouts = Layouts::new(machine.families);
        let mut memories = Vec::new();
        if let Some(body) = assigned.module.functions.get_mut(0).and_then(|function| function.body.as_mut()) {
            let bytes = |&(from, made): &(Op, Op)| Some((made, choices.copies.get(&from)?.bytes?));
            let bytes: HashMap<Op, u64> = expanded.copies.iter().filter_map(bytes).collect();
            for &(from, tensor) in &expanded.tensors {
                let given = function.body.as_ref().and_then(|body| body.op(from).attributes.get("layout"));
                let given = given.and_then(Attribute::as_text);
                memories.push(place::place(body, tensor, (given, &bytes), machine, &layouts, options)?);
            }
        }
        let shared_bytes = memories.iter().map(|memory| memory.bytes).sum();
        let most = u64::from(machine.means.target.shared.bytes);
        if shared_bytes > most {
            return Err(SynthesisError::Room { target: machine.means.target.name.clone(), bytes: shared_bytes, most });
        }
        let empty = Body::default();
        let body = assigned.module.functions.first().and_then(|function| function.body.as_ref()).unwrap_or(&empty);
        let products = expanded.products.iter().map(|&(_, op)| of_product(body, op, machine));
        let products = products.collect::<Result<Vec<_>, _>>()?;
        let mut copies: Vec<CopyLine> = Vec::new();
        for line in expanded.copies.iter().filter_map(|&(from, op)| of_copy(function, from, body, op)) {
            // The copies of a loop stand before it too.
            if !copies.contains(&line) {
                copies.push(line);
            }
        }
        let loops: Vec<LoopLine> = loops.iter().map(|of| of_loop(function, of, choices)).collect();
        let cycles = cycles(&assigned, body, &products, &expanded.products, &memories, &loops);
        Ok(Self { products, copies, memories, loops, shared_bytes, cycles, assigned })
    }
}

/// What the program takes: the slots of the engine, those of shared memory, and products, of which memory and units work side
/// by side, and what nothing goes ahead of.
fn cycles(
    assigned: &Assigned,
    body: &Body,
    products: &[ProductLine],
    made: &[(Op, Op)],
    memories: &[MemoryLine],
    loops: &[LoopLine],
) -> f64 {
    let weights = weighted(body);
    let weight = |op: Op| weights.iter().find(|(known, _)| *known == op).map_or(1.0, |(_, weight)| *weight as f64);
    let multiplied: f64 = products.iter().zip(made).map(|(line, (_, op))| line.cycles * weight(*op)).sum();
    let accessed: f64 = memories.iter().map(|memory| memory.price).sum();
    let waiting: f64 = loops.iter().map(|of| LATENCY * TURNS / f64::from(of.stages * of.stages)).sum();
    assigned.report.cost() + accessed + multiplied + waiting
}

fn value_name(body: &Body, value: Value) -> String {
    body.name(value).map_or_else(|| format!("%{}", value.index()), |name| format!("%{name}"))
}

fn layout_text(body: &Body, value: Value) -> String {
    body.ty(value).layout().map_or_else(String::new, |layout| layout.text().to_owned())
}

fn of_product(body: &Body, op: Op, machine: &Machine<'_>) -> Result<ProductLine, SynthesisError> {
    let operation = body.op(op);
    let value = value_name(body, operation.results[0]);
    let made = product(body, op, machine);
    let made = made.map_err(|source| SynthesisError::Product { operation: value.clone(), source })?;
    Ok(ProductLine {
        value,
        instruction: made.plan.unit_name().to_owned(),
        k_width: operation.attributes.get(K_WIDTH).and_then(Attribute::as_integer).and_then(|w| u64::try_from(w).ok()),
        cycles: made.plan.cost.cycles(),
        layouts: [0, 1, 2].map(|operand| layout_text(body, operation.operands[operand])),
    })
}

/// What a copy became, and why its layout is what it is.
fn of_copy(function: &Function, from: Op, body: &Body, op: Op) -> Option<CopyLine> {
    let operation = body.op(op);
    let original = function.body.as_ref()?;
    let source = original.op(from);
    let value = source.results.first().or(source.operands.get(1))?;
    let (value, tensor, constraint) = match operation.name() {
        "ttg.async_copy_global_to_local" => (
            *value,
            operation.operands[0],
            "anchor: neighbours in global memory in neighbouring lanes, as wide as it is aligned",
        ),
        "tt.load" => {
            (*value, operation.results[0], "f = g: global memory is read as what uses it has it, or coalesced")
        }
        "ttg.local_load" => (*value, operation.results[0], "f = g q^-1 p: read as what uses it has it"),
        "ttg.local_store" => (*value, operation.operands[0], "f = g q^-1 p: written as what makes it has it"),
        "tt.store" => {
            (*value, operation.operands[1], "f = g: global memory is written as what makes it has it, or coalesced")
        }
        _ => return None,
    };
    Some(CopyLine {
        operation: operation.name().to_owned(),
        value: value_name(original, value),
        layout: layout_text(body, tensor),
        constraint: constraint.to_owned(),
    })
}

fn of_loop(function: &Function, of: &Loop, choices: &Choices) -> LoopLine {
    let name = |op: &Op| match &function.body {
        Some(body) => body.op(*op).results.first().map_or_else(String::new, |value| value_name(body, *value)),
        None => String::new(),
    };
    LoopLine {
        stages: choices.stages.get(&of.op).copied().unwrap_or(1),
        tensors: of.tensors.iter().map(name).collect(),
        closed: of.closed.clone(),
    }
}
