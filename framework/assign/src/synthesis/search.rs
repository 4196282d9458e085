//! The search: the tree of choices, depth first, then what changes no layout.

use super::leaf::Leaf;
use super::model::Work;
use super::predicted::at_least;
use super::tree::{Staged, Tree};
use super::{Derivation, Options, SearchSize, SynthesisError};
use crate::{Assigned, LaunchConfig};
use tilewright_tile::op::name::tw;
use tilewright_tile::transform::explicit::{Choices, Loop, Mapped};
use tilewright_tile::transform::{captured, remove_unused};
use tilewright_tile::{Op, TileModule};

/// Barriers that two groups of warps have: of each, and one at which all meet.
const GROUP_BARRIERS: u32 = 3;

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
pub fn is_explicit(module: &TileModule) -> bool {
    let words = [
        tw::GLOBAL_VIEW,
        tw::SHARED_TENSOR,
        tw::COPY,
        tw::MMA,
        tw::REGISTER_TENSOR,
        tw::CAST,
        tw::REDUCE,
        tw::REARRANGE,
    ];
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    bodies.into_iter().any(|body| body.walk(body.root()).into_iter().any(|op| words.contains(&body.op(op).name())))
}

/// Gives every tensor of a verified module of one function a layout, and every word that says where tiles lie its meaning.
///
/// # Errors
/// [`SynthesisError`]: of all leaves that of the first one, where none has a solution.
pub fn synthesize(
    module: &TileModule,
    machine: &LaunchConfig<'_>,
    options: Options,
) -> Result<Synthesized, SynthesisError> {
    let tree = Tree::of(module, machine, options)?;
    let (best, first, refused, size) = (None, None, None, SearchSize::default());
    let mut search = Search { tree: &tree, module, machine, options, best, first, refused, size };
    let stages = tree.loops.iter().filter_map(|open| Some((open.of.op, *open.stages.first()?))).collect();
    search.descend(0, &mut Choices { copies: tree.copies.clone(), stages, ..Choices::default() }, &mut Vec::new());
    search.stages();
    let Search { best, first, refused, size, .. } = search;
    if let Some(refused) = refused {
        return Err(refused);
    }
    let Some((leaf, _)) = best else {
        return Err(first.unwrap_or_else(|| SynthesisError::Engine(nothing_to_do())));
    };
    let registers = leaf.registers(machine, options)?;
    let Leaf { mut assigned, products, copies, memories, loops, shared_bytes, prediction, .. } = leaf;
    let derivation = Derivation {
        target: machine.context.target.name.clone(),
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
    // Nothing is taken along that nobody needs.
    remove_unused(&mut assigned.module);
    assigned.module.functions.iter_mut().for_each(|function| *function = captured(function));
    Ok(Synthesized { assigned, derivation })
}

fn nothing_to_do() -> crate::EngineError {
    let message = "no leaf of the tree of choices may be looked at".to_owned();
    crate::EngineError::Program { operation: "module".to_owned(), message }
}

fn conversions(assigned: &Assigned) -> Vec<String> {
    let lines = assigned.report.costly().map(|line| {
        let required = line.required_by.join(", ");
        format!("of {} from {} to {}, {:.0} slots, for {required}", line.value, line.from, line.to, line.slots)
    });
    lines.collect()
}

struct Search<'s, 'm> {
    tree: &'s Tree,
    module: &'s TileModule,
    machine: &'s LaunchConfig<'m>,
    options: Options,
    best: Option<(Leaf, Choices)>,
    first: Option<SynthesisError>,
    /// What the program asks for and does not get.
    refused: Option<SynthesisError>,
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
        for open @ Staged { of, stages: alternatives, .. } in &self.tree.loops {
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
            self.producers(open);
        }
    }

    /// Of the best leaf, a loop whose copies go by boxes where they can.
    fn boxes(&mut self, of: &Loop) {
        let Some((mut choices, own)) = self.boxed(of) else { return };
        if !own.is_empty() {
            choices.boxes.extend(own);
            self.size.nodes += 1;
            self.leaf(&choices);
        }
    }

    /// The choices of the best leaf where a loop has stages, and those of its copies that can go by boxes.
    fn boxed(&self, of: &Loop) -> Option<(Choices, Vec<(Op, Mapped)>)> {
        let choices = self.best.as_ref().map(|(_, choices)| choices.clone())?;
        let own = self.tree.boxes.iter().filter(|(copy, _)| of.copies.contains(copy));
        let own = own.map(|(copy, mapped)| (*copy, mapped.clone())).collect();
        choices.stages.get(&of.op).is_some_and(|stages| *stages > 1).then_some((choices, own))
    }

    /// Of the best leaf, a loop all of whose copies go by boxes, which a warp of its own issues: where that gains, or the program
    /// says so.
    fn producers(&mut self, open: &Staged) {
        let parts = self.options.task_mapping && self.options.pipeline;
        if open.produced == Some(false) || !parts {
            return;
        }
        let is_explicit = open.produced == Some(true);
        let limits = &self.machine.context.target.limits;
        let lanes = (self.machine.warps + 1).saturating_mul(self.machine.lanes);
        let room = limits.group_barriers >= GROUP_BARRIERS && lanes <= limits.lanes_per_block;
        match self.boxed(&open.of).filter(|(_, own)| room && own.len() == open.of.copies.len()) {
            Some((mut choices, own)) => {
                choices.boxes.extend(own);
                choices.producers.insert(open.of.op, self.machine.warps);
                self.size.nodes += 1;
                let other = if is_explicit { self.best.take() } else { None };
                self.leaf(&choices);
                if self.best.is_none() {
                    self.best = other;
                    self.not_produced();
                }
            }
            None if is_explicit => self.not_produced(),
            None => {}
        }
    }

    fn not_produced(&mut self) {
        let target = self.machine.context.target.name.clone();
        self.refused.get_or_insert(SynthesisError::NoProducers { target });
    }

    fn leaf(&mut self, choices: &Choices) {
        if self.size.leaves >= self.options.leaves {
            self.size.cut += 1;
            return;
        }
        self.size.leaves += 1;
        let loops: Vec<Loop> = self.tree.loops.iter().map(|open| open.of.clone()).collect();
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
