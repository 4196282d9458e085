//! Propagation: anchors have the layouts that are best for them, and all others follow (seed 000, section 4.4).
//!
//! Layouts go forward from anchors: an operation works in the layout that its operands have; where they differ, in the one
//! for which the others cost the least to convert. What nothing reaches gets its layout from what uses it. Then
//! conversions are moved backward as long as that costs less: an operation before a conversion works in the layout after it.

use super::LaunchConfig;
use super::graph::{Graph, Kind, usual};
use super::pool::{LayoutId, Pool};
use super::price::Prices;
use super::state::State;
use super::{EngineError, moves};
use tilewright_plan::movement::coalesced_layout;

/// The keys that follow from anchors.
pub(super) fn propagate<'s, 'a>(
    graph: &'s Graph<'a>,
    prices: &'s Prices<'a>,
    machine: &LaunchConfig<'_>,
) -> Result<State<'s, 'a>, EngineError> {
    let mut keys = Vec::with_capacity(graph.nodes.len());
    let mut settled = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let own = match node.fixed {
            Some(fixed) => Some(fixed),
            None => anchored(&node.kind, machine, graph.pool)?,
        };
        settled.push(own.is_some());
        keys.push(match own {
            Some(own) => own,
            None => usual(&node.shape, machine, graph.pool)?,
        });
    }
    let mut state = State { graph, prices, keys };
    forward(&mut state, &mut settled);
    moves::backward(&mut state);
    Ok(state)
}

/// The layout that an operation would choose for itself.
pub(super) fn anchored(kind: &Kind, machine: &LaunchConfig<'_>, pool: &Pool) -> Result<Option<LayoutId>, EngineError> {
    let Kind::Access(access) = kind else { return Ok(None) };
    let (lanes, warps) = (u64::from(machine.lanes), u64::from(machine.warps));
    let layout = coalesced_layout(&access.named.tensor, access.named.bits, lanes, warps, machine.context.target)?;
    Ok(Some(pool.layout(&layout)?))
}

/// Settles nodes from those that are, until there is no more to follow; first from operands alone.
fn forward(state: &mut State<'_, '_>, settled: &mut [bool]) {
    for by_users in [false, true, true] {
        let mut changed = true;
        while changed {
            changed = false;
            for node in 0..settled.len() {
                if settled[node] {
                    continue;
                }
                let Some(key) = best(state, settled, node, by_users) else { continue };
                state.keys[node] = key;
                settled[node] = true;
                changed = true;
                // Once somebody has guessed from its users, what follows from that comes first.
                if by_users {
                    break;
                }
            }
            if by_users && changed {
                follow(state, settled);
            }
        }
    }
}

/// One sweep over all that follows from operands.
fn follow(state: &mut State<'_, '_>, settled: &mut [bool]) {
    for node in 0..settled.len() {
        if !settled[node]
            && let Some(key) = best(state, settled, node, false)
        {
            state.keys[node] = key;
            settled[node] = true;
        }
    }
}

/// Of the keys that settled neighbours suggest the one that costs the least around the node.
fn best(state: &mut State<'_, '_>, settled: &[bool], node: usize, by_users: bool) -> Option<LayoutId> {
    let suggested =
        if by_users { moves::from_users(state, node, settled) } else { moves::from_operands(state, node, settled) };
    let mut best: Option<(f64, LayoutId)> = None;
    for key in suggested {
        let cost = moves::of_operands(state, node, key, settled);
        if best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, key));
        }
    }
    best.map(|(_, key)| key)
}
