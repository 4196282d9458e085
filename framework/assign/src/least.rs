//! Least cost: from the answer of propagation, step by step to one that costs less, until no step gains anything.
//!
//! A step gives one node a key that does away with a conversion beside it, or that another access of a tensor of this
//! shape has, and lets neighbours follow, in one direction or in both, with anchors or without. Where only few nodes may choose,
//! all choices are weighed instead. The order of steps is that of the program, and their number is bounded, so that an
//! answer is found again; no step is made that costs more, so that the answer costs no more than that of propagation.

use std::collections::BTreeMap;

use super::EngineError;
use super::LaunchConfig;
use super::moves::{Follow, attempt, from_operands, from_users};
use super::pool::LayoutId;
use super::propagate::anchored;
use super::state::State;

/// Sweeps over the program at most.
const SWEEPS: usize = 8;
/// Steps that are weighed for each node, at most on the average.
const STEPS: usize = 200;
/// Layouts of one shape that accesses suggest to each other.
const SUGGESTIONS: usize = 6;
/// So many choices are weighed one by one.
const FEW: usize = 4096;

/// All ways to follow, from the smallest step on.
const WAYS: [Follow; 7] = [
    Follow { before: false, after: false, anchors: false },
    Follow { before: true, after: false, anchors: false },
    Follow { before: false, after: true, anchors: false },
    Follow { before: true, after: true, anchors: false },
    Follow { before: true, after: false, anchors: true },
    Follow { before: false, after: true, anchors: true },
    Follow { before: true, after: true, anchors: true },
];

/// For each shape layouts that are worth a look.
pub(super) type Suggested = BTreeMap<Vec<u64>, Vec<LayoutId>>;

/// Improves the keys.
pub(super) fn improve(state: &mut State<'_, '_>, machine: &LaunchConfig<'_>) -> Result<(), EngineError> {
    let suggested = suggestions(state, machine)?;
    let nodes: Vec<usize> = (0..state.graph.nodes.len()).collect();
    if sweeps(state, &nodes, &suggested, STEPS * nodes.len() + FEW) {
        all_of_few(state, &suggested);
    }
    Ok(())
}

/// Steps of some nodes, there and back, until none gains or there have been so many; whether they came to an end.
pub(super) fn sweeps(state: &mut State<'_, '_>, nodes: &[usize], suggested: &Suggested, mut steps: usize) -> bool {
    let everything = vec![true; state.graph.nodes.len()];
    for sweep in 0..SWEEPS {
        let mut gained = false;
        for place in 0..nodes.len() {
            let node = nodes[if sweep % 2 == 0 { place } else { nodes.len() - 1 - place }];
            if state.graph.nodes[node].fixed.is_some() {
                continue;
            }
            for key in keys_for(state, node, suggested, &everything) {
                for way in WAYS {
                    if steps == 0 {
                        return false;
                    }
                    steps -= 1;
                    gained |= attempt(state, node, key, way);
                }
            }
        }
        if !gained {
            break;
        }
    }
    true
}

/// The keys that are worth a look for a node.
fn keys_for(state: &State<'_, '_>, node: usize, suggested: &Suggested, everything: &[bool]) -> Vec<LayoutId> {
    let mut keys = from_operands(state, node, everything);
    keys.extend(from_users(state, node, everything));
    let own = &state.graph.nodes[node];
    if own.kind.is_anchor() {
        keys.extend(suggested.get(&own.shape).into_iter().flatten());
    }
    let mut different: Vec<LayoutId> = Vec::new();
    for key in keys {
        if key != state.keys[node] && !different.contains(&key) {
            different.push(key);
        }
    }
    different
}

/// For each shape the layouts that accesses of such tensors would choose for themselves.
pub(super) fn suggestions(state: &State<'_, '_>, machine: &LaunchConfig<'_>) -> Result<Suggested, EngineError> {
    let mut found = Suggested::new();
    let mut seen = Vec::new();
    for node in &state.graph.nodes {
        if !node.kind.is_anchor() || seen.contains(&&node.kind) {
            continue;
        }
        if seen.len() < FEW {
            seen.push(&node.kind);
        }
        let own = match node.fixed {
            Some(fixed) => Some(fixed),
            None => anchored(&node.kind, machine, state.graph.pool)?,
        };
        let known = found.entry(node.shape.clone()).or_default();
        if let Some(own) = own
            && known.len() < SUGGESTIONS
            && !known.contains(&own)
        {
            known.push(own);
        }
    }
    Ok(found)
}

/// Weighs all choices of keys, where they are few.
fn all_of_few(state: &mut State<'_, '_>, suggested: &Suggested) {
    let everything = vec![true; state.graph.nodes.len()];
    let mut open: Vec<(usize, Vec<LayoutId>)> = Vec::new();
    let mut choices = 1usize;
    for (node, own) in state.graph.nodes.iter().enumerate() {
        if own.fixed.is_some() {
            continue;
        }
        let mut keys = vec![state.keys[node]];
        keys.extend(keys_for(state, node, suggested, &everything));
        for key in suggested.get(&own.shape).into_iter().flatten() {
            if !keys.contains(key) {
                keys.push(*key);
            }
        }
        choices = choices.saturating_mul(keys.len());
        if choices > FEW {
            return;
        }
        open.push((node, keys));
    }
    let mut best = (state.total(), state.keys.clone());
    for choice in 0..choices {
        let mut rest = choice;
        for (node, keys) in &open {
            state.keys[*node] = keys[rest % keys.len()];
            rest /= keys.len();
        }
        let total = state.total();
        if total < best.0 - 1e-6 {
            best = (total, state.keys.clone());
        }
    }
    state.keys = best.1;
}
