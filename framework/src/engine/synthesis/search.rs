//! The tree of choices, depth first.

use super::anchors::{self, Way};
use super::boxes;
use super::leaf::Leaf;
use super::model::Work;
use super::often::times;
use super::predicted::at_least;
use super::work::multiplied;
use super::{Derivation, Options, SearchSize, SynthesisError};
use crate::engine::facts::Facts;
use crate::engine::{Assigned, Machine};
use crate::tile::op::Dialects;
use crate::tile::transform::explicit::{Choices, CopyChoice, Loop, Mapped, expand, loops};
use crate::tile::{Attribute, Body, Module, Op};

/// The numbers of stages that are tried where the program says none.
const STAGES: [u32; 3] = [3, 2, 4];

/// A program in which every tensor has a layout, and how these were found.
#[derive(Debug, Clone)]
pub struct Synthesized {
    /// The program, in Triton's words, and what the engine chose.
    pub assigned: Assigned,
    /// How layouts were found.
    pub derivation: Derivation,
}

/// Whether a program says where tiles lie.
#[must_use]
pub fn is_explicit(module: &Module) -> bool {
    let words = [
        "tw.global_view",
        "tw.shared_tensor",
        "tw.copy",
        "tw.mma",
        "tw.register_tensor",
        "tw.cast",
        "tw.reduce",
        "tw.rearrange",
    ];
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    bodies.into_iter().any(|body| body.walk(body.root()).into_iter().any(|op| words.contains(&body.op(op).name())))
}

/// Gives every tensor of a verified module of one function a layout, and every word that says where tiles lie its meaning.
///
/// # Errors
/// [`SynthesisError`]: of all leaves that of the first one, where none has a solution.
pub fn synthesize(module: &Module, machine: &Machine<'_>, options: Options) -> Result<Synthesized, SynthesisError> {
    let tree = Tree::of(module, machine, options)?;
    let mut search =
        Search { tree: &tree, module, machine, options, best: None, first: None, size: SearchSize::default() };
    let stages = tree.loops.iter().filter_map(|(of, alternatives)| Some((of.op, *alternatives.first()?))).collect();
    search.descend(0, &mut Choices { copies: tree.copies.clone(), stages, ..Choices::default() }, &mut Vec::new());
    search.stages();
    let Search { best, first, size, .. } = search;
    let Some((leaf, _)) = best else {
        return Err(first.unwrap_or_else(|| SynthesisError::Engine(nothing_to_do())));
    };
    let registers = leaf.registers(machine, options)?;
    let Leaf { assigned, products, copies, memories, loops, shared_bytes, prediction, .. } = leaf;
    let derivation = Derivation {
        target: machine.means.target.name.clone(),
        warps: machine.warps,
        lanes: machine.lanes,
        products,
        copies,
        registers,
        memories,
        loops,
        conversions: conversions(&assigned),
        shared_bytes,
        prediction,
        search: size,
    };
    Ok(Synthesized { assigned, derivation })
}

fn nothing_to_do() -> crate::engine::EngineError {
    let message = "no leaf of the tree of choices may be looked at".to_owned();
    crate::engine::EngineError::Program { operation: "module".to_owned(), message }
}

fn conversions(assigned: &Assigned) -> Vec<String> {
    let lines = assigned.report.costly().map(|line| {
        let wanted = line.wanted_by.join(", ");
        format!("of {} from {} to {}, {:.0} slots, for {wanted}", line.value, line.from, line.to, line.slots)
    });
    lines.collect()
}

/// What is open, each with its alternatives, the best guess first.
struct Tree {
    copies: std::collections::HashMap<Op, CopyChoice>,
    products: Vec<Product>,
    loops: Vec<(Loop, Vec<u32>)>,
    /// Copies that can go by boxes.
    boxes: std::collections::HashMap<Op, Mapped>,
}

/// Products that are carried out alike.
struct Product {
    ops: Vec<Op>,
    ways: Vec<Way>,
    /// How often all of them happen together.
    times: u64,
}

impl Product {
    /// The work of one way, and how often it is done.
    fn work(&self, way: &Way, machine: &Machine<'_>) -> (Work, u64) {
        (multiplied(&way.cost, machine), self.times)
    }
}

impl Tree {
    fn of(module: &Module, machine: &Machine<'_>, options: Options) -> Result<Self, SynthesisError> {
        let empty = Body::default();
        let function = module.functions.first();
        let body = function.and_then(|function| function.body.as_ref()).unwrap_or(&empty);
        let facts = function.map(Facts::of);
        let times = |op: Op| facts.as_ref().map_or(1, |facts| times(body, facts, op));
        let mut products: Vec<(String, Product)> = Vec::new();
        for op in body.walk(body.root()).into_iter().filter(|op| body.op(*op).name() == "tw.mma") {
            let operation = body.op(op);
            let types = operation.operands.iter().map(|value| body.ty(*value).to_string()).collect::<Vec<_>>();
            let said = format!("{types:?} {:?}", operation.attributes);
            // Products of the same types are carried out alike.
            match products.iter_mut().find(|(known, _)| *known == said) {
                Some((_, product)) => {
                    product.ops.push(op);
                    product.times += times(op);
                }
                None => {
                    let ways = anchors::of_product(body, op, machine)?;
                    products.push((said, Product { ops: vec![op], ways, times: times(op) }));
                }
            }
        }
        let products = products.into_iter().map(|(_, product)| product).collect();
        let mut copies = std::collections::HashMap::new();
        let mut open = Vec::new();
        if let Some(function) = function {
            let plain = expand(function, &Choices::default(), &Dialects::neutral())?;
            let facts = Facts::of(&plain.function);
            for &(from, made) in &plain.copies {
                let made_body = plain.function.body.as_ref().unwrap_or(&empty);
                if made_body.op(made).name() == "ttg.async_copy_global_to_local" {
                    copies.insert(from, anchors::of_copy(&plain, &facts, made, machine, options)?);
                }
            }
            for of in loops(function) {
                let stages = stages(body, &of, options);
                open.push((of, stages));
            }
        }
        let mut boxes = std::collections::HashMap::new();
        let outermost = body.blocks(body.root()).first().map_or(&[][..], |entry| body.ops(*entry));
        // Where what lanes do is left out, so is what takes their place.
        let of_loops = open.iter().filter(|(of, _)| options.task_mapping && outermost.contains(&of.op));
        for &copy in of_loops.flat_map(|(of, _)| &of.copies) {
            let found = facts.as_ref().and_then(|facts| boxes::mapped(body, facts, copy, machine));
            boxes.extend(found.map(|mapped| (copy, mapped)));
        }
        Ok(Self { copies, products, loops: open, boxes })
    }
}

/// The numbers of stages of a loop: that of its tensors where they say one.
fn stages(body: &Body, of: &Loop, options: Options) -> Vec<u32> {
    let said = of.tensors.iter().filter_map(|tensor| {
        let number = body.op(*tensor).attributes.get("stages").and_then(Attribute::as_integer)?;
        u32::try_from(number).ok()
    });
    match said.max() {
        _ if !options.pipeline || of.closed.is_some() => vec![1],
        Some(stages) => vec![stages],
        None => STAGES.to_vec(),
    }
}

struct Search<'s, 'm> {
    tree: &'s Tree,
    module: &'s Module,
    machine: &'s Machine<'m>,
    options: Options,
    best: Option<(Leaf, Choices)>,
    first: Option<SynthesisError>,
    size: SearchSize,
}

impl Search<'_, '_> {
    /// Makes the choice of a level, all alternatives in turn, and those below. What is not reached yet is as its first
    /// alternative. `decided` is what the products take by the choices so far.
    fn descend(&mut self, level: usize, choices: &mut Choices, decided: &mut Vec<(Work, u64)>) {
        self.size.nodes += 1;
        let tree = self.tree;
        let Some(product) = tree.products.get(level) else {
            self.leaf(choices);
            return;
        };
        for way in &product.ways {
            decided.push(product.work(way, self.machine));
            if self.options.pruned && self.is_beaten(decided) {
                self.size.cut += 1;
            } else {
                choices.products.extend(product.ops.iter().map(|op| (*op, way.choice.clone())));
                self.descend(level + 1, choices, decided);
            }
            decided.pop();
        }
    }

    /// Whether no leaf that does this work, and for each product that is still open the least, can be better than the best.
    fn is_beaten(&self, decided: &[(Work, u64)]) -> bool {
        let Some((best, _)) = &self.best else { return false };
        let open = self.tree.products.iter().skip(decided.len()).filter_map(|product| {
            let least = product.ways.iter().min_by(|a, b| a.cost.issue_cycles.total_cmp(&b.cost.issue_cycles))?;
            // Of those that are open nothing but the units' time is sure.
            let (work, times) = product.work(least, self.machine);
            let matrix = work.matrix_instructions as f64 * work.matrix_cycles;
            Some((Work { matrix_instructions: 1, matrix_cycles: matrix, ..Work::default() }, times))
        });
        let sure = |&(work, times): &(Work, u64)| (Work { arithmetic: 0, ..work }, times);
        let all: Vec<(Work, u64)> = decided.iter().map(sure).chain(open).collect();
        at_least(&all, self.machine, self.options.blocks).is_ok_and(|least| least >= best.prediction.cycles)
    }

    /// Of the best leaf, each loop with the other numbers of stages, and with products that go on while the next turn begins: how
    /// copies and products overlap changes no layout.
    fn stages(&mut self) {
        for (of, alternatives) in &self.tree.loops {
            let queued = self.best.as_ref().is_some_and(|(leaf, _)| leaf.goes_on(of));
            let ways = alternatives.iter().flat_map(|&stages| [(stages, false), (stages, true)]);
            let ways = ways.filter(|&(stages, pending)| !pending || queued && stages > 2);
            for (stages, pending) in ways.filter(|way| Some(*way) != alternatives.first().map(|first| (*first, false)))
            {
                let Some(mut choices) = self.best.as_ref().map(|(_, choices)| choices.clone()) else { return };
                choices.stages.insert(of.op, stages);
                choices.pending.remove(&of.op);
                choices.pending.extend(pending.then_some(of.op));
                self.size.nodes += 1;
                self.leaf(&choices);
            }
            self.boxes(of);
        }
    }

    /// Of the best leaf, a loop whose copies go by boxes where they can.
    fn boxes(&mut self, of: &Loop) {
        let own = self.tree.boxes.iter().filter(|(copy, _)| of.copies.contains(copy));
        let own: Vec<(Op, Mapped)> = own.map(|(copy, mapped)| (*copy, mapped.clone())).collect();
        let Some(mut choices) = self.best.as_ref().map(|(_, choices)| choices.clone()) else { return };
        if own.is_empty() || choices.stages.get(&of.op).is_none_or(|stages| *stages < 2) {
            return;
        }
        choices.boxes.extend(own);
        self.size.nodes += 1;
        self.leaf(&choices);
    }

    fn leaf(&mut self, choices: &Choices) {
        if self.size.leaves >= self.options.leaves {
            self.size.cut += 1;
            return;
        }
        self.size.leaves += 1;
        let loops: Vec<Loop> = self.tree.loops.iter().map(|(of, _)| of.clone()).collect();
        match Leaf::solve(self.module, choices, &loops, self.machine, self.options) {
            Ok(leaf) if self.best.as_ref().is_none_or(|(best, _)| leaf.prediction.cycles < best.prediction.cycles) => {
                self.best = Some((leaf, choices.clone()));
            }
            Ok(_) => {}
            Err(error) => {
                self.size.unsatisfied += 1;
                self.first.get_or_insert(error);
            }
        }
    }
}
