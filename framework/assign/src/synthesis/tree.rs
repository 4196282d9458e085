//! The open choices of a program, each with its alternatives: the tree that synthesis searches.

use std::collections::HashMap;
use tilewright_tile::op::name::{ttg, tw};

use super::anchors::{self, DotCandidate};
use super::iteration_count::execution_count;
use super::model::StepWork;
use super::tensor_copies;
use super::work::multiplied;
use super::{SynthesisError, SynthesisOptions};
use crate::LaunchConfig;
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::op::Dialects;
use tilewright_tile::transform::explicit::{Choices, CopyChoice, Loop, Mapped, expand, loops};
use tilewright_tile::{Attribute, Body, Function, Op, TileModule};

/// Numbers of pipeline stages that are tried if the program states none.
const STAGES: [u32; 3] = [3, 2, 4];

/// The open choices of a program, each with its alternatives, the best guess first.
pub(super) struct Tree {
    pub copies: HashMap<Op, CopyChoice>,
    pub dots: Vec<DotGroup>,
    pub loops: Vec<Staged>,
    /// The copies that can be bulk tensor copies, each with its tensor map.
    pub tensor_copies: HashMap<Op, Mapped>,
}

/// A loop that fills tensors in shared memory.
pub(super) struct Staged {
    pub of: Loop,
    /// Alternative numbers of pipeline stages: of buffers that each filled tensor has in shared memory.
    pub stages: Vec<u32>,
    /// Whether the program requests (`true`) or forbids a producer warp; `None` if it states neither.
    pub produced: Option<bool>,
}

/// Dots that share one plan, with the candidates for it.
pub(super) struct DotGroup {
    pub ops: Vec<Op>,
    pub candidates: Vec<DotCandidate>,
    /// The sum of the numbers of executions of these dots.
    pub execution_count: u64,
}

impl DotGroup {
    /// Returns the work of one execution by the candidate plan `dot`, and the number of executions of all dots of the
    /// group.
    pub(super) fn work(&self, dot: &DotCandidate, config: &LaunchConfig<'_>) -> (StepWork, u64) {
        (multiplied(&dot.cost, config), self.execution_count)
    }
}

impl Tree {
    /// Finds the open choices of a module of one function.
    pub(super) fn of(
        module: &TileModule,
        config: &LaunchConfig<'_>,
        options: SynthesisOptions,
    ) -> Result<Self, SynthesisError> {
        let none =
            || Self { copies: HashMap::new(), dots: Vec::new(), loops: Vec::new(), tensor_copies: HashMap::new() };
        let Some(function) = module.functions.first() else { return Ok(none()) };
        let Some(body) = &function.body else { return Ok(none()) };
        let axis_info = AxisInfoMap::of(function);
        let of_loop = |of: Loop| Staged { stages: stages(body, &of, options), produced: produced(body, &of), of };
        let loops: Vec<Staged> = loops(function).into_iter().map(of_loop).collect();
        let outermost = body.blocks(body.root()).first().map_or(&[][..], |entry| body.ops(*entry));
        // Bulk tensor copies replace task mappings, so one option disables both.
        let of_loops = loops.iter().filter(|open| options.task_mapping && outermost.contains(&open.of.op));
        let may = of_loops.flat_map(|open| &open.of.copies);
        let tensor_copies = may
            .filter_map(|&copy| Some((copy, tensor_copies::find_tensor_map(body, &axis_info, copy, config)?)))
            .collect();
        let copies = copies(function, config, options)?;
        Ok(Self { copies, dots: group_dots(body, &axis_info, config)?, loops, tensor_copies })
    }
}

/// Groups the dots that have equal types and attributes, and finds the candidates of each group.
fn group_dots(
    body: &Body,
    axis_info: &AxisInfoMap,
    config: &LaunchConfig<'_>,
) -> Result<Vec<DotGroup>, SynthesisError> {
    let mut dots: Vec<(String, DotGroup)> = Vec::new();
    for op in body.walk(body.root()).into_iter().filter(|op| body.op(*op).name() == tw::MMA) {
        let operation = body.op(op);
        let types = operation.operands.iter().map(|value| body.ty(*value).to_string()).collect::<Vec<_>>();
        let signature = format!("{types:?} {:?}", operation.attributes);
        let execution_count = execution_count(body, axis_info, op);
        match dots.iter_mut().find(|(known, _)| *known == signature) {
            Some((_, group)) => {
                group.ops.push(op);
                group.execution_count += execution_count;
            }
            None => {
                let candidates = anchors::dot_candidates(body, op, config)?;
                dots.push((signature, DotGroup { ops: vec![op], candidates, execution_count }));
            }
        }
    }
    Ok(dots.into_iter().map(|(_, group)| group).collect())
}

/// Returns the initial task mapping (which lane copies which elements) of each copy to shared memory.
fn copies(
    function: &Function,
    config: &LaunchConfig<'_>,
    options: SynthesisOptions,
) -> Result<HashMap<Op, CopyChoice>, SynthesisError> {
    let plain = expand(function, &Choices::default(), &Dialects::neutral())?;
    let axis_info = AxisInfoMap::of(&plain.function);
    let mut copies = HashMap::new();
    for &(from, expanded_op) in &plain.copies {
        let body = plain.function.body.as_ref();
        if body.is_some_and(|body| body.op(expanded_op).name() == ttg::ASYNC_COPY_GLOBAL_TO_LOCAL) {
            copies.insert(from, anchors::of_copy(&plain, &axis_info, expanded_op, config, options)?);
        }
    }
    Ok(copies)
}

/// Returns the numbers of stages to try for a loop: only the number that the loop's tensors state, if they state one.
fn stages(body: &Body, of: &Loop, options: SynthesisOptions) -> Vec<u32> {
    let stages = of.tensors.iter().filter_map(|tensor| {
        let count = body.op(*tensor).attributes.get("stages").and_then(Attribute::as_integer)?;
        u32::try_from(count).ok()
    });
    match stages.max() {
        _ if !options.pipeline || of.rejected.is_some() => vec![1],
        Some(stages) => vec![stages],
        None => STAGES.to_vec(),
    }
}

/// Whether a loop requests (`true`) or forbids a producer warp by `tt.warp_specialize`; `None` without this attribute.
fn produced(body: &Body, of: &Loop) -> Option<bool> {
    match body.op(of.op).attributes.get("tt.warp_specialize")? {
        Attribute::Unit => Some(true),
        Attribute::Bool(has_producer) => Some(*has_producer),
        _ => None,
    }
}
