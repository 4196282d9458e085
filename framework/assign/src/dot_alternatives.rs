//! Alternative plans of dots, compared by the predicted time of the launch.
//!
//! By default a dot takes the plan with the fewest cycles for operands that lie densely in memory. If operands are
//! masked or come from other dots, or users of the result have another layout, another plan may need fewer conversions.
//! The cost of the surrounding program and the dot's own cost rank the alternatives; an alternative must not raise the
//! cost of the surrounding operations. The best ones are written out and pipelined, and the dot takes the plan with
//! which the program has the least predicted time, as in the search of explicit-memory programs. Attributes record the
//! choice, so that lowering finds the same plan.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::dot_plan::{DotPlan, plan_dot, write_plan_attributes};
use super::graph::{DotNodes, Graph, Kind, Role};
use super::interner::LayoutId;
use super::local_search::{Suggested, improve, suggestions, sweeps};
use super::moves::MIN_GAIN;
use super::rewrite::rewrite;
use super::shared_buffer::SolvedLayouts;
use super::stages::predict_pipelined;
use super::state::{Change, State};
use super::store_swaps::swap_lanes_of_stores;
use super::synthesis::alternatives::Tried;
use super::synthesis::registers::BESIDE;
use super::{AssignmentError, DotReport, LOOP_WEIGHT, LaunchConfig};
use tilewright_layout::Dim;
use tilewright_plan::mma::{CandidateSpace, MmaError, MmaProblem, dot_candidates};
use tilewright_target::{Direction, Optimization};
use tilewright_tile::op::OpDefinition;
use tilewright_tile::op_attrs::{ALL_WARPS_ALONG_M, INSTRUCTION, IS_PENDING};
use tilewright_tile::{Attributes, Function, FunctionBody, Op, Value};

/// Max number of alternative plans that are tried for a dot.
const MOST: usize = 8;
/// Max number of alternative plans of a dot, the cheapest, with which the time of the program is predicted.
const MAX_PREDICTED: usize = 3;
/// Programs count as equally fast if their predicted times differ by less than this factor: the prediction is no better
/// than that, and the cost of the program then decides.
const AS_FAST: f64 = 1.01;
/// Max cost of a program whose time is predicted, as a multiple of the cost with the cheapest plan.
const MAX_COST: f64 = 1.1;
/// Max number of dots in a program for which alternatives are tried; in programs with more dots each keeps the plan
/// with the fewest cycles.
const MAX_DOTS: usize = 8;
/// Max number of graph nodes around a dot whose layouts may follow another plan of the dot.
const AROUND: usize = 32;
/// Max number of operations through which a loaded value is followed to a layout conversion through shared memory.
const CHAIN: usize = 6;
/// Max number of local-search steps for each graph node around a dot, on average: the search stops after this number
/// times the number of these nodes.
const STEPS: usize = 64;

/// The plans of a function's dots that were compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TriedPlans {
    /// The plan of each dot, in the order of the graph's dots.
    pub dots: Vec<DotReport>,
    /// The programs whose time was predicted, by the plans of their dots and by their loops.
    pub tried: Tried,
}

impl TriedPlans {
    /// Returns the plans that the dots of a function have in its graph.
    pub fn of(function: &Function, graph: &Graph<'_>) -> Self {
        let reports = |body| graph.dots.iter().map(|dot| report_plan(body, dot.op, &dot.dot_plan)).collect();
        Self { dots: function.body.as_ref().map_or_else(Vec::new, reports), tried: Tried::default() }
    }
}

/// A plan of a dot, with the layouts around it that cost least.
struct Alternative {
    /// The attributes of the dot that record the plan.
    attributes: Attributes,
    /// The key (chosen layout) of every graph node.
    keys: Vec<LayoutId>,
    /// The cost of the program with the dot, in cycles for each warp.
    cost: f64,
    plan: DotReport,
}

/// Chooses plans for dots: those with which the program, pipelined in at most `stages` stages, has the least predicted
/// time. Records them in the attributes of the dots, and updates the keys (chosen layouts) of the graph's nodes.
/// `convert` defines layout conversions.
pub(super) fn take(
    state: &mut State<'_, '_>,
    function: &mut Function,
    plans: &mut TriedPlans,
    (config, stages): (&LaunchConfig<'_>, Option<u32>),
    convert: &Arc<OpDefinition>,
) -> Result<(), AssignmentError> {
    let graph = state.graph;
    if graph.dots.len() > MAX_DOTS {
        return Ok(());
    }
    let predictor = Predictor { config, stages, solved: SolvedLayouts::default(), convert };
    let mut taken = false;
    for (index, dot_nodes) in graph.dots.iter().enumerate() {
        let Some(body) = function.body.as_mut().filter(|body| is_open(body, dot_nodes)) else { continue };
        let mut dots = to_texts(&plans.dots);
        let found = find_alternatives(state, body, dot_nodes, config, |plan, reason| {
            dots[index] = plan.to_string();
            plans.tried.reject(dots.clone(), reason);
        })?;
        taken |= predictor.take_fastest(found, (state, function), (index, dot_nodes.op), plans)?;
        let Some(body) = function.body.as_mut() else { continue };
        let found = join_columns_of_warps(state, body, dot_nodes, config)?;
        taken |= predictor.take_fastest(found, (state, function), (index, dot_nodes.op), plans)?;
    }
    let Some(body) = function.body.as_mut().filter(|_| taken) else { return Ok(()) };
    for dot_nodes in &graph.dots {
        keep(state, body, dot_nodes, config)?;
    }
    improve(state, config)
}

/// Predicts the time of programs with alternative plans, pipelined in at most `stages` stages.
struct Predictor<'p> {
    config: &'p LaunchConfig<'p>,
    stages: Option<u32>,
    solved: SolvedLayouts<'p>,
    /// Defines layout conversions.
    convert: &'p Arc<OpDefinition>,
}

impl Predictor<'_> {
    /// Gives `dot`, whose plan is `plans.dots[index]`, the alternative with the least predicted time; of those that count
    /// as equally fast ([`AS_FAST`]), the first. An alternative with the present plan changes nothing. Returns whether
    /// layouts change.
    fn take_fastest(
        &self,
        alternatives: Vec<Alternative>,
        (state, function): (&mut State<'_, '_>, &mut Function),
        (index, dot): (usize, Op),
        plans: &mut TriedPlans,
    ) -> Result<bool, AssignmentError> {
        if alternatives.is_empty() {
            return Ok(false);
        }
        let mut program = (function.clone(), state.clone());
        let mut fastest: Option<(f64, Alternative)> = None;
        for alternative in alternatives {
            write_alternative(&mut program.0, &mut program.1, dot, &alternative);
            let (written, _) = rewrite(&program.0, &program.1, self.config, self.convert)?;
            let (loops, predicted) = predict_pipelined(&written, (self.config, &self.solved), self.stages)?;
            plans.dots[index].clone_from(&alternative.plan);
            plans.tried.add([to_texts(&plans.dots), loops].concat(), predicted.as_ref());
            let cycles = predicted.as_ref().map_or(f64::INFINITY, |prediction| prediction.cycles);
            if fastest.as_ref().is_none_or(|(least, _)| AS_FAST * cycles < *least) {
                fastest = Some((cycles, alternative));
            }
        }
        let Some((_, fastest)) = fastest else { return Ok(false) };
        plans.dots[index].clone_from(&fastest.plan);
        if function.body.as_ref().is_some_and(|body| body.op(dot).attributes == fastest.attributes) {
            return Ok(false);
        }
        let is_changed = fastest.keys != state.keys;
        write_alternative(function, state, dot, &fastest);
        Ok(is_changed)
    }
}

/// Gives a dot the plan of an alternative, and the graph's nodes its keys (chosen layouts).
fn write_alternative(function: &mut Function, state: &mut State<'_, '_>, dot: Op, alternative: &Alternative) {
    if let Some(body) = &mut function.body {
        body.op_mut(dot).attributes.clone_from(&alternative.attributes);
    }
    state.keys.clone_from(&alternative.keys);
}

/// Returns the plan of a dot as reports show it.
fn report_plan(body: &FunctionBody, op: Op, DotPlan { plan, .. }: &DotPlan) -> DotReport {
    DotReport::new(body.display_name(body.op(op).results[0]), plan, &plan.to_explicit_problem())
}

/// Returns the plans of dots as lists of alternatives show them.
pub(crate) fn to_texts(dots: &[DotReport]) -> Vec<String> {
    dots.iter().map(DotReport::to_string).collect()
}

/// Records a dot's plan in its attributes if lowering would otherwise compute another one. That happens if the plan
/// depends on the plan of a dot that produces an operand, and that plan has changed since.
fn keep(
    state: &State<'_, '_>,
    body: &mut FunctionBody,
    of: &DotNodes,
    config: &LaunchConfig<'_>,
) -> Result<(), AssignmentError> {
    if of.dot_plan.plan.problem.operand_layouts == [None, None] {
        return Ok(());
    }
    let operation = body.op(of.op).name().to_owned();
    let now = plan_dot(body, of.op, config).map_err(|source| AssignmentError::Mma { operation, source })?;
    let is_key = |&(node, key): &(usize, LayoutId)| state.keys[node] == key;
    if !change(state, of, &now)?.is_some_and(|keys| keys.iter().all(is_key)) {
        write_plan_attributes(&mut body.op_mut(of.op).attributes, &of.dot_plan.plan.to_explicit_problem());
    }
    Ok(())
}

/// Whether the plan of a dot is open: the program states neither a plan nor layouts of the dot's values, and all
/// operands are in registers.
fn is_open(body: &FunctionBody, of: &DotNodes) -> bool {
    let operation = body.op(of.op);
    let explicit =
        [INSTRUCTION, IS_PENDING, ALL_WARPS_ALONG_M].iter().any(|name| operation.attributes.get(name).is_some());
    let in_registers = of.dot_plan.operands.iter().all(Option::is_some) && of.dot_plan.batches.is_none();
    let unsaid =
        operation.operands.iter().chain(&operation.results).all(|value| body.value_type(*value).layout().is_none());
    in_registers && unsaid && !explicit
}

/// The limits that the program around a dot must keep with another plan of the dot.
struct Limits {
    /// The cost without the dots, in cycles for each warp.
    cost: f64,
    /// The loads that are not prefetched, as [`waits`].
    waiting: f64,
    /// Registers of a lane, as [`live_registers`].
    registers: u64,
}

impl Limits {
    fn of(state: &State<'_, '_>, config: &LaunchConfig<'_>) -> Self {
        let registers = live_registers(state).max(config.registers_per_lane().saturating_sub(BESIDE));
        Self { cost: state.total(f64::INFINITY), waiting: waits(state), registers }
    }

    /// Returns the cost without the dots, in cycles for each warp. The cost must not rise, so that the total does not
    /// exceed the total of propagation, before the local search.
    ///
    /// # Errors
    /// The limit that is exceeded.
    fn check(&self, state: &State<'_, '_>) -> Result<f64, String> {
        let (cost, registers) = (state.total(f64::INFINITY), live_registers(state));
        if cost > self.cost {
            return Err(format!("the rest of the program costs a warp {:.0} cycles more", cost - self.cost));
        }
        if waits(state) > self.waiting {
            return Err("a load of a loop is not prefetched".to_owned());
        }
        if registers > self.registers {
            return Err(format!("a lane needs {registers} registers for tensors, {} are left", self.registers));
        }
        Ok(cost)
    }
}

/// Returns the plans of a dot whose time is worth predicting, the cheapest first: the present one and at most
/// [`MAX_PREDICTED`] others. None if the program around the dot leaves nothing to gain. `reject` is called with each
/// other plan and the reason.
fn find_alternatives(
    state: &State<'_, '_>,
    body: &mut FunctionBody,
    of: &DotNodes,
    config: &LaunchConfig<'_>,
    mut reject: impl FnMut(&DotReport, String),
) -> Result<Vec<Alternative>, AssignmentError> {
    let (plan, near, suggested) = (&of.dot_plan.plan, around(state, of), suggestions(state, config)?);
    if !converts(state, &near) && !is_narrow(state, &near, &suggested) {
        return Ok(Vec::new());
    }
    let operation = body.op(of.op).name().to_owned();
    let wrong = |source| AssignmentError::Mma { operation: operation.clone(), source };
    let weight = of.nodes.iter().flatten().map(|&node| state.graph.nodes[node].weight).fold(1.0, f64::max);
    let dot_price = |dot_plan: &DotPlan| weight * dot_plan.plan.warp_issue_cycles();
    let limits = Limits::of(state, config);
    let (attributes, keys) = (body.op(of.op).attributes.clone(), state.keys.clone());
    let (cost, present) = (limits.cost + dot_price(&of.dot_plan), report_plan(body, of.op, &of.dot_plan));
    let mut found = vec![Alternative { attributes, keys, cost: cost - MIN_GAIN, plan: present }];
    let space = CandidateSpace::RegisterLayouts { best: plan, most: MOST };
    let (candidates, _) = dot_candidates(&plan.problem, &space, config.context).map_err(wrong)?;
    for problem in candidates.into_iter().map(|candidate| candidate.problem) {
        let (attributes, dot_plan) = match try_problem(body, of.op, &problem, config) {
            Err(MmaError::Impossible { .. }) => continue,
            other => other.map_err(wrong)?,
        };
        let Some(change) = change(state, of, &dot_plan)? else { continue };
        let mut tried = state.clone();
        tried.apply(&change);
        sweeps(&mut tried, &near, &suggested, STEPS * near.len());
        let plan = report_plan(body, of.op, &dot_plan);
        match limits.check(&tried) {
            Ok(around) => {
                let cost = around + dot_price(&dot_plan);
                found.push(Alternative { attributes, keys: tried.keys, cost, plan });
            }
            Err(reason) => reject(&plan, reason),
        }
    }
    Ok(keep_cheapest(found, reject))
}

/// Returns the plans whose time is worth predicting, the cheapest first: the first of `found`, which is the present
/// one, and the cheapest others. None if there are no others.
fn keep_cheapest(mut found: Vec<Alternative>, mut reject: impl FnMut(&DotReport, String)) -> Vec<Alternative> {
    let present = found.remove(0);
    found.sort_by(|one, other| one.cost.total_cmp(&other.cost));
    let least = found.first().map_or(present.cost, |cheapest| cheapest.cost.min(present.cost));
    let near = found.partition_point(|other| other.cost <= MAX_COST * least);
    for other in found.drain(near.min(MAX_PREDICTED)..) {
        let percent = 100.0 * (other.cost / least - 1.0);
        reject(&other.plan, format!("the program costs a warp {percent:.1} % more than with the cheapest plan"));
    }
    let cheaper = found.partition_point(|other| other.cost < present.cost);
    if !found.is_empty() {
        found.insert(cheaper, present);
    }
    found
}

/// Returns the present plan of a dot and the same plan with consecutive columns for each warp. None if the second costs
/// no less, with the stores of both as they will be after swaps of lanes.
///
/// By default the columns of warps alternate, so that few columns of a row lie in a warp. Its lanes then store parts of
/// sectors, whatever lanes swap.
fn join_columns_of_warps(
    state: &State<'_, '_>,
    body: &mut FunctionBody,
    of: &DotNodes,
    config: &LaunchConfig<'_>,
) -> Result<Vec<Alternative>, AssignmentError> {
    let operation = body.op(of.op).name().to_owned();
    let wrong = |source| AssignmentError::Mma { operation: operation.clone(), source };
    let now = plan_dot(body, of.op, config).map_err(wrong)?;
    let problem = now.plan.to_explicit_problem();
    if problem.n_width.is_some() || problem.contiguous_warp_columns || !config.context.enables(Optimization::StoreSwaps)
    {
        return Ok(Vec::new());
    }
    let (attributes, joined) = match try_problem(body, of.op, &problem.with_contiguous_warp_columns(true), config) {
        Err(MmaError::Impossible { .. }) => return Ok(Vec::new()),
        other => other.map_err(wrong)?,
    };
    let Some(change) = change(state, of, &joined)? else { return Ok(Vec::new()) };
    let (near, suggested) = (around(state, of), suggestions(state, config)?);
    let (mut present, mut tried) = (state.clone(), state.clone());
    tried.apply(&change);
    sweeps(&mut tried, &near, &suggested, STEPS * near.len());
    swap_lanes_of_stores(&mut present)?;
    swap_lanes_of_stores(&mut tried)?;
    let limits = Limits { cost: present.total(f64::INFINITY) - MIN_GAIN, ..Limits::of(state, config) };
    let Ok(cost) = limits.check(&tried) else { return Ok(Vec::new()) };
    let before = body.op(of.op).attributes.clone();
    let plan = report_plan(body, of.op, &joined);
    let (keys, present_plan) = (present.keys, report_plan(body, of.op, &now));
    let present = Alternative { attributes: before, keys, cost: limits.cost, plan: present_plan };
    Ok(vec![present, Alternative { attributes, keys: tried.keys, cost, plan }])
}

/// Plans a dot as if it had the attributes that record `problem`; returns these attributes and the plan.
fn try_problem(
    body: &mut FunctionBody,
    op: Op,
    problem: &MmaProblem,
    config: &LaunchConfig<'_>,
) -> Result<(Attributes, DotPlan), MmaError> {
    let before = body.op(op).attributes.clone();
    write_plan_attributes(&mut body.op_mut(op).attributes, problem);
    let planned = plan_dot(body, op, config);
    let explicit = std::mem::replace(&mut body.op_mut(op).attributes, before);
    Ok((explicit, planned?))
}

/// Returns the new keys (chosen layouts) of a dot's nodes under the plan `dot_plan`. `None` if this plan reads other
/// operands from memory than the graph assumes.
fn change(state: &State<'_, '_>, of: &DotNodes, dot_plan: &DotPlan) -> Result<Option<Change>, AssignmentError> {
    let mut change = Change::new();
    for (node, layout) in of.nodes.iter().zip(dot_plan.layouts()) {
        match (node, layout) {
            (Some(node), Some(layout)) => change.push((*node, state.graph.interner.layout(layout)?)),
            (None, None) => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(change))
}

/// Returns the indices of the graph nodes nearest to a dot, at most [`AROUND`].
fn around(state: &State<'_, '_>, of: &DotNodes) -> Vec<usize> {
    let graph = state.graph;
    let mut near: BTreeSet<usize> = of.nodes.iter().flatten().copied().collect();
    let mut edge: Vec<usize> = near.iter().copied().collect();
    while !edge.is_empty() && near.len() < AROUND {
        let mut next = Vec::new();
        for node in edge {
            let node_info = &graph.nodes[node];
            let makers = node_info.ins.iter().filter_map(|end| match graph.roles[end.value.index()] {
                Role::Of(maker, _) => Some(maker),
                _ => None,
            });
            let users = node_info.outs.iter().flat_map(|end| &graph.users[end.value.index()]).map(|&(user, _)| user);
            next.extend(makers.chain(users).filter(|other| near.len() < AROUND && near.insert(*other)));
        }
        edge = next;
    }
    near.into_iter().collect()
}

/// Whether some value of these graph nodes is converted to another layout. If none is, no alternative plan is tried for
/// the dot.
fn converts(state: &State<'_, '_>, nodes: &[usize]) -> bool {
    let given = nodes.iter().flat_map(|&node| &state.graph.nodes[node].outs);
    given.map(|end| end.value).any(|value| {
        let required = state.required(value);
        required.into_iter().flatten().any(|to| state.conversion(value, to) > MIN_GAIN)
    })
}

/// Whether some memory access among these graph nodes costs more than in a layout that accesses of its shape prefer.
fn is_narrow(state: &State<'_, '_>, nodes: &[usize], suggested: &Suggested) -> bool {
    nodes.iter().any(|&node| {
        let node_info = &state.graph.nodes[node];
        let price = |key: LayoutId| state.prices.operation(node, &node_info.kind, key, None);
        let mut others = suggested.get(&node_info.shape).into_iter().flatten();
        let is_access = matches!(node_info.kind, Kind::Access(_));
        is_access && others.any(|&other| price(other) + MIN_GAIN < price(state.keys[node]))
    })
}

/// Returns the number of 32-bit registers of a lane that a loop with dots takes at once: values from before the loop,
/// in the layouts that the loop requires, the accumulators of its dots, and the operands that one dot multiplies at a
/// time. If a lane has fewer, the loop spills and reloads values in each iteration, which no operation's cost includes.
fn live_registers(state: &State<'_, '_>) -> u64 {
    let graph = state.graph;
    let registers = |layout: LayoutId, bits: u32| {
        (u64::from(bits) << graph.interner.get(layout).in_bits(Dim::REGISTER)).div_ceil(32)
    };
    let is_repeated = |node: usize| graph.nodes[node].weight >= LOOP_WEIGHT as f64;
    let mut live: BTreeSet<(Value, LayoutId)> = BTreeSet::new();
    for (node, node_info) in graph.nodes.iter().enumerate().filter(|&(node, _)| is_repeated(node)) {
        let outer = node_info.ins.iter().filter(|end| {
            let is_tensor = matches!(graph.roles[end.value.index()], Role::Of(..));
            is_tensor && graph.weights[end.value.index()] < node_info.weight
        });
        live.extend(outer.filter_map(|end| Some((end.value, state.at(node, end.transfer)?))));
    }
    let (mut accumulators, mut operands) = (0, 0);
    for dot in &graph.dots {
        let Some(node) = dot.nodes[2].filter(|&node| is_repeated(node)) else { continue };
        let accumulator = registers(state.keys[node], 32);
        accumulators += accumulator;
        operands = operands.max(dot.dot_plan.plan.cost.registers.saturating_sub(accumulator));
    }
    let outer: u64 = live.iter().map(|&(value, layout)| registers(layout, graph.bits[value.index()])).sum();
    outer + accumulators + operands
}

/// Returns the number of loads in loops, weighted by executions, that software pipelining ([`super::stages`]) cannot
/// prefetch because their values do not pass through shared memory. The latency of these loads has no cost of its own.
fn waits(state: &State<'_, '_>) -> f64 {
    let is_load = |kind: &Kind| matches!(kind, Kind::Access(access) if access.direction == Direction::Load);
    let in_loops = state.graph.nodes.iter().enumerate();
    let in_loops = in_loops.filter(|(_, node)| node.weight >= LOOP_WEIGHT as f64 && is_load(&node.kind));
    in_loops.filter(|&(node, _)| !passes_through_shared(state, node, CHAIN)).map(|(_, node)| node.weight).sum()
}

/// Whether a value of the graph node, or one derived from it by at most `most` operations, is converted through shared
/// memory.
fn passes_through_shared(state: &State<'_, '_>, node: usize, most: usize) -> bool {
    let graph = state.graph;
    graph.nodes[node].outs.iter().any(|end| {
        let bits = graph.bits[end.value.index()];
        let assigned = state.assigned_layout(end.value);
        let shared = |to: LayoutId| assigned.is_some_and(|assigned| state.prices.is_shared(assigned, to, bits));
        state.required(end.value).into_iter().flatten().any(shared)
            || most > 0
                && graph.users[end.value.index()].iter().any(|&(user, _)| {
                    let is_chain = matches!(graph.nodes[user].kind, Kind::Elementwise(..) | Kind::Nothing);
                    is_chain && user != node && passes_through_shared(state, user, most - 1)
                })
    })
}
