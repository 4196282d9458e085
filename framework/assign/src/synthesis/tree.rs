//! The open choices of a program, each with its alternatives: the tree that synthesis searches.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;
use tilewright_tile::op::name::{ttg, tw};

use super::accesses::allocation;
use super::anchors::{self, DotCandidate};
use super::iteration_count::execution_count;
use super::leaf::of_loop;
use super::live_bytes::{TensorBytes, describe_tensor_bytes, peak_live_bytes};
use super::model::StepWork;
use super::requests::check_requests;
use super::reuse::Reuse;
use super::tensor_copies::TensorCopyCandidates;
use super::work::multiplied;
use super::{SynthesisError, SynthesisOptions};
use crate::LaunchConfig;
use crate::memory::element_bits_while_moved;
use crate::producer_warps::requested_producer;
use crate::shared_buffer::SolvedLayouts;
use crate::stage_count::MAX_STAGES;
use tilewright_plan::mma::WarpPartition;
use tilewright_target::TargetDescription;
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::Dialects;
use tilewright_tile::op_attrs::NUM_STAGES;
use tilewright_tile::transform::explicit::{
    CopyChoice, DotChoice, ExplicitMemoryChoices, SharedCopyLoop, expand_explicit_memory, find_shared_copy_loops,
    tensors_of_iterations,
};
use tilewright_tile::transform::find_loops_around;
use tilewright_tile::{Attribute, Function, FunctionBody, Op, TileModule, TileType, Value};

/// Min number of stages of a loop whose MMAs overlap with the next iteration.
pub(super) const MIN_OVERLAPPED_STAGES: u32 = 3;

/// The open choices of a program, each with its alternatives, the best guess first.
#[derive(Default)]
pub(super) struct Tree<'m> {
    pub copies: HashMap<Op, CopyChoice>,
    pub dots: Vec<DotGroup>,
    tensor_reads: Vec<TensorRead>,
    /// Each dot whose result becomes an operand of another dot, and that dot.
    chains: Vec<(Op, Op)>,
    pub loops: Vec<Staged>,
    /// The copies that can be bulk tensor copies.
    pub tensor_copies: TensorCopyCandidates,
    /// The copies from registers to memory, in the order of the program, in groups whose choices are the same.
    pub register_stores: Vec<Vec<Op>>,
    /// The copies to global memory that can be bulk tensor copies, in such groups.
    pub tensor_stores: Vec<Vec<Op>>,
    /// Bytes of one buffer of each tensor in shared memory, without padding.
    tensor_bytes: HashMap<Op, u64>,
    /// The reuse of global memory between blocks.
    pub reuse: Reuse,
    /// The layouts of shared memory that leaves (complete choices) have in common.
    pub solved_layouts: SolvedLayouts<'m>,
}

/// Max number of stores, or of dots of a group, whose choices are searched one by one.
pub(super) const MAX_SINGLE_OPS: usize = 16;

/// A loop that fills tensors in shared memory.
pub(super) struct Staged {
    pub of: SharedCopyLoop,
    /// The loops around the loop, the innermost first.
    pub around: Vec<Op>,
    /// Possible numbers of pipeline stages: of buffers that each filled tensor has in shared memory. Loops that fill a
    /// tensor in common have the same number.
    pub stages: RangeInclusive<u32>,
    /// Whether the program requests (`true`) or forbids a producer warp; `None` if it states neither.
    pub produced: Option<bool>,
}

impl Staged {
    /// Returns the loop and those around it, the innermost first.
    pub fn nest(&self) -> impl Iterator<Item = Op> {
        std::iter::once(self.of.op).chain(self.around.iter().copied())
    }

    /// Returns the outermost loop of the nest.
    pub fn outermost(&self) -> Op {
        self.around.last().copied().unwrap_or(self.of.op)
    }
}

/// A dot with an operand that an MMA can read directly from shared memory.
pub(super) struct TensorRead {
    dot: Op,
    /// 0 for operand A, 1 for B.
    side: usize,
    /// The allocation that contains the operand.
    tensor: Value,
}

/// Dots with the same candidates.
pub(super) struct DotGroup {
    /// The dots, each with its number of executions.
    pub ops: Vec<(Op, u64)>,
    pub candidates: Vec<DotCandidate>,
}

impl DotGroup {
    /// Returns the candidate with this instruction, this warp partition, or both if there is one, and else most like
    /// the choice `now`; `None` if no candidate has either.
    fn most_alike(
        &self,
        (instruction, partition): (&Option<Arc<str>>, WarpPartition),
        now: &DotChoice,
    ) -> Option<&DotChoice> {
        let likeness = |of: &&DotCandidate| {
            let choice = &of.choice;
            let kind = (choice.instruction == *instruction, of.partition == partition);
            (kind, choice.instruction == now.instruction, choice.k_width == now.k_width, choice.n_width == now.n_width)
        };
        let found = self.candidates.iter().rev().max_by_key(likeness)?;
        (found.choice.instruction == *instruction || found.partition == partition).then_some(&found.choice)
    }

    /// Returns the choices that are tried from the start.
    fn choices(&self) -> impl DoubleEndedIterator<Item = &DotChoice> {
        self.candidates.iter().filter(|candidate| !candidate.is_deferred).map(|candidate| &candidate.choice)
    }
}

impl<'m> Tree<'m> {
    /// Finds the open choices of a module of one function.
    pub(super) fn of(
        module: &TileModule,
        config: &LaunchConfig<'m>,
        options: SynthesisOptions,
    ) -> Result<Self, SynthesisError> {
        let Some((function, body)) = module.functions.first().and_then(|first| Some((first, first.body.as_ref()?)))
        else {
            return Ok(Self::default());
        };
        let axis_info = AxisInfoMap::analyze(function);
        let all = find_shared_copy_loops(function);
        let of_loop = |of: &SharedCopyLoop| {
            let around = find_loops_around(body, of.op);
            Staged {
                stages: stages(body, &find_group(&all.iter().collect::<Vec<_>>(), of), options),
                produced: requested_producer(body, std::iter::once(of.op).chain(around.iter().copied())),
                of: of.clone(),
                around,
            }
        };
        let loops: Vec<Staged> = all.iter().map(of_loop).collect();
        check_requests(function, (&loops, config.context.blocks), options)?;
        // Bulk tensor copies replace task mappings, so one option disables both.
        let tensor_copies = match options.task_mapping {
            true => TensorCopyCandidates::find(function, &axis_info, &all, config),
            false => TensorCopyCandidates::default(),
        };
        let copies = copies(function, config, options)?;
        let chains = anchors::find_chains(body);
        let dots = group_dots(body, &axis_info, &chains, config)?;
        let tensor_reads = find_tensor_reads(body, &dots);
        Ok(Self {
            copies,
            dots,
            tensor_reads,
            chains,
            loops,
            register_stores: group_stores(body, &find_register_stores(body)),
            tensor_stores: group_stores(body, &tensor_copies.stores),
            tensor_copies,
            tensor_bytes: tensor_bytes(body),
            reuse: Reuse::of(body, &axis_info),
            solved_layouts: SolvedLayouts::default(),
        })
    }

    /// Returns the choices from which the search begins, without dots.
    pub(super) fn initial_choices(&self, config: &LaunchConfig<'_>) -> ExplicitMemoryChoices {
        let initial = ExplicitMemoryChoices::default().with_copies(self.copies.clone());
        let stages =
            |open: &Staged| config.context.target.global.stages.clamp(*open.stages.start(), *open.stages.end());
        self.loops.iter().fold(initial, |choices, open| choices.with_stages(open.of.op, stages(open)))
    }

    /// Returns choices of one instruction and one warp partition for all dots, for each instruction and partition of a
    /// candidate: of each dot, the candidate most like them and the choices in `choices`. Dots with one instruction and
    /// one partition need the fewest layout conversions between each other.
    pub(super) fn dots_by_warps(&self, choices: &ExplicitMemoryChoices) -> Vec<Vec<(Op, &DotChoice)>> {
        let mut kinds: Vec<(&Option<Arc<str>>, WarpPartition)> = Vec::new();
        for candidate in self.dots.iter().flat_map(|group| &group.candidates) {
            let kind = (&candidate.choice.instruction, candidate.partition);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let dots = || self.dots.iter().flat_map(|group| group.ops.iter().map(move |(dot, _)| (group, *dot)));
        let alike =
            |kind| dots().filter_map(move |(group, dot)| Some((dot, group.most_alike(kind, choices.dots.get(&dot)?)?)));
        kinds.into_iter().map(|kind| alike(kind).collect()).collect()
    }

    /// Returns the candidates of each group of dots in turn: first the most promising one of each instruction and warp
    /// partition, since these differ most, then the second one of each, and so on.
    pub(super) fn ranked_candidates(&self) -> Vec<(&DotGroup, &DotChoice)> {
        let mut ranked: Vec<(usize, &DotGroup, &DotChoice)> = Vec::new();
        for group in &self.dots {
            let mut counts: HashMap<_, usize> = HashMap::new();
            for choice in group.choices() {
                let count = counts.entry((&choice.instruction, choice.warps, choice.smem_operands)).or_default();
                ranked.push((*count, group, choice));
                *count += 1;
            }
        }
        ranked.sort_by_key(|(rank, ..)| *rank);
        ranked.into_iter().map(|(_, group, choice)| (group, choice)).collect()
    }

    /// Returns the candidates that are tried last, each for all dots of its group and for each of them: warps that may
    /// divide N or, if `partitions`, other warp partitions of the choice of a dot in `choices`, and other instructions
    /// with its partition.
    pub(super) fn deferred_candidates(
        &self,
        choices: &ExplicitMemoryChoices,
        partitions: bool,
    ) -> Vec<Vec<(Op, &DotChoice)>> {
        let mut found = Vec::new();
        for group in &self.dots {
            let is_tried = |of: &&DotCandidate| of.is_deferred && of.is_other_partition == partitions;
            for candidate in group.candidates.iter().filter(is_tried) {
                let choice = &candidate.choice;
                let is_open = |dot: &Op| {
                    let now = group.candidates.iter().find(|now| choices.dots.get(dot) == Some(&now.choice));
                    let is_near =
                        |now: &DotCandidate| now.partition == candidate.partition || has_lanes_of(&now.choice, choice);
                    !partitions || now.is_some_and(is_near)
                };
                let dots = group.ops.iter().map(|(dot, _)| *dot).filter(is_open);
                let dots: Vec<(Op, &DotChoice)> = dots.map(|dot| (dot, choice)).collect();
                let each =
                    dots.iter().filter(|_| partitions && dots.len() > 1).map(|dot| vec![*dot]).collect::<Vec<_>>();
                found.push(dots);
                found.extend(each);
            }
        }
        found
    }

    /// Returns the other choices of the same instruction for each dot that has the result of another dot as an operand:
    /// the elements that lanes hold decide which operands need no layout conversion.
    pub(super) fn choices_of_consumers(&self, choices: &ExplicitMemoryChoices) -> Vec<(Op, &DotChoice)> {
        let mut found = Vec::new();
        for group in &self.dots {
            let is_consumer = |dot: &Op| self.chains.iter().any(|(_, consumer)| consumer == dot);
            for dot in group.ops.iter().map(|(dot, _)| *dot).filter(is_consumer) {
                let Some(now) = choices.dots.get(&dot) else { continue };
                let others = group.choices().filter(|other| other.instruction == now.instruction && *other != now);
                found.extend(others.map(|other| (dot, other)));
            }
        }
        found
    }

    /// Returns choices for two dots of different groups that read one tensor directly from shared memory, by each pair
    /// of instructions: the layout of the tensor must suit both, so a change of one of them alone may have no solution
    /// or a slow one.
    pub(super) fn choices_of_common_tensors(&self) -> Vec<Vec<(Op, &DotChoice)>> {
        let readers = |read: &TensorRead| {
            let mut seen = BTreeSet::new();
            let group = self.dots.iter().find(move |group| group.ops.iter().any(|(op, _)| *op == read.dot));
            let choices =
                group.into_iter().flat_map(DotGroup::choices).filter(|choice| choice.smem_operands[read.side]);
            choices.filter(|choice| seen.insert((&choice.instruction, choice.warps))).collect::<Vec<_>>()
        };
        let is_same_group = |first: Op, second: Op| {
            self.dots.iter().any(|group| [first, second].iter().all(|dot| group.ops.iter().any(|(op, _)| op == dot)))
        };
        let mut pairs = Vec::new();
        for (index, first) in self.tensor_reads.iter().enumerate() {
            let others = self.tensor_reads[index + 1..].iter().filter(|other| other.tensor == first.tensor);
            for second in others.filter(|second| !is_same_group(first.dot, second.dot)) {
                let firsts = readers(first);
                let of_pair = |choice| readers(second).into_iter().map(move |other| (choice, other));
                let choices = firsts.into_iter().flat_map(of_pair);
                pairs.extend(choices.map(|(one, other)| vec![(first.dot, one), (second.dot, other)]));
            }
        }
        pairs
    }

    /// Returns the work of each dot by its choice, with its number of executions.
    pub(super) fn dot_work(&self, choices: &ExplicitMemoryChoices, config: &LaunchConfig<'_>) -> Vec<(StepWork, u64)> {
        let of_dot = |group: &DotGroup, &(op, execution_count): &(Op, u64)| {
            let choice = choices.dots.get(&op)?;
            let candidate = group.candidates.iter().find(|candidate| candidate.choice == *choice)?;
            Some((multiplied(&candidate.cost, config), execution_count))
        };
        self.dots.iter().flat_map(|group| group.ops.iter().filter_map(move |op| of_dot(group, op))).collect()
    }

    /// Checks that the tensors of `module`, which this is the tree of, fit shared memory: the buffers that are live at
    /// the same time, without padding.
    ///
    /// # Errors
    /// [`SynthesisError::SharedMemoryExceeded`] if they do not.
    pub(super) fn check_shared_bytes(
        &self,
        module: &TileModule,
        choices: &ExplicitMemoryChoices,
        target: &TargetDescription,
    ) -> Result<(), SynthesisError> {
        let buffers = |tensor: &Op| {
            let filled = self.loops.iter().filter(|open| open.of.tensors.contains(tensor));
            filled.filter_map(|open| choices.buffer_count(open.of.op)).max().unwrap_or(1)
        };
        let Some(body) = module.functions.first().and_then(|function| function.body.as_ref()) else { return Ok(()) };
        let of_iterations = tensors_of_iterations(body, choices);
        let of_tensor = |(op, bytes): (&Op, &u64)| {
            let first_within = |of: &Op| body.op_and_nested_ops(*of).get(1).copied();
            let beside = of_iterations.get(op).and_then(first_within).unwrap_or(*op);
            let tensor = *body.op(*op).results.first()?;
            Some(TensorBytes { tensor, bytes: bytes * u64::from(buffers(op)), beside })
        };
        let tensors: Vec<TensorBytes> = self.tensor_bytes.iter().filter_map(of_tensor).collect();
        let (bytes, most) = (peak_live_bytes(body, &tensors, |_| 0), u64::from(target.shared.bytes));
        if bytes <= most {
            return Ok(());
        }
        let tensors = describe_tensor_bytes(body, &tensors);
        Err(SynthesisError::SharedMemoryExceeded { target: target.name.clone(), bytes, most, tensors })
    }

    /// Returns the loops that have the same number of buffers as `of`, which is one of them: loops with a filled tensor
    /// in common.
    pub(super) fn group(&self, of: &SharedCopyLoop) -> Vec<&SharedCopyLoop> {
        find_group(&self.loops.iter().map(|open| &open.of).collect::<Vec<_>>(), of)
    }

    /// Returns the same choices with this number of stages of a loop and its group, each with buffers of its own.
    pub(super) fn with_stages(
        &self,
        choices: &ExplicitMemoryChoices,
        of: &SharedCopyLoop,
        stages: u32,
    ) -> ExplicitMemoryChoices {
        let mut choices = choices.clone();
        for of in self.group(of) {
            choices = choices.with_stages(of.op, stages);
            if choices.single_buffer.remove(&of.op) {
                choices
                    .copies
                    .extend(of.copies.iter().filter_map(|copy| Some((*copy, self.copies.get(copy)?.clone()))));
            }
            if stages < MIN_OVERLAPPED_STAGES {
                choices.overlapped_mmas.remove(&of.op);
            }
        }
        choices
    }

    /// Returns choices without a solution as text: the instructions of dots, and the stages of loops.
    pub(super) fn describe(&self, module: &TileModule, choices: &ExplicitMemoryChoices) -> Vec<String> {
        let Some((function, body)) = module.functions.first().and_then(|first| Some((first, first.body.as_ref()?)))
        else {
            return Vec::new();
        };
        let dot = |op: &Op| {
            let instruction = choices.dots.get(op)?.instruction.as_deref()?;
            Some(format!("mma {}: {instruction}", body.display_name(*body.op(*op).results.first()?)))
        };
        let dots = self.dots.iter().flat_map(|group| group.ops.iter().map(|(op, _)| op)).filter_map(dot);
        let loops = self.loops.iter().map(|open| of_loop(function, &open.of, choices).to_string());
        dots.chain(loops).collect()
    }

    /// Returns the same choices with one stage less in the loop whose stages take the most bytes; `None` if no loop can
    /// have fewer stages.
    pub(super) fn with_fewer_stages(&self, choices: &ExplicitMemoryChoices) -> Option<ExplicitMemoryChoices> {
        let bytes =
            |open: &Staged| open.of.tensors.iter().filter_map(|tensor| self.tensor_bytes.get(tensor)).sum::<u64>();
        let fewer = |open: &Staged| choices.stages.get(&open.of.op)?.checked_sub(1).filter(|n| open.stages.contains(n));
        let loops = self.loops.iter().filter_map(|open| Some((bytes(open), &open.of, fewer(open)?)));
        let (_, of, stages) = loops.max_by_key(|(bytes, ..)| *bytes)?;
        Some(self.with_stages(choices, of, stages))
    }
}

/// Whether two choices have the same instruction, and the same numbers of adjacent elements in a lane.
fn has_lanes_of(one: &DotChoice, other: &DotChoice) -> bool {
    (&one.instruction, one.k_width, one.n_width) == (&other.instruction, other.k_width, other.n_width)
}

/// Returns the bytes of one buffer of each tensor in shared memory, without padding.
fn tensor_bytes(body: &FunctionBody) -> HashMap<Op, u64> {
    let tensors = body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).name() == tw::SHARED_TENSOR);
    let bytes = |op: Op| {
        let ty = body.value_type(*body.op(op).results.first()?);
        let elements: u64 = ty.shape()?.iter().product();
        Some((op, (elements * u64::from(element_bits_while_moved(ty.element()))).div_ceil(8)))
    };
    tensors.filter_map(bytes).collect()
}

/// Groups the dots that have equal types, attributes and open choices and whose operands are in the same memory, and
/// finds the candidates of each group.
fn group_dots(
    body: &FunctionBody,
    axis_info: &AxisInfoMap,
    chains: &[(Op, Op)],
    config: &LaunchConfig<'_>,
) -> Result<Vec<DotGroup>, SynthesisError> {
    let mut dots: Vec<(String, DotGroup)> = Vec::new();
    for op in body.walk_region(body.root()).into_iter().filter(|op| anchors::is_searched(body, *op)) {
        let operation = body.op(op);
        let types = operation.operands.iter().map(|value| body.value_type(*value).to_string()).collect::<Vec<_>>();
        let is_operand = chains.iter().any(|(producer, _)| *producer == op);
        let operands = (anchors::lie_in_shared(body, op), anchors::Slice::of(body, op), is_operand);
        let signature = format!("{types:?} {:?} {operands:?}", operation.attributes);
        let execution_count = execution_count(body, axis_info, op);
        match dots.iter_mut().find(|(known, _)| *known == signature) {
            Some((_, group)) => group.ops.push((op, execution_count)),
            None => {
                let candidates = anchors::find_dot_candidates(body, (op, is_operand), config)?;
                dots.push((signature, DotGroup { ops: vec![(op, execution_count)], candidates }));
            }
        }
    }
    Ok(dots.into_iter().map(|(_, group)| group).collect())
}

/// Finds the operands of dots that MMAs can read directly from shared memory.
fn find_tensor_reads(body: &FunctionBody, dots: &[DotGroup]) -> Vec<TensorRead> {
    let of_dot = |dot: Op| {
        [0, 1].into_iter().filter_map(move |side| {
            let tensor = allocation(body, anchors::operand_tensor(body, dot, side)?);
            Some(TensorRead { dot, side, tensor })
        })
    };
    dots.iter().flat_map(|group| &group.ops).flat_map(|(dot, _)| of_dot(*dot)).collect()
}

/// Returns the copies from registers to memory, in the order of the program.
fn find_register_stores(body: &FunctionBody) -> Vec<Op> {
    let is_register_store = |op: &Op| {
        let source = body.op(*op).operands.first().filter(|_| body.op(*op).name() == tw::COPY);
        source.is_some_and(|source| matches!(body.value_type(*source), TileType::Tensor(_)))
    };
    body.walk_region(body.root()).into_iter().filter(is_register_store).collect()
}

/// Returns the groups of stores that are tried together: each store is a group of its own if these are few, so that the
/// time of the search grows linearly with the number of stores; otherwise, stores of equal types are a group.
fn group_stores(body: &FunctionBody, stores: &[Op]) -> Vec<Vec<Op>> {
    let mut groups: Vec<Vec<Op>> = Vec::new();
    let types = |store: Op| body.op(store).operands.iter().take(2).map(|value| body.value_type(*value));
    for &store in stores {
        let is_equal = |group: &&mut Vec<Op>| types(group[0]).eq(types(store));
        match groups.iter_mut().find(is_equal).filter(|_| stores.len() > MAX_SINGLE_OPS) {
            Some(group) => group.push(store),
            None => groups.push(vec![store]),
        }
    }
    groups
}

/// Returns the initial task mapping (which lane copies which elements) of each copy to shared memory.
fn copies(
    function: &Function,
    config: &LaunchConfig<'_>,
    options: SynthesisOptions,
) -> Result<HashMap<Op, CopyChoice>, SynthesisError> {
    let plain = expand_explicit_memory(function, &ExplicitMemoryChoices::default(), &Dialects::neutral())?;
    let axis_info = AxisInfoMap::analyze(&plain.function);
    let mut copies = HashMap::new();
    for &(from, expanded_op) in &plain.copies {
        let body = plain.function.body.as_ref();
        if body.is_some_and(|body| body.op(expanded_op).name() == ttg::ASYNC_COPY_GLOBAL_TO_LOCAL) {
            copies.insert(from, anchors::of_copy(&plain, &axis_info, expanded_op, config, options)?);
        }
    }
    Ok(copies)
}

/// Finds the loops among `all` that share filled tensors with `of`, directly or through others, `of` among them.
fn find_group<'l>(all: &[&'l SharedCopyLoop], of: &SharedCopyLoop) -> Vec<&'l SharedCopyLoop> {
    let mut group: Vec<&SharedCopyLoop> = all.iter().copied().filter(|other| other.op == of.op).collect();
    let mut known = 0;
    while let Some(next) = group.get(known) {
        let has_common = |other: &&SharedCopyLoop| other.tensors.iter().any(|tensor| next.tensors.contains(tensor));
        let others = all.iter().copied().filter(|other| has_common(other) && !group.contains(other));
        group.extend(others.collect::<Vec<_>>());
        known += 1;
    }
    group
}

/// Returns the possible numbers of stages of a group of loops with tensors in common: only the number that the tensors
/// state, if they state one; otherwise at most the number of the options, or else of the loops.
fn stages(body: &FunctionBody, group: &[&SharedCopyLoop], options: SynthesisOptions) -> RangeInclusive<u32> {
    let stated = |op: Op, name: &str| {
        let count = body.op(op).attributes.get(name).and_then(Attribute::as_integer)?;
        u32::try_from(count).ok()
    };
    let of_tensors = group.iter().flat_map(|of| &of.tensors).filter_map(|tensor| stated(*tensor, "stages"));
    let of_loops = group.iter().filter_map(|of| stated(of.op, NUM_STAGES));
    match of_tensors.max() {
        _ if !options.pipeline || group.iter().any(|of| of.rejected.is_some()) => 1..=1,
        Some(stages) => stages..=stages,
        None => 1..=options.stages.or_else(|| of_loops.min()).unwrap_or(MAX_STAGES).max(1),
    }
}
