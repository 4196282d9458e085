//! Ways of products, weighed with the program around them.
//!
//! The plan of a product is the one of the least cycles for factors that memory has row after row. Where the program's come
//! under masks, from other products, or its sums go to where another way leaves them already, another way may take fewer
//! conversions; where everything around it then costs less, and that together with the product itself, the product takes it,
//! and says so in its attributes, by which the lowering finds the same plan.

use std::collections::BTreeSet;

use super::graph::{Kind, Multiplication, Role};
use super::least::{Suggested, improve, suggestions, sweeps};
use super::moves::LEAST_GAIN;
use super::pool::LayoutId;
use super::product::{Product, product, say};
use super::state::{Change, State};
use super::{EngineError, LOOP_WEIGHT, LaunchConfig};
use tilewright_plan::contract::{ContractError, MmaProblem, ways};
use tilewright_target::Direction;
use tilewright_tile::marks::{INSTRUCTION, PENDING, WHOLE_ROWS};
use tilewright_tile::{Attributes, Body, Function, Op};

/// Ways of a product that are weighed.
const MOST: usize = 6;
/// Programs of more products keep the ways of the least cycles.
const PRODUCTS: usize = 8;
/// Nodes around a product that may answer another way of it.
const AROUND: usize = 32;
/// Operations between a load and shared memory.
const CHAIN: usize = 6;
/// Steps that each of them may try.
const STEPS: usize = 64;

/// Improves the keys, and says in the function's products which ways they take.
pub(super) fn take(
    state: &mut State<'_, '_>,
    function: &mut Function,
    machine: &LaunchConfig<'_>,
) -> Result<(), EngineError> {
    let Some(body) = &mut function.body else { return Ok(()) };
    let graph = state.graph;
    if graph.products.len() > PRODUCTS {
        return Ok(());
    }
    let mut taken = false;
    for multiplication in &graph.products {
        if !is_open(body, multiplication) {
            continue;
        }
        let suggested = suggestions(state, machine)?;
        let Some((attributes, keys)) = best_way(state, body, multiplication, &suggested, machine)? else { continue };
        body.op_mut(multiplication.op).attributes = attributes;
        state.keys = keys;
        taken = true;
    }
    if !taken {
        return Ok(());
    }
    for multiplication in &graph.products {
        keep(state, body, multiplication, machine)?;
    }
    improve(state, machine)
}

/// Says the way of a product whose plan followed from that of another one, where it would not follow any more.
fn keep(
    state: &State<'_, '_>,
    body: &mut Body,
    of: &Multiplication,
    machine: &LaunchConfig<'_>,
) -> Result<(), EngineError> {
    if of.product.plan.problem.made == [None, None] {
        return Ok(());
    }
    let operation = body.op(of.op).name().to_owned();
    let now = product(body, of.op, machine).map_err(|source| EngineError::Product { operation, source })?;
    let is_key = |&(node, key): &(usize, LayoutId)| state.keys[node] == key;
    if !change(state, of, &now)?.is_some_and(|keys| keys.iter().all(is_key)) {
        say(&mut body.op_mut(of.op).attributes, &of.product.plan.explicit_problem());
    }
    Ok(())
}

/// Whether the program leaves the way open, and registers hold all operands.
fn is_open(body: &Body, of: &Multiplication) -> bool {
    let operation = body.op(of.op);
    let explicit = [INSTRUCTION, PENDING, WHOLE_ROWS].iter().any(|name| operation.attributes.get(name).is_some());
    let in_registers = of.product.factors.iter().all(Option::is_some) && of.product.batches.is_none();
    let unsaid = operation.operands.iter().chain(&operation.results).all(|value| body.ty(*value).layout().is_none());
    in_registers && unsaid && !explicit
}

/// The best other way of a product, if one gains: its attributes, and the keys of the program around it.
fn best_way(
    state: &State<'_, '_>,
    body: &mut Body,
    of: &Multiplication,
    suggested: &Suggested,
    machine: &LaunchConfig<'_>,
) -> Result<Option<(Attributes, Vec<LayoutId>)>, EngineError> {
    let (plan, near) = (&of.product.plan, around(state, of));
    if !converts(state, &near) && !is_narrow(state, &near, suggested) {
        return Ok(None);
    }
    let operation = body.op(of.op).name().to_owned();
    let wrong = |source| EngineError::Product { operation: operation.clone(), source };
    let weight = of.nodes.iter().flatten().map(|&node| state.graph.nodes[node].weight).fold(1.0, f64::max);
    let own = |product: &Product| weight * product.plan.own_slots(machine.context.target);
    let before = (state.total(), own(&of.product));
    let waiting = waits(state);
    let mut best = None;
    let mut least = before;
    for problem in ways(&plan.problem, plan, MOST, machine.context).map_err(wrong)? {
        let (attributes, product) = match as_asked(body, of.op, &problem, machine) {
            Err(ContractError::Impossible { .. }) => continue,
            other => other.map_err(wrong)?,
        };
        let Some(change) = change(state, of, &product)? else { continue };
        let mut tried = state.clone();
        tried.apply(&change);
        sweeps(&mut tried, &near, suggested, STEPS * near.len());
        let after = (tried.total(), own(&product));
        // What is around costs less, so that the answer stays below that of propagation.
        let as_far_ahead = waits(&tried) <= waiting;
        if as_far_ahead && after.0 < before.0 - LEAST_GAIN && after.0 + after.1 < least.0 + least.1 - LEAST_GAIN {
            least = after;
            best = Some((attributes, tried.keys));
        }
    }
    Ok(best)
}

/// A product that is told its way, and what it is told.
fn as_asked(
    body: &mut Body,
    op: Op,
    problem: &MmaProblem,
    machine: &LaunchConfig<'_>,
) -> Result<(Attributes, Product), ContractError> {
    let before = body.op(op).attributes.clone();
    say(&mut body.op_mut(op).attributes, problem);
    let made = product(body, op, machine);
    let explicit = std::mem::replace(&mut body.op_mut(op).attributes, before);
    Ok((explicit, made?))
}

/// The keys of a product's operands where it goes another way; none where that takes an operand elsewhere.
fn change(state: &State<'_, '_>, of: &Multiplication, product: &Product) -> Result<Option<Change>, EngineError> {
    let mut change = Change::new();
    for (node, layout) in of.nodes.iter().zip(product.layouts()) {
        match (node, layout) {
            (Some(node), Some(layout)) => change.push((*node, state.graph.pool.layout(layout)?)),
            (None, None) => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(change))
}

/// The nodes nearest to a product.
fn around(state: &State<'_, '_>, of: &Multiplication) -> Vec<usize> {
    let graph = state.graph;
    let mut near: BTreeSet<usize> = of.nodes.iter().flatten().copied().collect();
    let mut edge: Vec<usize> = near.iter().copied().collect();
    while !edge.is_empty() && near.len() < AROUND {
        let mut next = Vec::new();
        for node in edge {
            let own = &graph.nodes[node];
            let makers = own.ins.iter().filter_map(|end| match graph.roles[end.value.index()] {
                Role::Of(maker, _) => Some(maker),
                _ => None,
            });
            let users = own.outs.iter().flat_map(|end| &graph.users[end.value.index()]).map(|&(user, _)| user);
            next.extend(makers.chain(users).filter(|other| near.len() < AROUND && near.insert(*other)));
        }
        edge = next;
    }
    near.into_iter().collect()
}

/// Whether anything that these nodes give is converted. Where nothing is, the plan of the least cycles stays.
fn converts(state: &State<'_, '_>, nodes: &[usize]) -> bool {
    let given = nodes.iter().flat_map(|&node| &state.graph.nodes[node].outs);
    given.map(|end| end.value).any(|value| {
        let required = state.required(value);
        required.into_iter().flatten().any(|to| state.conversion(value, to) > LEAST_GAIN)
    })
}

/// Whether one of these nodes accesses memory in a layout that costs more than the one it would choose for itself.
fn is_narrow(state: &State<'_, '_>, nodes: &[usize], suggested: &Suggested) -> bool {
    nodes.iter().any(|&node| {
        let own = &state.graph.nodes[node];
        let price = |key: LayoutId| state.prices.operation(node, &own.kind, key, None);
        let mut others = suggested.get(&own.shape).into_iter().flatten();
        let is_access = matches!(own.kind, Kind::Access(_));
        is_access && others.any(|&other| price(other) + LEAST_GAIN < price(state.keys[node]))
    })
}

/// How often turns of loops wait for a load, since what it loads does not pass through shared memory, so that it cannot go ahead
/// ([`super::stages`]). That has no price of its own.
fn waits(state: &State<'_, '_>) -> f64 {
    let is_load = |kind: &Kind| matches!(kind, Kind::Access(access) if access.direction == Direction::Load);
    let in_loops = state.graph.nodes.iter().enumerate();
    let in_loops = in_loops.filter(|(_, node)| node.weight >= LOOP_WEIGHT as f64 && is_load(&node.kind));
    in_loops.filter(|&(node, _)| !passes_through_shared(state, node, CHAIN)).map(|(_, node)| node.weight).sum()
}

/// Whether what a node gives is converted through shared memory, or what so many operations make of it.
fn passes_through_shared(state: &State<'_, '_>, node: usize, most: usize) -> bool {
    let graph = state.graph;
    graph.nodes[node].outs.iter().any(|end| {
        let bits = graph.bits[end.value.index()];
        let home = state.home(end.value);
        let shared = |to: LayoutId| home.is_some_and(|home| state.prices.is_shared(home, to, bits));
        state.required(end.value).into_iter().flatten().any(shared)
            || most > 0
                && graph.users[end.value.index()].iter().any(|&(user, _)| {
                    let is_chain = matches!(graph.nodes[user].kind, Kind::Elementwise(_) | Kind::Nothing);
                    is_chain && user != node && passes_through_shared(state, user, most - 1)
                })
    })
}
