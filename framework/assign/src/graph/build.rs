//! Builds the layout graph of a function.

use std::collections::HashMap;
use tilewright_tile::op::name::ttg;

use super::{Graph, Kind, Node, Port, RequiredLayout, Role};
use crate::chain;
use crate::dot_plan::{DotPlan, plan_dot};
use crate::interner::{Interner, LayoutId};
use crate::layouts::{LayoutCache, LayoutTransfer, coalesced_over_blocks};
use crate::memory::element_bits_while_moved;
use crate::{AssignmentError, LOOP_WEIGHT, LaunchConfig};
use tilewright_layout::Dim;
use tilewright_plan::movement::GlobalTensor;
use tilewright_target::Direction;
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::{Attribute, Block, Function, FunctionBody, Op, Region, TileType, Value};

/// Assumed number of executions of each branch of an `if` or switch in a loop, relative to those of the operation
/// itself. Outside of loops it is one: most such branches are the rest of a kernel after an early return, and a loop in
/// one must have the weight of a loop.
const BRANCH_WEIGHT: f64 = 0.5;

/// Builds the layout graph of a function.
pub(crate) fn build<'a>(
    function: &Function,
    config: &LaunchConfig<'_>,
    interner: &'a Interner,
) -> Result<Graph<'a>, AssignmentError> {
    let Some(body) = &function.body else { return Ok(empty(interner)) };
    let axis_info = AxisInfoMap::analyze(function);
    let mut builder = Builder::new(body, &axis_info, config, interner);
    builder.region(body.root(), 1.0)?;
    builder.fix_given()?;
    Ok(builder.finished())
}

fn empty(interner: &Interner) -> Graph<'_> {
    Graph {
        interner,
        nodes: Vec::new(),
        dots: Vec::new(),
        roles: Vec::new(),
        remats: Vec::new(),
        is_loaded: Vec::new(),
        reaches_dot: Vec::new(),
        weights: Vec::new(),
        bits: Vec::new(),
        wants: Vec::new(),
        users: Vec::new(),
        watchers: Vec::new(),
    }
}

/// The builder of a function's layout graph, with the nodes and constraints added so far.
pub(super) struct Builder<'f, 'a> {
    pub(super) body: &'f FunctionBody,
    pub(super) axis_info: &'f AxisInfoMap,
    pub(super) config: &'f LaunchConfig<'f>,
    pub(super) graph: Graph<'a>,
    layouts: LayoutCache<'f>,
    /// The number of warps of each partition of `ttg.warp_specialize`.
    groups: Vec<u64>,
    default_layout: HashMap<Vec<u64>, LayoutId>,
    dot_plans: Vec<(String, DotPlan)>,
}

impl<'f, 'a> Builder<'f, 'a> {
    fn new(
        body: &'f FunctionBody,
        axis_info: &'f AxisInfoMap,
        config: &'f LaunchConfig<'f>,
        interner: &'a Interner,
    ) -> Self {
        let values = body.value_count();
        let graph = Graph {
            roles: vec![Role::Scalar; values],
            remats: vec![None; values],
            is_loaded: vec![false; values],
            reaches_dot: vec![false; values],
            weights: vec![1.0; values],
            bits: vec![0; values],
            wants: vec![Vec::new(); body.op_count()],
            ..empty(interner)
        };
        let layouts = LayoutCache::new(config.families);
        let groups = groups(body);
        Self { body, axis_info, config, graph, layouts, groups, default_layout: HashMap::new(), dot_plans: Vec::new() }
    }

    fn finished(self) -> Graph<'a> {
        let mut graph = self.graph;
        graph.users = vec![Vec::new(); graph.roles.len()];
        graph.watchers = vec![Vec::new(); graph.roles.len()];
        for (index, node) in graph.nodes.iter().enumerate() {
            for end in &node.ins {
                graph.users[end.value.index()].push((index, end.transfer));
            }
            if node.weight >= LOOP_WEIGHT as f64 && is_loaded(node, &graph.is_loaded) {
                node.outs.iter().for_each(|end| graph.is_loaded[end.value.index()] = true);
            }
            for value in &node.watched {
                graph.watchers[value.index()].push(index);
            }
        }
        for node in graph.nodes.iter().rev().filter(|node| node.weight >= LOOP_WEIGHT as f64) {
            let outs = || node.outs.iter().map(|end| end.value.index());
            if matches!(node.kind, Kind::Dot) && node.op.is_some() || outs().any(|value| graph.reaches_dot[value]) {
                let loaded = node.ins.iter().map(|end| end.value.index()).filter(|value| graph.is_loaded[*value]);
                loaded.for_each(|value| graph.reaches_dot[value] = true);
            }
        }
        graph
    }

    pub(super) fn region(&mut self, region: Region, weight: f64) -> Result<(), AssignmentError> {
        let root = region == self.body.root();
        for (index, block) in self.body.blocks(region).iter().enumerate() {
            if root || index > 0 {
                self.block_arguments(*block, index == 0, weight)?;
            }
            for op in self.body.ops(*block) {
                self.op(*op, weight)?;
            }
        }
        Ok(())
    }

    /// Adds nodes for the arguments of a block. It pins those of the function (`is_entry`) to the default layout; those
    /// of other blocks may take any layout. `weight` is the assumed number of executions of the block.
    fn block_arguments(&mut self, block: Block, is_entry: bool, weight: f64) -> Result<(), AssignmentError> {
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

    pub(super) fn regions(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        for region in self.body.op(op).regions.clone() {
            self.region(region, weight)?;
        }
        Ok(())
    }

    pub(super) fn loop_weight(weight: f64) -> f64 {
        weight * LOOP_WEIGHT as f64
    }

    pub(super) fn branch_weight(weight: f64) -> f64 {
        if weight > 1.0 { weight * BRANCH_WEIGHT } else { weight }
    }

    pub(super) fn is_tensor(&self, value: Value) -> bool {
        matches!(self.body.value_type(value), TileType::Tensor(_))
    }

    pub(super) fn shape(&self, value: Value) -> Vec<u64> {
        self.body.value_type(value).shape().map(<[u64]>::to_vec).unwrap_or_default()
    }

    pub(super) fn node(&mut self, kind: Kind, op: Option<Op>, weight: f64, shape: Vec<u64>) -> usize {
        let (outs, ins, watched) = (Vec::new(), Vec::new(), Vec::new());
        self.graph.nodes.push(Node { kind, op, weight, shape, outs, ins, fixed: None, watched });
        self.graph.nodes.len() - 1
    }

    fn end(&mut self, value: Value, transfer: LayoutTransfer, back: Option<LayoutTransfer>) -> Port {
        self.graph.bits[value.index()] = element_bits_while_moved(self.body.value_type(value));
        Port {
            value,
            transfer: self.graph.interner.transfer(transfer),
            back: back.map(|back| self.graph.interner.transfer(back)),
        }
    }

    /// Returns the key (chosen layout of the node) with which the value of the port `end` (a result or operand of the
    /// node) has the layout that the program states; `None` if the value's type names no layout.
    fn given(&self, end: &Port) -> Result<Option<LayoutId>, AssignmentError> {
        if self.body.value_type(end.value).layout().is_none() {
            return Ok(None);
        }
        let given = self.layouts.resolve_distributed(self.body.value_type(end.value))?;
        let (lanes, warps) = (1u64 << given.in_bits(Dim::LANE), 1u64 << given.in_bits(Dim::WARP));
        let is_of_group = self.groups.contains(&warps);
        if lanes != u64::from(self.config.lanes) || warps != u64::from(self.config.warps) && !is_of_group {
            let ty = self.body.value_type(end.value).to_string();
            return Err(AssignmentError::Block { ty, lanes, warps, expected: [self.config.lanes, self.config.warps] });
        }
        let blocks = 1u64 << given.in_bits(Dim::BLOCK);
        if blocks != u64::from(self.config.context.blocks) {
            let operation = self.body.value_type(end.value).to_string();
            let message = format!("its layout has {blocks} blocks, the program {}", self.config.context.blocks);
            return Err(AssignmentError::Program { operation, message });
        }
        let given = self.graph.interner.layout(&given)?;
        Ok(end.back.and_then(|back| self.graph.interner.apply(given, back)))
    }

    /// Pins the keys of nodes whose result layouts are explicit in the IR. If a node has no results, or only results
    /// with explicit layouts from which no key follows, it takes the key from explicit operand layouts.
    fn fix_given(&mut self) -> Result<(), AssignmentError> {
        for index in 0..self.graph.nodes.len() {
            let node = &self.graph.nodes[index];
            let outs = node.outs.iter().map(|end| self.given(end)).collect::<Result<Vec<_>, _>>()?;
            let mut fixed = outs.into_iter().flatten().next();
            if fixed.is_none() && node.outs.iter().all(|end| self.body.value_type(end.value).layout().is_some()) {
                let ins = node.ins.iter().map(|end| self.given(end)).collect::<Result<Vec<_>, _>>()?;
                fixed = ins.into_iter().flatten().next();
            }
            let fixed_layout = &mut self.graph.nodes[index].fixed;
            *fixed_layout = fixed.or(*fixed_layout);
        }
        Ok(())
    }

    /// Records that the layout of a value follows from the key of a node, by the layout transfer `transfer`. `back` is
    /// its inverse, `None` if it has none. `weight` is the assumed number of executions.
    pub(super) fn out(
        &mut self,
        node: usize,
        value: Value,
        transfer: LayoutTransfer,
        back: Option<LayoutTransfer>,
        weight: f64,
    ) {
        let end = self.end(value, transfer, back);
        self.graph.roles[value.index()] = Role::Of(node, end.transfer);
        self.graph.weights[value.index()] = weight;
        self.graph.nodes[node].outs.push(end);
    }

    /// Records that the layout that is required of an operand follows from the key of a node, by the layout transfer
    /// `transfer`. `back` is its inverse, `None` if it has none.
    pub(super) fn required(
        &mut self,
        node: usize,
        (op, operand): (Op, usize),
        transfer: LayoutTransfer,
        back: Option<LayoutTransfer>,
    ) {
        let value = self.body.op(op).operands[operand];
        if !self.is_tensor(value) {
            return;
        }
        let end = self.end(value, transfer, back);
        self.graph.nodes[node].ins.push(end);
        self.set_required(op, operand, RequiredLayout::Of(node, end.transfer));
    }

    pub(super) fn set_required(&mut self, op: Op, operand: usize, required: RequiredLayout) {
        let count = self.body.op(op).operands.len();
        let wants = &mut self.graph.wants[op.index()];
        wants.resize(count, RequiredLayout::Scalar);
        wants[operand] = required;
    }

    /// Records that a value is rematerialized by `cone` operations in every layout that is required of it, instead of
    /// being converted. `weight` is the assumed number of executions.
    pub(super) fn free(&mut self, value: Value, cone: u32, weight: f64) {
        self.graph.roles[value.index()] = Role::Free(cone);
        self.graph.weights[value.index()] = weight;
        self.graph.bits[value.index()] = element_bits_while_moved(self.body.value_type(value));
    }

    /// Returns the default layout of a tensor that nothing constrains: the coalesced layout of a row-major tensor of
    /// 32-bit elements.
    pub(super) fn usual(&mut self, shape: &[u64]) -> Result<LayoutId, AssignmentError> {
        if let Some(&known) = self.default_layout.get(shape) {
            return Ok(known);
        }
        let id = usual(shape, self.config, self.graph.interner)?;
        self.default_layout.insert(shape.to_vec(), id);
        Ok(id)
    }

    /// Returns the plan of a dot; dots of equal types and attributes share one plan.
    pub(super) fn cached_dot_plan(&mut self, op: Op) -> Result<DotPlan, AssignmentError> {
        let explicit = chain::plan_key(self.body, op);
        if let Some((_, known)) = self.dot_plans.iter().find(|(known, _)| *known == explicit) {
            return Ok(known.clone());
        }
        let operation = self.body.op(op).name().to_owned();
        let plan = plan_dot(self.body, op, self.config).map_err(|source| AssignmentError::Mma { operation, source })?;
        self.dot_plans.push((explicit, plan.clone()));
        Ok(plan)
    }
}

/// Whether a node in a loop loads from memory, or computes its result elementwise from loaded values. `known[i]` is
/// true if the value with the index `i` is known to be loaded in a loop.
fn is_loaded(node: &Node, known: &[bool]) -> bool {
    match &node.kind {
        Kind::Access(access) => access.direction == Direction::Load,
        Kind::Elementwise(..) | Kind::Nothing => {
            node.op.is_some() && node.ins.iter().any(|end| known[end.value.index()])
        }
        _ => false,
    }
}

/// Returns the default layout of a tensor that nothing constrains: the coalesced layout of a row-major tensor of 32-bit
/// elements.
pub(crate) fn usual(
    shape: &[u64],
    config: &LaunchConfig<'_>,
    interner: &Interner,
) -> Result<LayoutId, AssignmentError> {
    let layout = coalesced_over_blocks(&GlobalTensor::row_major(shape, 4), 32, config)?;
    Ok(interner.layout(&layout)?)
}

/// Returns the number of warps of each partition of all `ttg.warp_specialize` operations.
fn groups(body: &FunctionBody) -> Vec<u64> {
    let ops = body.walk_region(body.root()).into_iter().filter(|&op| body.op(op).name() == ttg::WARP_SPECIALIZE);
    let warps = ops.filter_map(|op| match body.op(op).attributes.get("partitionNumWarps") {
        Some(Attribute::Array(_, warps)) => Some(warps.clone()),
        _ => None,
    });
    warps.flatten().collect()
}
