//! What is open of a program: the choices, each with its alternatives.

use std::collections::HashMap;
use tilewright_tile::op::name::{ttg, tw};

use super::anchors::{self, Way};
use super::boxes;
use super::model::Work;
use super::often::times;
use super::work::multiplied;
use super::{Options, SynthesisError};
use crate::LaunchConfig;
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::op::Dialects;
use tilewright_tile::transform::explicit::{Choices, CopyChoice, Loop, Mapped, expand, loops};
use tilewright_tile::{Attribute, Body, Function, Op, TileModule};

/// The numbers of stages that are tried where the program says none.
const STAGES: [u32; 3] = [3, 2, 4];

/// What is open, each with its alternatives, the best guess first.
pub(super) struct Tree {
    pub copies: HashMap<Op, CopyChoice>,
    pub products: Vec<Product>,
    pub loops: Vec<Staged>,
    /// Copies that can go by boxes.
    pub boxes: HashMap<Op, Mapped>,
}

/// A loop that fills tensors in shared memory.
pub(super) struct Staged {
    pub of: Loop,
    /// The numbers of buffers that it may have.
    pub stages: Vec<u32>,
    /// Whether a warp of its own issues its copies, where the program says so.
    pub produced: Option<bool>,
}

/// Products that are carried out alike.
pub(super) struct Product {
    pub ops: Vec<Op>,
    pub ways: Vec<Way>,
    /// How often all of them happen together.
    pub times: u64,
}

impl Product {
    /// The work of one way, and how often it is done.
    pub(super) fn work(&self, way: &Way, machine: &LaunchConfig<'_>) -> (Work, u64) {
        (multiplied(&way.cost, machine), self.times)
    }
}

impl Tree {
    /// What is open of a module of one function.
    pub(super) fn of(
        module: &TileModule,
        machine: &LaunchConfig<'_>,
        options: Options,
    ) -> Result<Self, SynthesisError> {
        let none = || Self { copies: HashMap::new(), products: Vec::new(), loops: Vec::new(), boxes: HashMap::new() };
        let Some(function) = module.functions.first() else { return Ok(none()) };
        let Some(body) = &function.body else { return Ok(none()) };
        let facts = AxisInfoMap::of(function);
        let of_loop = |of: Loop| Staged { stages: stages(body, &of, options), produced: produced(body, &of), of };
        let loops: Vec<Staged> = loops(function).into_iter().map(of_loop).collect();
        let outermost = body.blocks(body.root()).first().map_or(&[][..], |entry| body.ops(*entry));
        // Where what lanes do is left out, so is what takes their place.
        let of_loops = loops.iter().filter(|open| options.task_mapping && outermost.contains(&open.of.op));
        let may = of_loops.flat_map(|open| &open.of.copies);
        let boxes = may.filter_map(|&copy| Some((copy, boxes::mapped(body, &facts, copy, machine)?))).collect();
        let copies = copies(function, machine, options)?;
        Ok(Self { copies, products: products(body, &facts, machine)?, loops, boxes })
    }
}

/// Products of the same types are carried out alike.
fn products(body: &Body, facts: &AxisInfoMap, machine: &LaunchConfig<'_>) -> Result<Vec<Product>, SynthesisError> {
    let mut products: Vec<(String, Product)> = Vec::new();
    for op in body.walk(body.root()).into_iter().filter(|op| body.op(*op).name() == tw::MMA) {
        let operation = body.op(op);
        let types = operation.operands.iter().map(|value| body.ty(*value).to_string()).collect::<Vec<_>>();
        let signature = format!("{types:?} {:?}", operation.attributes);
        let times = times(body, facts, op);
        match products.iter_mut().find(|(known, _)| *known == signature) {
            Some((_, product)) => {
                product.ops.push(op);
                product.times += times;
            }
            None => {
                let ways = anchors::of_product(body, op, machine)?;
                products.push((signature, Product { ops: vec![op], ways, times }));
            }
        }
    }
    Ok(products.into_iter().map(|(_, product)| product).collect())
}

/// Which lane copies what to shared memory, to begin with.
fn copies(
    function: &Function,
    machine: &LaunchConfig<'_>,
    options: Options,
) -> Result<HashMap<Op, CopyChoice>, SynthesisError> {
    let plain = expand(function, &Choices::default(), &Dialects::neutral())?;
    let facts = AxisInfoMap::of(&plain.function);
    let mut copies = HashMap::new();
    for &(from, made) in &plain.copies {
        let body = plain.function.body.as_ref();
        if body.is_some_and(|body| body.op(made).name() == ttg::ASYNC_COPY_GLOBAL_TO_LOCAL) {
            copies.insert(from, anchors::of_copy(&plain, &facts, made, machine, options)?);
        }
    }
    Ok(copies)
}

/// The numbers of stages of a loop: that of its tensors where they say one.
fn stages(body: &Body, of: &Loop, options: Options) -> Vec<u32> {
    let stages = of.tensors.iter().filter_map(|tensor| {
        let number = body.op(*tensor).attributes.get("stages").and_then(Attribute::as_integer)?;
        u32::try_from(number).ok()
    });
    match stages.max() {
        _ if !options.pipeline || of.rejected.is_some() => vec![1],
        Some(stages) => vec![stages],
        None => STAGES.to_vec(),
    }
}

/// Whether a loop says that a warp of its own issues its copies, in Triton's word for it, or that none does.
fn produced(body: &Body, of: &Loop) -> Option<bool> {
    match body.op(of.op).attributes.get("tt.warp_specialize")? {
        Attribute::Unit => Some(true),
        Attribute::Bool(has_producer) => Some(*has_producer),
        _ => None,
    }
}
