//! Search of the tree of choices: depth first until a leaf has a solution. After the buffers of loops, each instruction
//! and warp partition is tried for all dots together, and from the best leaf the search goes to its neighbours.
//! Layout conversions are then tried before stores, and a search of the choices for each loop follows: stages,
//! overlapped MMAs, bulk tensor copies and a producer warp; both also from the fastest leaves with other instructions.
//! With these, dots and conversions are chosen again, and single dots try other warp partitions.

mod partitions;
mod ping_pong;
mod producers;
mod starts;
mod stores;
mod tile_groups;

use super::accesses::allocation;
use super::alternatives::Tried;
use super::error::Refusals;
use super::iteration_count::persistent_block_count;
use super::leaf::{Leaf, description};
use super::model::StepWork;
use super::predicted::cycle_lower_bound;
use super::tensor_copies::TensorCopyCandidates;
use super::tree::{MAX_SINGLE_OPS, MIN_OVERLAPPED_STAGES, Staged, Tree};
use super::{Derivation, SearchStats, SynthesisError, SynthesisOptions};
use crate::stage_count::choose_stages;
use crate::{AssignedModule, LaunchConfig};
use std::collections::HashMap;
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::name::tw;
use tilewright_tile::transform::explicit::{DotChoice, ExplicitMemoryChoices, SharedCopyLoop, TensorMapTileAddress};
use tilewright_tile::transform::{make_partition_captures_explicit, remove_unused_operations};
use tilewright_tile::{Op, TileModule};

/// Max number of leaves (complete choices) besides the best one from which the choices for loops are searched.
const MAX_STARTS: usize = 2;

/// The max number of nodes in which the first leaf with a solution is searched: without limit, their number is the
/// product of the candidates of all dots.
const MAX_FIRST_NODES: usize = 4096;

/// A program with a layout for every tensor, and the derivation of the layouts.
#[derive(Debug, Clone)]
pub struct SynthesizedProgram {
    /// The program in Triton's operations, and the report of layout assignment.
    pub assigned: AssignedModule,
    /// The derivation of the layouts: the choices and constraints from which they follow.
    pub derivation: Derivation,
}

/// Whether a program contains operations with explicit memory (`tw` operations that state where tiles lie).
#[must_use]
pub fn has_explicit_memory_ops(module: &TileModule) -> bool {
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
    bodies
        .into_iter()
        .any(|body| body.walk_region(body.root()).into_iter().any(|op| words.contains(&body.op(op).name())))
}

/// Assigns a layout to every tensor of a verified module of one function, and lowers the operations with explicit
/// memory.
///
/// # Errors
/// [`SynthesisError`] with the different reasons if no leaf (complete choice) has a solution;
/// [`SynthesisError::Request`] if the program requests a producer warp or ping-pong that no leaf can have.
pub fn synthesize(
    module: &TileModule,
    config: &LaunchConfig<'_>,
    options: SynthesisOptions,
) -> Result<SynthesizedProgram, SynthesisError> {
    let persistent = || {
        let function = module.functions.first()?;
        persistent_block_count(function.body.as_ref()?, &AxisInfoMap::analyze(function))
    };
    let options = SynthesisOptions { blocks: options.blocks.or_else(persistent), ..options };
    let tree = Tree::of(module, config, options)?;
    let mut search = Search {
        tree: &tree,
        module,
        config,
        options,
        best: None,
        refusals: Refusals::default(),
        refused: None,
        tried_dots: Vec::new(),
        solved: Vec::new(),
        revisits: false,
        size: SearchStats::default(),
        most_leaves: options.leaves,
        tried: Tried::default(),
    };
    search.descend(0, &mut tree.initial_choices(config));
    tree.loops.iter().for_each(|open| search.tune_buffers(open));
    search.try_warps();
    search.tune_dots();
    let starts = search.find_starts(MAX_STARTS);
    search.extend_limit();
    search.tune_stores();
    search.tune_loops();
    for choices in &starts {
        search.extend_limit();
        search.tune_from(choices);
    }
    search.extend_limit();
    search.tune_dots_of_loops();
    search.tune_stores();
    search.tune_stores_of_near_leaves();
    search.try_deferred_candidates();
    let Search { best, refusals, refused, size, tried, .. } = search;
    if let Some(refused) = refused {
        return Err(refused);
    }
    let Some((leaf, _)) = best else {
        return Err(refusals.into_error().unwrap_or_else(|| SynthesisError::Engine(nothing_to_do())));
    };
    let registers = leaf.registers(config, options)?;
    let alternatives = tried.into_alternatives(&leaf.choices(), &leaf.prediction, "the program requests another");
    let Leaf { mut assigned, dots, copies, memories, loops, shared_bytes, prediction, .. } = leaf;
    let derivation = Derivation {
        target: config.context.target.name.clone(),
        warps: config.warps,
        lanes: config.lanes,
        dots,
        copies,
        registers,
        memories,
        loops,
        lane_copies: describe_rejected(module, &tree.tensor_copies.rejected),
        conversions: conversions(&assigned),
        shared_bytes,
        prediction,
        search: size,
        alternatives,
    };
    // Remove values without users.
    remove_unused_operations(&mut assigned.module);
    assigned.module.functions.iter_mut().for_each(|function| *function = make_partition_captures_explicit(function));
    Ok(SynthesizedProgram { assigned, derivation })
}

fn nothing_to_do() -> crate::AssignmentError {
    let message = "the limit of leaves is zero".to_owned();
    crate::AssignmentError::Program { operation: "module".to_owned(), message }
}

/// Returns the texts of copies to and from shared memory that cannot be bulk tensor copies, with the reasons.
fn describe_rejected(module: &TileModule, rejected: &[(Op, String)]) -> Vec<String> {
    let function = module.functions.first();
    let text = |(copy, reason): &(Op, String)| Some(format!("{}: {reason}", description(function?, *copy)));
    rejected.iter().filter_map(text).collect()
}

fn conversions(assigned: &AssignedModule) -> Vec<String> {
    let lines = assigned.report.costly_conversions().map(|line| {
        let required = line.required_by.join(", ");
        format!("of {} from {} to {}, {:.0} cycles, for {required}", line.value, line.from, line.to, line.price)
    });
    lines.collect()
}

struct Search<'s, 'm> {
    tree: &'s Tree<'m>,
    module: &'s TileModule,
    config: &'s LaunchConfig<'m>,
    options: SynthesisOptions,
    best: Option<(Leaf, ExplicitMemoryChoices)>,
    /// The reasons why leaves have no solution.
    refusals: Refusals,
    /// The error of a request in the program (such as for a producer warp) that no leaf can satisfy; `None` if there is
    /// none.
    refused: Option<SynthesisError>,
    /// The choices for the dots of each leaf (complete choice) that was solved with the current choices for loops.
    tried_dots: Vec<HashMap<Op, DotChoice>>,
    /// All leaves (complete choices) that were tried.
    solved: Vec<SolvedLeaf>,
    /// Whether a leaf that was solved before is kept again if it is faster than the best one: in a search from another
    /// leaf. Elsewhere it could displace a slower leaf that the program requests.
    revisits: bool,
    size: SearchStats,
    /// The number of solved leaves at which the current part of the search ends.
    most_leaves: usize,
    /// The solved leaves (complete choices), and those without a solution.
    tried: Tried,
}

/// A leaf (complete choice) that was tried.
struct SolvedLeaf {
    choices: ExplicitMemoryChoices,
    /// Whether its tensors fit shared memory.
    fits: bool,
    /// The predicted cycles; `None` if it has no solution.
    cycles: Option<f64>,
}

impl Search<'_, '_> {
    /// Finds a first leaf (complete choice) with a solution: tries the candidates of the dot group `level` of the tree
    /// in order, and of the groups after it. `choices` has the choices made so far.
    fn descend(&mut self, level: usize, choices: &mut ExplicitMemoryChoices) {
        let tree = self.tree;
        let Some(group) = tree.dots.get(level) else {
            self.leaf_that_fits(choices);
            return;
        };
        self.size.nodes += 1;
        for candidate in &group.candidates {
            choices.dots.extend(group.ops.iter().map(|(op, _)| (*op, candidate.choice.clone())));
            self.descend(level + 1, choices);
            if self.best.is_some() || self.size.leaves >= self.most_leaves || self.size.nodes >= MAX_FIRST_NODES {
                return;
            }
        }
    }

    /// Whether no leaf (complete choice) whose dots do at least the work `dots` can be faster than the best leaf.
    fn is_beaten(&self, dots: &[(StepWork, u64)]) -> bool {
        let Some((best, _)) = self.best.as_ref().filter(|_| self.options.pruned) else { return false };
        let sure: Vec<(StepWork, u64)> =
            dots.iter().map(|&(work, times)| (StepWork { arithmetic: 0, ..work }, times)).collect();
        cycle_lower_bound(&sure, self.config, self.options.blocks).is_ok_and(|least| least >= best.prediction.cycles)
    }

    /// Solves the best leaf (complete choice) again with each other candidate for one group of dots, for one dot, and
    /// for two dots that read one tensor, and keeps the fastest, until no such change is faster. Dots of a group often
    /// need the same candidate, but the memory of their operands, and the operations between them, may differ. Dots of
    /// large groups are not tried alone, so that the time of the search grows linearly with the number of dots.
    fn tune_dots(&mut self) {
        let tree = self.tree;
        let mut before = f64::INFINITY;
        while let Some(cycles) = self.best_cycles().filter(|cycles| *cycles < before) {
            before = cycles;
            for (group, choice) in tree.ranked_candidates() {
                self.try_dots(group.ops.iter().map(|(dot, _)| (*dot, choice)).collect());
                let single = group.ops.iter().filter(|_| group.ops.len() <= MAX_SINGLE_OPS);
                single.for_each(|(dot, _)| self.try_dots(vec![(*dot, choice)]));
            }
            tree.choices_of_common_tensors().into_iter().for_each(|dots| self.try_dots(dots));
        }
    }

    /// Solves the best leaf (complete choice) again with these choices for some dots, unless it cannot be faster.
    fn try_dots(&mut self, dots: Vec<(Op, &DotChoice)>) {
        let Some((_, best)) = &self.best else { return };
        let choices = self.with_dots(best, dots);
        if !self.tried_dots.contains(&choices.dots) {
            self.try_choices(&choices);
        }
    }

    /// Solves the leaf (complete choice) `choices` with other dots, unless it cannot be faster than the best leaf.
    fn try_choices(&mut self, choices: &ExplicitMemoryChoices) {
        if self.is_beaten(&self.tree.dot_work(choices, self.config)) {
            self.size.nodes += 1;
            self.size.cut += 1;
        } else {
            self.leaf_that_fits(choices);
        }
    }

    /// Returns `choices` with these choices for some dots.
    fn with_dots(&self, choices: &ExplicitMemoryChoices, dots: Vec<(Op, &DotChoice)>) -> ExplicitMemoryChoices {
        let mut choices = choices.clone();
        // Only MMAs that read both operands from shared memory overlap with the next iteration.
        let waits = |accumulator: &[Op]| {
            accumulator
                .iter()
                .any(|dot| dots.iter().any(|(other, choice)| other == dot && choice.smem_operands != [true; 2]))
        };
        let loops = self.tree.loops.iter().filter(|open| waits(&open.of.accumulator));
        loops.for_each(|open| _ = choices.overlapped_mmas.remove(&open.of.op));
        // Other MMAs may be issued by other warp groups.
        choices.ping_pong.clear();
        choices.dots.extend(dots.into_iter().map(|(dot, choice)| (dot, choice.clone())));
        choices
    }

    /// Chooses the dots again with the choices for loops of the best leaf (complete choice), and these once more if a
    /// dot has changed: with fewer stages, another instruction may fit or need fewer registers.
    fn tune_dots_of_loops(&mut self) {
        let before = self.best_cycles();
        self.tried_dots = self.best.iter().map(|(_, choices)| choices.dots.clone()).collect();
        self.tune_dots();
        if self.best_cycles() < before {
            self.tune_loops();
        }
    }

    /// Lets the next part of the search solve [`SynthesisOptions::leaves`] further leaves.
    fn extend_limit(&mut self) {
        self.most_leaves = self.size.leaves.saturating_add(self.options.leaves);
    }

    fn best_cycles(&self) -> Option<f64> {
        self.best.as_ref().map(|(leaf, _)| leaf.prediction.cycles)
    }

    /// Solves the leaf (complete choice) `choices`, with fewer stages if they do not fit shared memory.
    fn leaf_that_fits(&mut self, choices: &ExplicitMemoryChoices) {
        self.tried_dots.push(choices.dots.clone());
        let mut fitting = choices.clone();
        while !self.leaf(&fitting) {
            let Some(fewer) = self.tree.with_fewer_stages(&fitting) else { return };
            fitting = fewer;
        }
    }

    /// Solves the best leaf (complete choice) again with other choices for loops, and keeps the fastest: the number of
    /// stages, MMAs that overlap with the next iteration, bulk tensor copies, a producer warp, and exclusive sections
    /// of warp groups.
    fn tune_loops(&mut self) {
        for open in &self.tree.loops {
            self.tune_buffers(open);
            self.producers(open);
            self.try_ping_pong(open);
            self.try_tile_groups(open);
        }
        self.try_pending_copies();
    }

    /// Solves the best leaf (complete choice) again with other numbers of stages of a loop, a single buffer, and bulk
    /// tensor copies, and keeps the fastest.
    fn tune_buffers(&mut self, open: &Staged) {
        self.tune_stages(open);
        self.try_single_buffer(open);
        if self.try_tensor_copies(&open.of) {
            self.tune_stages(open);
        }
    }

    /// Solves the best leaf (complete choice) again with the program's pending copies as bulk tensor copies.
    fn try_pending_copies(&mut self) {
        let TensorCopyCandidates { maps, pending, .. } = &self.tree.tensor_copies;
        let Some((_, choices)) = self.best.as_ref().filter(|_| !pending.is_empty()) else { return };
        let mapped = pending.iter().filter_map(|copy| Some((*copy, maps.get(copy)?.clone())));
        let choices = mapped.fold(choices.clone(), |choices, (copy, map)| choices.with_tensor_copy(copy, map));
        self.leaf(&choices);
    }

    /// Chooses the number of a loop's stages, starting from the stages of the best leaf (complete choice).
    fn tune_stages(&mut self, open: &Staged) {
        let stages = self.best.as_ref().and_then(|(_, choices)| choices.stages.get(&open.of.op).copied());
        if let Some(first) = stages {
            choose_stages(&open.stages, first, |stages| self.try_stages(open, stages));
        }
    }

    /// Solves the best leaf (complete choice) again with this number of stages in a loop, once without and, if
    /// possible, once with MMAs that overlap with the next iteration. Returns whether one of the new leaves is faster.
    fn try_stages(&mut self, open: &Staged, stages: u32) -> bool {
        let Some((leaf, choices)) = &self.best else { return false };
        let (can_overlap, before) =
            (leaf.can_overlap(&open.of) && stages >= MIN_OVERLAPPED_STAGES, leaf.prediction.cycles);
        let mut choices = self.tree.with_stages(choices, &open.of, stages);
        for pending in [false, true].into_iter().filter(|pending| can_overlap || !pending) {
            choices.overlapped_mmas.remove(&open.of.op);
            choices.overlapped_mmas.extend(pending.then_some(open.of.op));
            self.leaf(&choices);
        }
        self.best.as_ref().is_some_and(|(leaf, _)| leaf.prediction.cycles < before)
    }

    /// Solves the best leaf (complete choice) again with a single buffer for each tensor of a loop, which lanes refill
    /// from registers.
    fn try_single_buffer(&mut self, open: &Staged) {
        let choices = self.best.as_ref().and_then(|(_, choices)| self.with_single_buffer(choices, open));
        choices.iter().for_each(|choices| _ = self.leaf(choices));
    }

    /// Returns `choices` with a single buffer for each tensor of a loop; `None` if the loop cannot have it.
    fn with_single_buffer(&self, choices: &ExplicitMemoryChoices, open: &Staged) -> Option<ExplicitMemoryChoices> {
        // A program that states the number of buffers gets that number. Without task mapping, copies keep their
        // layouts.
        let is_open = self.options.task_mapping && open.stages.contains(&1) && open.stages.contains(&2);
        let group = self.tree.group(&open.of);
        // Bulk tensor copies, which another loop of the group may have chosen, do not go through registers.
        let has_tensor_copies =
            group.iter().flat_map(|of| &of.copies).any(|copy| choices.tensor_copies.contains_key(copy));
        let two_stages = (is_open && !has_tensor_copies).then(|| self.tree.with_stages(choices, &open.of, 2))?;
        Some(group.into_iter().fold(two_stages, ExplicitMemoryChoices::with_single_buffer))
    }

    /// Solves the best leaf (complete choice) again with bulk tensor copies in a loop and its group, and keeps it if it
    /// is faster. Returns whether it is.
    fn try_tensor_copies(&mut self, of: &SharedCopyLoop) -> bool {
        let Some((mut choices, tensor_copies)) = self.with_tensor_copies(of).filter(|(_, copies)| !copies.is_empty())
        else {
            return false;
        };
        let before = self.best_cycles();
        choices.tensor_copies.extend(tensor_copies);
        self.leaf(&choices);
        self.best_cycles() < before
    }

    /// Returns the choices of the best leaf (complete choice), and the copies of a loop and its group that can be bulk
    /// tensor copies, with their tensor maps. A tensor is filled either only by bulk tensor copies or by none. A loop
    /// of one stage gets two; `None` if the program states one.
    fn with_tensor_copies(
        &self,
        of: &SharedCopyLoop,
    ) -> Option<(ExplicitMemoryChoices, Vec<(Op, TensorMapTileAddress)>)> {
        let (_, choices) = self.best.as_ref()?;
        let is_open =
            |stages: u32| self.tree.loops.iter().any(|open| open.of.op == of.op && open.stages.contains(&stages));
        let stages = match *choices.stages.get(&of.op)? {
            1 if is_open(2) => 2,
            stages => stages,
        };
        let choices = self.tree.with_stages(choices, of, stages);
        let group = self.tree.group(of);
        let body = self.module.functions.first().and_then(|function| function.body.as_ref())?;
        let filled = |copy: &Op| Some(allocation(body, body.operand(*copy, "dst")?));
        let fills = || group.iter().flat_map(|of| of.copies.iter().map(|copy| (copy, filled(copy))));
        let maps = &self.tree.tensor_copies.maps;
        let is_uniform = |tensor| fills().all(|(copy, filled)| filled != tensor || maps.contains_key(copy));
        let copies = fills().filter(|(_, tensor)| is_uniform(*tensor));
        let tensor_copies = copies.filter_map(|(copy, _)| Some((*copy, maps.get(copy)?.clone()))).collect();
        choices.stages.get(&of.op).is_some_and(|stages| *stages > 1).then_some((choices, tensor_copies))
    }

    /// Solves a leaf (complete choice) unless it is known, and keeps it if it is the fastest. Returns false if its
    /// tensors do not fit shared memory.
    fn leaf(&mut self, choices: &ExplicitMemoryChoices) -> bool {
        // Without a best leaf, a known leaf may be the one that the program requests.
        let is_faster = |cycles: f64| self.best_cycles().is_none_or(|best| self.revisits && cycles < best);
        let known = self.solved.iter().position(|known| known.choices == *choices);
        if let Some(known) = known.map(|at| &self.solved[at]).filter(|known| !known.cycles.is_some_and(is_faster)) {
            return known.fits;
        }
        if self.size.leaves >= self.most_leaves {
            self.size.cut += 1;
            return true;
        }
        let (fits, cycles) = self.solve(choices);
        // A leaf that became the fastest may have no solution in registers.
        match known {
            Some(at) => self.solved[at].cycles = cycles,
            None => self.solved.push(SolvedLeaf { choices: choices.clone(), fits, cycles }),
        }
        fits
    }

    /// Solves a leaf (complete choice), and keeps it if it is the fastest and its layouts satisfy all constraints.
    /// Returns whether its tensors fit shared memory, and the predicted cycles if it has a solution.
    fn solve(&mut self, choices: &ExplicitMemoryChoices) -> (bool, Option<f64>) {
        self.size.nodes += 1;
        if let Err(error) = self.tree.check_shared_bytes(self.module, choices, self.config.context.target) {
            self.tried.add(self.tree.describe(self.module, choices), Err(&error));
            self.refusals.add(error);
            return (false, None);
        }
        self.size.leaves += 1;
        let is_fastest = |leaf: &Leaf| self.best_cycles().is_none_or(|best| leaf.prediction.cycles < best);
        let checked = |leaf: Leaf| match is_fastest(&leaf) {
            true => leaf.registers(self.config, self.options).map(|_| leaf),
            false => Ok(leaf),
        };
        match Leaf::solve(self.module, choices, self.tree, self.config, self.options).and_then(checked) {
            Ok(leaf) => {
                self.tried.add(leaf.choices(), Ok(&leaf.prediction));
                let cycles = leaf.prediction.cycles;
                if self.best_cycles().is_none_or(|best| cycles < best) {
                    self.best = Some((leaf, choices.clone()));
                }
                (true, Some(cycles))
            }
            Err(error) => {
                self.tried.add(self.tree.describe(self.module, choices), Err(&error));
                let fits = !matches!(error, SynthesisError::SharedMemoryExceeded { .. });
                self.size.unsatisfied += 1;
                self.refusals.add(error);
                (fits, None)
            }
        }
    }
}
