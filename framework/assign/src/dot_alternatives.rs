//! Alternative plans of dots, compared by the cost of the surrounding program.
//!
//! By default a dot takes the plan with the fewest cycles for operands that lie densely in memory. If operands are
//! masked or come from other dots, or users of the result have another layout, another plan may need fewer conversions.
//! A dot takes such a plan if it lowers the total with the dot's own cost, and does not raise the cost of the
//! surrounding operations. Attributes record the choice, so that lowering finds the same plan.

use std::collections::BTreeSet;

use super::dot_plan::{DotPlan, plan_dot, write_plan_attributes};
use super::graph::{DotNodes, Kind, Role};
use super::interner::LayoutId;
use super::local_search::{Suggested, improve, suggestions, sweeps};
use super::moves::MIN_GAIN;
use super::state::{Change, State};
use super::synthesis::registers::BESIDE;
use super::{AssignmentError, LOOP_WEIGHT, LaunchConfig};
use tilewright_layout::Dim;
use tilewright_plan::mma::{CandidateSpace, MmaError, MmaProblem, dot_candidates};
use tilewright_target::Direction;
use tilewright_tile::op_attrs::{ALL_WARPS_ALONG_M, INSTRUCTION, IS_PENDING};
use tilewright_tile::{Attributes, Function, FunctionBody, Op, Value};

/// Max number of alternative plans that are tried for a dot.
const MOST: usize = 8;
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

/// Chooses alternative plans for dots if they lower the cost. Records them in the attributes of the dots, and updates
/// the keys (chosen layouts) of the graph's nodes.
pub(super) fn take(
    state: &mut State<'_, '_>,
    function: &mut Function,
    config: &LaunchConfig<'_>,
) -> Result<(), AssignmentError> {
    let Some(body) = &mut function.body else { return Ok(()) };
    let graph = state.graph;
    if graph.dots.len() > MAX_DOTS {
        return Ok(());
    }
    let mut taken = false;
    for dot_nodes in &graph.dots {
        if !is_open(body, dot_nodes) {
            continue;
        }
        let suggested = suggestions(state, config)?;
        let Some((attributes, keys)) = find_best_alternative(state, body, dot_nodes, &suggested, config)? else {
            continue;
        };
        body.op_mut(dot_nodes.op).attributes = attributes;
        state.keys = keys;
        taken = true;
    }
    if !taken {
        return Ok(());
    }
    for dot_nodes in &graph.dots {
        keep(state, body, dot_nodes, config)?;
    }
    improve(state, config)
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

/// Returns the best alternative plan of a dot: the dot's attributes for it, and the key (chosen layout) of every graph
/// node. `None` if no alternative lowers the cost.
fn find_best_alternative(
    state: &State<'_, '_>,
    body: &mut FunctionBody,
    of: &DotNodes,
    suggested: &Suggested,
    config: &LaunchConfig<'_>,
) -> Result<Option<(Attributes, Vec<LayoutId>)>, AssignmentError> {
    let (plan, near) = (&of.dot_plan.plan, around(state, of));
    if !converts(state, &near) && !is_narrow(state, &near, suggested) {
        return Ok(None);
    }
    let operation = body.op(of.op).name().to_owned();
    let wrong = |source| AssignmentError::Mma { operation: operation.clone(), source };
    let weight = of.nodes.iter().flatten().map(|&node| state.graph.nodes[node].weight).fold(1.0, f64::max);
    let dot_price = |dot_plan: &DotPlan| weight * dot_plan.plan.warp_issue_cycles();
    let before = (state.total(f64::INFINITY), dot_price(&of.dot_plan));
    let (waiting, most_live) =
        (waits(state), live_registers(state).max(config.registers_per_lane().saturating_sub(BESIDE)));
    let mut best = None;
    let mut lowest = before;
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
        sweeps(&mut tried, &near, suggested, STEPS * near.len());
        let after = (tried.total(f64::INFINITY), dot_price(&dot_plan));
        // The cost without the dots must not rise, so that the total does not exceed the total of propagation, before
        // the local search.
        let is_feasible = waits(&tried) <= waiting && live_registers(&tried) <= most_live;
        if is_feasible && after.0 <= before.0 && after.0 + after.1 < lowest.0 + lowest.1 - MIN_GAIN {
            lowest = after;
            best = Some((attributes, tried.keys));
        }
    }
    Ok(best)
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
                    let is_chain = matches!(graph.nodes[user].kind, Kind::Elementwise(_) | Kind::Nothing);
                    is_chain && user != node && passes_through_shared(state, user, most - 1)
                })
    })
}
