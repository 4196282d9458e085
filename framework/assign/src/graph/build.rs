//! Makes the graph of a function.

use std::collections::HashMap;
use tilewright_tile::op::name::ttg;

use super::{End, Graph, Kind, Node, RequiredLayout, Role};
use crate::chain;
use crate::layouts::{LayoutCache, LayoutTransfer};
use crate::memory::moved_bits;
use crate::pool::{LayoutId, Pool};
use crate::product::{Product, product};
use crate::{EngineError, LOOP_WEIGHT, LaunchConfig};
use tilewright_layout::Dim;
use tilewright_plan::movement::{GlobalTensor, coalesced_layout};
use tilewright_target::Direction;
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::{Attribute, Block, Body, Function, Op, Region, TileType, Value};

/// How often one of several branches is taken to run.
const BRANCH_WEIGHT: f64 = 0.5;

/// The graph of a function.
pub(crate) fn build<'a>(
    function: &Function,
    machine: &LaunchConfig<'_>,
    pool: &'a Pool,
) -> Result<Graph<'a>, EngineError> {
    let Some(body) = &function.body else { return Ok(empty(pool)) };
    let facts = AxisInfoMap::of(function);
    let mut builder = Builder::new(body, &facts, machine, pool);
    builder.region(body.root(), 1.0)?;
    builder.fix_given()?;
    Ok(builder.finished())
}

fn empty(pool: &Pool) -> Graph<'_> {
    Graph {
        pool,
        nodes: Vec::new(),
        products: Vec::new(),
        roles: Vec::new(),
        again: Vec::new(),
        is_loaded: Vec::new(),
        weights: Vec::new(),
        bits: Vec::new(),
        wants: Vec::new(),
        users: Vec::new(),
        watchers: Vec::new(),
    }
}

/// The graph as it is made.
pub(super) struct Builder<'f, 'a> {
    pub(super) body: &'f Body,
    pub(super) facts: &'f AxisInfoMap,
    pub(super) machine: &'f LaunchConfig<'f>,
    pub(super) graph: Graph<'a>,
    layouts: LayoutCache<'f>,
    /// Warps of groups that do something else than the others.
    groups: Vec<u64>,
    usual: HashMap<Vec<u64>, LayoutId>,
    products: Vec<(String, Product)>,
}

impl<'f, 'a> Builder<'f, 'a> {
    fn new(body: &'f Body, facts: &'f AxisInfoMap, machine: &'f LaunchConfig<'f>, pool: &'a Pool) -> Self {
        let values = body.value_count();
        let graph = Graph {
            roles: vec![Role::Scalar; values],
            again: vec![None; values],
            is_loaded: vec![false; values],
            weights: vec![1.0; values],
            bits: vec![0; values],
            wants: vec![Vec::new(); body.op_count()],
            ..empty(pool)
        };
        let layouts = LayoutCache::new(machine.families);
        let groups = groups(body);
        Self { body, facts, machine, graph, layouts, groups, usual: HashMap::new(), products: Vec::new() }
    }

    fn finished(self) -> Graph<'a> {
        let mut graph = self.graph;
        graph.users = vec![Vec::new(); graph.roles.len()];
        graph.watchers = vec![Vec::new(); graph.roles.len()];
        for (number, node) in graph.nodes.iter().enumerate() {
            for end in &node.ins {
                graph.users[end.value.index()].push((number, end.view));
            }
            if node.weight >= LOOP_WEIGHT as f64 && is_loaded(node, &graph.is_loaded) {
                node.outs.iter().for_each(|end| graph.is_loaded[end.value.index()] = true);
            }
            for value in &node.watched {
                graph.watchers[value.index()].push(number);
            }
        }
        graph
    }

    pub(super) fn region(&mut self, region: Region, weight: f64) -> Result<(), EngineError> {
        let root = region == self.body.root();
        for (number, block) in self.body.blocks(region).iter().enumerate() {
            if root || number > 0 {
                self.block_arguments(*block, number == 0, weight)?;
            }
            for op in self.body.ops(*block) {
                self.op(*op, weight)?;
            }
        }
        Ok(())
    }

    /// Arguments of the function come in the usual layout; those of another block in any.
    fn block_arguments(&mut self, block: Block, is_entry: bool, weight: f64) -> Result<(), EngineError> {
        for &argument in self.body.arguments(block) {
            if !self.is_tensor(argument) || self.graph.roles[argument.index()] != Role::Scalar {
                continue;
            }
            let node = self.node(Kind::Nothing, None, weight, self.shape(argument));
            self.out(node, argument, LayoutTransfer::Same, Some(LayoutTransfer::Same), weight);
            if is_entry {
                self.graph.nodes[node].fixed = Some(self.usual(&self.shape(argument))?);
            }
        }
        Ok(())
    }

    pub(super) fn regions(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
        for region in self.body.op(op).regions.clone() {
            self.region(region, weight)?;
        }
        Ok(())
    }

    pub(super) fn loop_weight(weight: f64) -> f64 {
        weight * LOOP_WEIGHT as f64
    }

    pub(super) fn branch_weight(weight: f64) -> f64 {
        weight * BRANCH_WEIGHT
    }

    pub(super) fn is_tensor(&self, value: Value) -> bool {
        matches!(self.body.ty(value), TileType::Tensor(_))
    }

    pub(super) fn shape(&self, value: Value) -> Vec<u64> {
        self.body.ty(value).shape().map(<[u64]>::to_vec).unwrap_or_default()
    }

    pub(super) fn node(&mut self, kind: Kind, op: Option<Op>, weight: f64, shape: Vec<u64>) -> usize {
        let (outs, ins, watched) = (Vec::new(), Vec::new(), Vec::new());
        self.graph.nodes.push(Node { kind, op, weight, shape, outs, ins, fixed: None, watched });
        self.graph.nodes.len() - 1
    }

    fn end(&mut self, value: Value, view: LayoutTransfer, back: Option<LayoutTransfer>) -> End {
        self.graph.bits[value.index()] = moved_bits(self.body.ty(value));
        End { value, view: self.graph.pool.view(view), back: back.map(|back| self.graph.pool.view(back)) }
    }

    /// The key of a node whose end has the layout that the program says already.
    fn given(&self, end: &End) -> Result<Option<LayoutId>, EngineError> {
        if self.body.ty(end.value).layout().is_none() {
            return Ok(None);
        }
        let given = self.layouts.distributed(self.body.ty(end.value))?;
        let (lanes, warps) = (1u64 << given.in_bits(Dim::LANE), 1u64 << given.in_bits(Dim::WARP));
        let is_of_group = self.groups.contains(&warps);
        if lanes != u64::from(self.machine.lanes) || warps != u64::from(self.machine.warps) && !is_of_group {
            let ty = self.body.ty(end.value).to_string();
            return Err(EngineError::Block { ty, lanes, warps, expected: [self.machine.lanes, self.machine.warps] });
        }
        let given = self.graph.pool.layout(&given)?;
        Ok(end.back.and_then(|back| self.graph.pool.seen(given, back)))
    }

    /// What the program says already stays: results, and operands of what has no results or says them too.
    fn fix_given(&mut self) -> Result<(), EngineError> {
        for number in 0..self.graph.nodes.len() {
            let node = &self.graph.nodes[number];
            let outs = node.outs.iter().map(|end| self.given(end)).collect::<Result<Vec<_>, _>>()?;
            let mut fixed = outs.into_iter().flatten().next();
            if fixed.is_none() && node.outs.iter().all(|end| self.body.ty(end.value).layout().is_some()) {
                let ins = node.ins.iter().map(|end| self.given(end)).collect::<Result<Vec<_>, _>>()?;
                fixed = ins.into_iter().flatten().next();
            }
            let own = &mut self.graph.nodes[number].fixed;
            *own = fixed.or(*own);
        }
        Ok(())
    }

    /// A value has its layout from a node.
    pub(super) fn out(
        &mut self,
        node: usize,
        value: Value,
        view: LayoutTransfer,
        back: Option<LayoutTransfer>,
        weight: f64,
    ) {
        let end = self.end(value, view, back);
        self.graph.roles[value.index()] = Role::Of(node, end.view);
        self.graph.weights[value.index()] = weight;
        self.graph.nodes[node].outs.push(end);
    }

    /// A node wants an operand of an operation.
    pub(super) fn required(
        &mut self,
        node: usize,
        (op, operand): (Op, usize),
        view: LayoutTransfer,
        back: Option<LayoutTransfer>,
    ) {
        let value = self.body.op(op).operands[operand];
        if !self.is_tensor(value) {
            return;
        }
        let end = self.end(value, view, back);
        self.graph.nodes[node].ins.push(end);
        self.set_required(op, operand, RequiredLayout::Of(node, end.view));
    }

    pub(super) fn set_required(&mut self, op: Op, operand: usize, required: RequiredLayout) {
        let count = self.body.op(op).operands.len();
        let wants = &mut self.graph.wants[op.index()];
        wants.resize(count, RequiredLayout::Scalar);
        wants[operand] = required;
    }

    /// A value that is computed wherever it is wanted, by so many operations.
    pub(super) fn free(&mut self, value: Value, cone: u32, weight: f64) {
        self.graph.roles[value.index()] = Role::Free(cone);
        self.graph.weights[value.index()] = weight;
        self.graph.bits[value.index()] = moved_bits(self.body.ty(value));
    }

    /// The layout of a tensor of which nothing else is known: lanes and warps follow each other, the last axis first.
    pub(super) fn usual(&mut self, shape: &[u64]) -> Result<LayoutId, EngineError> {
        if let Some(&known) = self.usual.get(shape) {
            return Ok(known);
        }
        let id = usual(shape, self.machine, self.graph.pool)?;
        self.usual.insert(shape.to_vec(), id);
        Ok(id)
    }

    /// The plan of a product; of equal products one is made.
    pub(super) fn product(&mut self, op: Op) -> Result<Product, EngineError> {
        let explicit = chain::described(self.body, op);
        if let Some((_, known)) = self.products.iter().find(|(known, _)| *known == explicit) {
            return Ok(known.clone());
        }
        let operation = self.body.op(op).name().to_owned();
        let made = product(self.body, op, self.machine).map_err(|source| EngineError::Product { operation, source })?;
        self.products.push((explicit, made.clone()));
        Ok(made)
    }
}

/// Whether a node of a loop loads what it gives, or makes it of what is loaded.
fn is_loaded(node: &Node, known: &[bool]) -> bool {
    match &node.kind {
        Kind::Access(access) => access.direction == Direction::Load,
        Kind::Elementwise(_) | Kind::Nothing => {
            node.op.is_some() && node.ins.iter().any(|end| known[end.value.index()])
        }
        _ => false,
    }
}

/// The layout of a tensor of which nothing else is known.
pub(crate) fn usual(shape: &[u64], machine: &LaunchConfig<'_>, pool: &Pool) -> Result<LayoutId, EngineError> {
    let (lanes, warps) = (u64::from(machine.lanes), u64::from(machine.warps));
    let memory = GlobalTensor::row_major(shape, 4);
    let layout = coalesced_layout(&memory, 32, lanes, warps, machine.context.target)?;
    Ok(pool.layout(&layout)?)
}

/// Warps of the groups of a program that do something else than the others.
fn groups(body: &Body) -> Vec<u64> {
    let ops = body.walk(body.root()).into_iter().filter(|&op| body.op(op).name() == ttg::WARP_SPECIALIZE);
    let warps = ops.filter_map(|op| match body.op(op).attributes.get("partitionNumWarps") {
        Some(Attribute::Array(_, warps)) => Some(warps.clone()),
        _ => None,
    });
    warps.flatten().collect()
}
