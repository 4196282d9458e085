//! Steps of the local search: a graph node takes another key (chosen layout), and neighbours follow so that nothing
//! between them is converted.

use std::collections::{BTreeMap, VecDeque};

use super::graph::Role;
use super::interner::LayoutId;
use super::state::{Change, State};

/// Max number of graph nodes whose keys (chosen layouts) one step changes; further nodes keep theirs.
const LARGEST: usize = 96;
/// The smallest reduction of the cost that counts as a gain, in the unit of [`super::price`].
pub(super) const MIN_GAIN: f64 = 1e-6;

/// The neighbours that follow a node which takes another key (chosen layout).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Follow {
    /// Whether the producers of the node's operands follow.
    pub before: bool,
    /// Whether the users of the node's results follow.
    pub after: bool,
    /// Whether neighbours that are anchors (operations that prefer a layout) follow too.
    pub anchors: bool,
}

/// Returns the keys (layouts) of a node with which its operands need no conversion. Considers only operands from
/// settled nodes, which already have their keys.
pub(super) fn from_operands(state: &State<'_, '_>, node: usize, settled: &[bool]) -> Vec<LayoutId> {
    let mut found = Vec::new();
    for end in &state.graph.nodes[node].ins {
        if let Role::Of(source, transfer) = state.graph.roles[end.value.index()]
            && source != node
            && settled[source]
            && let Some(layout) = state.at(source, transfer)
            && let Some(key) = state.key_for(end, layout)
            && !found.contains(&key)
        {
            found.push(key);
        }
    }
    found
}

/// Returns the keys (layouts) of a node with which its results need no conversion. Considers only users that are
/// settled, that is, already have their keys.
pub(super) fn from_users(state: &State<'_, '_>, node: usize, settled: &[bool]) -> Vec<LayoutId> {
    let mut found = Vec::new();
    for end in &state.graph.nodes[node].outs {
        for &(user, transfer) in &state.graph.users[end.value.index()] {
            if user != node
                && settled[user]
                && let Some(layout) = state.at(user, transfer)
                && let Some(key) = state.key_for(end, layout)
                && !found.contains(&key)
            {
                found.push(key);
            }
        }
    }
    found
}

/// Returns the cost in cycles, over all executions, of a graph node with the key (layout) `key`. It includes the
/// conversions of operands that come from settled nodes, which already have their keys.
pub(super) fn of_operands(state: &mut State<'_, '_>, node: usize, key: LayoutId, settled: &[bool]) -> f64 {
    let old = std::mem::replace(&mut state.keys[node], key);
    let mut cost = state.node_cost(node);
    for end in &state.graph.nodes[node].ins {
        if let Role::Of(source, _) = state.graph.roles[end.value.index()]
            && settled[source]
            && let Some(required) = state.at(node, end.transfer)
        {
            cost += state.conversion(end.value, required);
        }
    }
    state.keys[node] = old;
    cost
}

/// Returns the change that gives a graph node the key (layout) `key`. The neighbours that `follow` selects take layouts
/// that need no conversion from or to the nodes that the change already contains.
pub(super) fn step(state: &State<'_, '_>, node: usize, key: LayoutId, follow: Follow) -> Change {
    let mut taken = BTreeMap::from([(node, key)]);
    let mut open = VecDeque::from([node]);
    let may_follow = |node: usize| {
        let user_node = &state.graph.nodes[node];
        user_node.fixed.is_none() && (follow.anchors || !user_node.kind.is_anchor())
    };
    while let Some(node) = open.pop_front() {
        let key = taken[&node];
        let user_node = &state.graph.nodes[node];
        let mut others: Vec<(usize, LayoutId)> = Vec::new();
        let at = |transfer| state.graph.interner.apply(key, transfer);
        if follow.before {
            for end in &user_node.ins {
                let Role::Of(source, _) = state.graph.roles[end.value.index()] else { continue };
                let outs = &state.graph.nodes[source].outs;
                let out = outs.iter().find(|out| out.value == end.value);
                if let (Some(layout), Some(out)) = (at(end.transfer), out)
                    && let Some(key) = state.key_for(out, layout)
                {
                    others.push((source, key));
                }
            }
        }
        if follow.after {
            for end in &user_node.outs {
                let Some(layout) = at(end.transfer) else { continue };
                for &(user, transfer) in &state.graph.users[end.value.index()] {
                    let into = state.graph.nodes[user]
                        .ins
                        .iter()
                        .find(|into| into.value == end.value && into.transfer == transfer);
                    if let Some(key) = into.and_then(|into| state.key_for(into, layout)) {
                        others.push((user, key));
                    }
                }
            }
        }
        for (other, key) in others {
            if taken.len() < LARGEST && may_follow(other) && state.keys[other] != key && !taken.contains_key(&other) {
                taken.insert(other, key);
                open.push_back(other);
            }
        }
    }
    taken.into_iter().collect()
}

/// Applies the step that gives a node the key (layout) `key` if it lowers the cost; returns whether it did.
pub(super) fn attempt(state: &mut State<'_, '_>, node: usize, key: LayoutId, follow: Follow) -> bool {
    if state.keys[node] == key || state.graph.nodes[node].fixed.is_some() {
        return false;
    }
    let change = step(state, node, key, follow);
    let gains = state.is_lowered_by(&change, MIN_GAIN);
    if gains {
        state.apply(&change);
    }
    gains
}

/// Moves conversions backward: producers up to the next anchor (operation that prefers a layout) take the layouts that
/// their users require, if that lowers the cost.
pub(super) fn backward(state: &mut State<'_, '_>) {
    let follow = Follow { before: true, after: false, anchors: false };
    let everything = vec![true; state.graph.nodes.len()];
    for node in (0..state.graph.nodes.len()).rev() {
        if state.graph.nodes[node].kind.is_anchor() {
            continue;
        }
        for key in from_users(state, node, &everything) {
            attempt(state, node, key, follow);
        }
    }
}
