//! Propagation: anchors (operations that prefer a layout) take their preferred layouts, all other nodes follow (Linear
//! Layouts paper, section 4.4).
//!
//! Layouts propagate forward from anchors: an operation takes the layout of an operand; if the operands' layouts
//! differ, the one that costs the fewest conversions. Nodes that no anchor reaches take a layout from their users.
//! Conversions then move backward while that lowers the cost, so that producers compute in the layout after the
//! conversion.

use super::LaunchConfig;
use super::graph::{Graph, Kind, usual};
use super::interner::{Interner, LayoutId};
use super::layouts::coalesced_over_blocks;
use super::price::Prices;
use super::state::State;
use super::{AssignmentError, moves};

/// Computes the key (chosen layout) of each node: anchors take their preferred layouts, and the others follow.
pub(super) fn propagate<'s, 'a>(
    graph: &'s Graph<'a>,
    prices: &'s Prices<'a>,
    config: &LaunchConfig<'_>,
) -> Result<State<'s, 'a>, AssignmentError> {
    let mut keys = Vec::with_capacity(graph.nodes.len());
    let mut settled = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let fixed_layout = match node.fixed {
            Some(fixed) => Some(fixed),
            None => anchored(&node.kind, config, graph.interner)?,
        };
        settled.push(fixed_layout.is_some());
        keys.push(match fixed_layout {
            Some(fixed_layout) => fixed_layout,
            None => usual(&node.shape, config, graph.interner)?,
        });
    }
    let mut state = State { graph, prices, keys };
    forward(&mut state, &mut settled);
    moves::backward(&mut state);
    Ok(state)
}

/// Returns the layout that an anchor, an access of global memory, prefers; `None` for other kinds of nodes.
pub(super) fn anchored(
    kind: &Kind,
    config: &LaunchConfig<'_>,
    interner: &Interner,
) -> Result<Option<LayoutId>, AssignmentError> {
    let Kind::Access(access) = kind else { return Ok(None) };
    let layout = coalesced_over_blocks(&access.named.tensor, access.named.bits, config)?;
    Ok(Some(interner.layout(&layout)?))
}

/// Gives a key (layout) to each graph node that has none, from neighbours that have one, until no such neighbours are
/// left: first from operands only, then from users as well. `settled` is true for nodes that have their keys.
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
                // After a node has taken its key from a user, nodes that follow it through operands come first.
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

/// Makes one sweep over the nodes without keys, and gives each a key (layout) from operands whose nodes have theirs
/// (`settled`).
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

/// Returns the cheapest of the keys (layouts) for a node with which a neighbour that already has its key (`settled`)
/// needs no conversion. The neighbours are users of the node's results if `by_users`, else producers of its operands.
/// `None` if none of them has a key.
fn best(state: &mut State<'_, '_>, settled: &[bool], node: usize, by_users: bool) -> Option<LayoutId> {
    let suggested =
        if by_users { moves::from_users(state, node, settled) } else { moves::from_operands(state, node, settled) };
    let mut best: Option<(f64, LayoutId)> = None;
    for key in suggested {
        let cost = moves::of_operands(state, node, key, settled);
        if best.is_none_or(|(lowest, _)| cost < lowest) {
            best = Some((cost, key));
        }
    }
    best.map(|(_, key)| key)
}
