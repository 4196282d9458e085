//! Local search: improves the layouts that propagation finds until no step lowers the cost.
//!
//! A step assigns a graph node a key (its layout) that removes an adjacent conversion, or that another access of the
//! same shape prefers. Neighbouring nodes follow in one or both directions, with or without anchors (operations that
//! prefer a layout). If few nodes have alternatives, all combinations of keys are compared instead. Steps run in
//! program order and their number is bounded, so the result is deterministic. No step raises the cost, so the result
//! costs at most as much as propagation's.

use std::collections::BTreeMap;

use super::AssignmentError;
use super::LaunchConfig;
use super::graph::Kind;
use super::interner::{Interner, LayoutId};
use super::lane_swaps::swap_vector_end_into_lanes;
use super::moves::{Follow, MIN_GAIN, attempt, backward, from_operands, from_users, step};
use super::propagate::anchored;
use super::state::State;

/// Max number of sweeps of the local search; a sweep tries steps at all graph nodes once.
const SWEEPS: usize = 8;
/// Max number of local-search steps for each graph node, on average: the search stops after this number times the
/// number of nodes, plus [`FEW`] steps.
const STEPS: usize = 200;
/// Max number of suggested layouts for tensors of one shape.
const SUGGESTIONS: usize = 6;
/// Max number of combinations of keys (one chosen layout for each node) that are compared exhaustively; if there are
/// more, the result of the sweeps is taken.
const FEW: usize = 4096;

/// The choices of neighbours that follow a node, in the order of the search: those that change few nodes first.
const FOLLOW_CHOICES: [Follow; 7] = [
    ALONE,
    Follow { before: true, after: false, anchors: false },
    Follow { before: false, after: true, anchors: false },
    Follow { before: true, after: true, anchors: false },
    Follow { before: true, after: false, anchors: true },
    Follow { before: false, after: true, anchors: true },
    EVERYWHERE,
];

/// No other node takes the layout of the changed one.
const ALONE: Follow = Follow { before: false, after: false, anchors: false };

/// All connected nodes take the layout of the changed one, anchors too.
const EVERYWHERE: Follow = Follow { before: true, after: true, anchors: true };

/// Candidate layouts, by the shape of the tensor whose layout is chosen.
pub(super) type Suggested = BTreeMap<Vec<u64>, Vec<LayoutId>>;

/// Lowers the cost by changing the keys (chosen layouts) of nodes, until no further change lowers it.
pub(super) fn improve(state: &mut State<'_, '_>, config: &LaunchConfig<'_>) -> Result<(), AssignmentError> {
    let suggested = suggestions(state, config)?;
    descend(state, &suggested);
    for (long, shorter) in lane_swaps(&suggested, state.graph.interner, config)? {
        let mut tried = state.clone();
        take_lane_swaps(&mut tried, long, &shorter);
        let limit = state.total(f64::INFINITY) - MIN_GAIN;
        if tried.total(limit) < limit {
            descend(&mut tried, &suggested);
            state.keys = tried.keys;
        }
    }
    Ok(())
}

/// Lowers the cost by steps, and then by combinations of keys (chosen layouts) if few nodes have alternatives.
fn descend(state: &mut State<'_, '_>, suggested: &Suggested) {
    let nodes: Vec<usize> = (0..state.graph.nodes.len()).collect();
    if sweeps(state, &nodes, suggested, STEPS * nodes.len() + FEW) {
        compare_all(state, suggested);
    }
}

/// A layout, and the layouts with shorter vectors to which lane shuffles convert from it.
type LaneSwaps = Vec<(LayoutId, Vec<LayoutId>)>;

/// Returns the suggested layouts with the longest vectors, each with the layouts for accesses that prefer shorter ones.
fn lane_swaps(
    suggested: &Suggested,
    interner: &Interner,
    config: &LaunchConfig<'_>,
) -> Result<LaneSwaps, AssignmentError> {
    let mut found = LaneSwaps::new();
    for known in suggested.values() {
        let layouts: Vec<_> = known.iter().map(|&id| interner.get(id)).collect();
        for (&id, long) in known.iter().zip(&layouts) {
            let swapped =
                layouts.iter().filter_map(|short| swap_vector_end_into_lanes(long, short, config.context.target));
            let shorter = swapped.map(|layout| interner.layout(&layout)).collect::<Result<Vec<_>, _>>()?;
            if !shorter.is_empty() {
                found.push((id, shorter));
            }
        }
    }
    Ok(found)
}

/// Gives all accesses of one shape the layout `long`, then one of the layouts `shorter` to those that cost less with it,
/// and converts as early as that lowers the cost. No sequence of steps that each lower the cost leads there from one
/// layout for all accesses.
fn take_lane_swaps(state: &mut State<'_, '_>, long: LayoutId, shorter: &[LayoutId]) {
    let everything = vec![true; state.graph.nodes.len()];
    let shape = state.graph.interner.get(long).outs().clone();
    let is_open = |&node: &usize| {
        let current = &state.graph.nodes[node];
        let is_access = matches!(current.kind, Kind::Access(_)) && current.fixed.is_none();
        is_access && *state.graph.interner.get(state.keys[node]).outs() == shape
    };
    let accesses: Vec<usize> = (0..everything.len()).filter(is_open).collect();
    for &node in &accesses {
        let change = step(state, node, long, EVERYWHERE);
        state.apply(&change);
    }
    for (&node, &key) in accesses.iter().flat_map(|node| shorter.iter().map(move |key| (node, key))) {
        attempt(state, node, key, ALONE);
    }
    for node in (0..everything.len()).rev().filter(|&node| !state.graph.nodes[node].kind.is_anchor()) {
        for key in from_users(state, node, &everything) {
            attempt(state, node, key, ALONE);
        }
    }
    backward(state);
}

/// Tries steps at these nodes, in program order and in reverse order by turns, until no step lowers the cost or `steps`
/// steps are tried. Returns false if it stopped because `steps` were tried.
pub(super) fn sweeps(state: &mut State<'_, '_>, nodes: &[usize], suggested: &Suggested, mut steps: usize) -> bool {
    let everything = vec![true; state.graph.nodes.len()];
    for sweep in 0..SWEEPS {
        let mut gained = false;
        for index in 0..nodes.len() {
            let node = nodes[if sweep % 2 == 0 { index } else { nodes.len() - 1 - index }];
            if state.graph.nodes[node].fixed.is_some() {
                continue;
            }
            for key in keys_for(state, node, suggested, &everything) {
                for follow in FOLLOW_CHOICES {
                    if steps == 0 {
                        return false;
                    }
                    steps -= 1;
                    gained |= attempt(state, node, key, follow);
                }
            }
        }
        if !gained {
            break;
        }
    }
    true
}

/// Returns the keys (layouts) that the search tries for a node: layouts that remove a conversion next to it and, for an
/// anchor (an operation that prefers a layout), the layouts `suggested` for its shape. `everything` has `true` for each
/// node, because all nodes have keys already.
fn keys_for(state: &State<'_, '_>, node: usize, suggested: &Suggested, everything: &[bool]) -> Vec<LayoutId> {
    let mut keys = from_operands(state, node, everything);
    keys.extend(from_users(state, node, everything));
    let current = &state.graph.nodes[node];
    if current.kind.is_anchor() {
        keys.extend(suggested.get(&current.shape).into_iter().flatten());
    }
    let mut different: Vec<LayoutId> = Vec::new();
    for key in keys {
        if key != state.keys[node] && !different.contains(&key) {
            different.push(key);
        }
    }
    different
}

/// Returns, for each shape of a tensor, the layouts that memory accesses of this shape prefer.
pub(super) fn suggestions(state: &State<'_, '_>, config: &LaunchConfig<'_>) -> Result<Suggested, AssignmentError> {
    let mut found = Suggested::new();
    let mut seen = Vec::new();
    for node in &state.graph.nodes {
        if !node.kind.is_anchor() || seen.contains(&&node.kind) {
            continue;
        }
        if seen.len() < FEW {
            seen.push(&node.kind);
        }
        let current = match node.fixed {
            Some(fixed) => Some(fixed),
            None => anchored(&node.kind, config, state.graph.interner)?,
        };
        let known = found.entry(node.shape.clone()).or_default();
        if let Some(current) = current
            && known.len() < SUGGESTIONS
            && !known.contains(&current)
        {
            known.push(current);
        }
    }
    Ok(found)
}

/// Compares all combinations of keys (chosen layouts) if there are at most [`FEW`], and takes the cheapest.
fn compare_all(state: &mut State<'_, '_>, suggested: &Suggested) {
    let everything = vec![true; state.graph.nodes.len()];
    let mut open: Vec<(usize, Vec<LayoutId>)> = Vec::new();
    let mut choices = 1usize;
    for (node, current) in state.graph.nodes.iter().enumerate() {
        if current.fixed.is_some() {
            continue;
        }
        let mut keys = vec![state.keys[node]];
        keys.extend(keys_for(state, node, suggested, &everything));
        for key in suggested.get(&current.shape).into_iter().flatten() {
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
    let mut best = (state.total(f64::INFINITY), state.keys.clone());
    for choice in 0..choices {
        let mut rest = choice;
        for (node, keys) in &open {
            state.keys[*node] = keys[rest % keys.len()];
            rest /= keys.len();
        }
        let limit = best.0 - 1e-6;
        let total = state.total(limit);
        if total < limit {
            best = (total, state.keys.clone());
        }
    }
    state.keys = best.1;
}
