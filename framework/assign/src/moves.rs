//! Steps from one choice of keys to another: a node takes a key, and neighbours follow it so that nothing is converted
//! between them.

use std::collections::{BTreeMap, VecDeque};

use super::graph::Role;
use super::pool::LayoutId;
use super::state::{Change, State};

/// A step that moves more nodes than these is cut off there: the rest stays as it is.
const LARGEST: usize = 96;
/// What counts as less.
pub(super) const LEAST_GAIN: f64 = 1e-6;

/// Who follows a node that takes another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Follow {
    /// Those that make its operands.
    pub before: bool,
    /// Those that use its results.
    pub after: bool,
    /// Operations with layouts of their own choice, too.
    pub anchors: bool,
}

/// Keys that give a node its operands in the layouts that they have, of those operands whose own nodes are settled.
pub(super) fn from_operands(state: &State<'_, '_>, node: usize, settled: &[bool]) -> Vec<LayoutId> {
    let mut found = Vec::new();
    for end in &state.graph.nodes[node].ins {
        if let Role::Of(source, view) = state.graph.roles[end.value.index()]
            && source != node
            && settled[source]
            && let Some(layout) = state.at(source, view)
            && let Some(key) = state.key_for(end, layout)
            && !found.contains(&key)
        {
            found.push(key);
        }
    }
    found
}

/// Keys that give a node's results the layouts in which settled nodes want them.
pub(super) fn from_users(state: &State<'_, '_>, node: usize, settled: &[bool]) -> Vec<LayoutId> {
    let mut found = Vec::new();
    for end in &state.graph.nodes[node].outs {
        for &(user, view) in &state.graph.users[end.value.index()] {
            if user != node
                && settled[user]
                && let Some(layout) = state.at(user, view)
                && let Some(key) = state.key_for(end, layout)
                && !found.contains(&key)
            {
                found.push(key);
            }
        }
    }
    found
}

/// What a node costs with a key, with the conversions of its operands that are settled.
pub(super) fn of_operands(state: &mut State<'_, '_>, node: usize, key: LayoutId, settled: &[bool]) -> f64 {
    let old = std::mem::replace(&mut state.keys[node], key);
    let mut cost = state.of_node(node);
    for end in &state.graph.nodes[node].ins {
        if let Role::Of(source, _) = state.graph.roles[end.value.index()]
            && settled[source]
            && let Some(required) = state.at(node, end.view)
        {
            cost += state.conversion(end.value, required);
        }
    }
    state.keys[node] = old;
    cost
}

/// The change in which a node takes a key and others follow, as far as nothing between them is converted that was not.
pub(super) fn step(state: &State<'_, '_>, node: usize, key: LayoutId, follow: Follow) -> Change {
    let mut taken = BTreeMap::from([(node, key)]);
    let mut open = VecDeque::from([node]);
    let may_follow = |node: usize| {
        let own = &state.graph.nodes[node];
        own.fixed.is_none() && (follow.anchors || !own.kind.is_anchor())
    };
    while let Some(node) = open.pop_front() {
        let key = taken[&node];
        let own = &state.graph.nodes[node];
        let mut others: Vec<(usize, LayoutId)> = Vec::new();
        let at = |view| state.graph.pool.seen(key, view);
        if follow.before {
            for end in &own.ins {
                let Role::Of(source, _) = state.graph.roles[end.value.index()] else { continue };
                let outs = &state.graph.nodes[source].outs;
                let out = outs.iter().find(|out| out.value == end.value);
                if let (Some(layout), Some(out)) = (at(end.view), out)
                    && let Some(key) = state.key_for(out, layout)
                {
                    others.push((source, key));
                }
            }
        }
        if follow.after {
            for end in &own.outs {
                let Some(layout) = at(end.view) else { continue };
                for &(user, view) in &state.graph.users[end.value.index()] {
                    let into =
                        state.graph.nodes[user].ins.iter().find(|into| into.value == end.value && into.view == view);
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

/// Makes the step if it gains something.
pub(super) fn attempt(state: &mut State<'_, '_>, node: usize, key: LayoutId, follow: Follow) -> bool {
    if state.keys[node] == key || state.graph.nodes[node].fixed.is_some() {
        return false;
    }
    let change = step(state, node, key, follow);
    let gains = state.difference(&change) < -LEAST_GAIN;
    if gains {
        state.apply(&change);
    }
    gains
}

/// Moves conversions backward: what makes a value takes the layout in which the value is wanted, and so does what is
/// before it, up to anchors.
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
