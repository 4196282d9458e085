//! The keys of all nodes of the layout graph (one chosen layout for each node), and their cost.

use std::collections::BTreeSet;

use super::LOOP_WEIGHT;
use super::graph::{Graph, Kind, Port, Role};
use super::interner::{LayoutId, TransferId};
use super::price::{IMPOSSIBLE, Prices};
use tilewright_tile::Value;

/// A state of the search: the layout graph, with the key (chosen layout) of each node.
#[derive(Clone)]
pub(super) struct State<'s, 'a> {
    pub(super) graph: &'s Graph<'a>,
    pub(super) prices: &'s Prices<'a>,
    pub(super) keys: Vec<LayoutId>,
}

/// A change of a state: node indices, each with its new key (chosen layout).
pub(super) type Change = Vec<(usize, LayoutId)>;

impl State<'_, '_> {
    /// Returns the layout that follows from a node's key by the layout transfer `transfer`; `None` if the transfer does
    /// not apply.
    pub(super) fn at(&self, node: usize, transfer: TransferId) -> Option<LayoutId> {
        self.graph.interner.apply(self.keys[node], transfer)
    }

    /// Returns the layout that a value has; `None` if no node determines it.
    pub(super) fn assigned_layout(&self, value: Value) -> Option<LayoutId> {
        match self.graph.roles[value.index()] {
            Role::Of(node, transfer) => self.at(node, transfer),
            Role::Scalar | Role::Free(_) => None,
        }
    }

    /// Returns the distinct layouts that nodes require of a value; an entry is `None` if a layout transfer does not
    /// apply.
    pub(super) fn required(&self, value: Value) -> Vec<Option<LayoutId>> {
        let mut required: Vec<Option<LayoutId>> = Vec::new();
        for &(node, transfer) in &self.graph.users[value.index()] {
            let layout = self.at(node, transfer);
            if !required.contains(&layout) {
                required.push(layout);
            }
        }
        required
    }

    /// Returns the cost of converting a value to the layout `to`, over all executions of the value's definition, in
    /// cycles for each warp; zero if no node determines the value's layout.
    pub(super) fn conversion(&self, value: Value, to: LayoutId) -> f64 {
        let Some(assigned) = self.assigned_layout(value) else { return 0.0 };
        let (bits, is_loaded) = (self.graph.bits[value.index()], self.graph.is_loaded[value.index()]);
        let price = self.prefetch(value, assigned, to);
        let price = price.unwrap_or_else(|| self.prices.conversion(assigned, to, bits, is_loaded));
        self.graph.weights[value.index()] * price
    }

    /// Returns the cost of reading a value, whose assigned layout is `assigned`, in the layout `to` from a buffer that
    /// asynchronous copies fill for a later iteration of a loop. `None` if no loop prefetches the value by copies.
    fn prefetch(&self, value: Value, assigned: LayoutId, to: LayoutId) -> Option<f64> {
        let Role::Of(node, _) = self.graph.roles[value.index()] else { return None };
        let Kind::Access(access) = &self.graph.nodes[node].kind else { return None };
        self.graph.reaches_dot[value.index()].then(|| self.prices.prefetch(node, access, assigned, to))?
    }

    /// Returns the cost, in cycles for each warp, of providing a value in all layouts that are required of it, by
    /// conversion or rematerialization.
    fn value_cost(&self, value: Value) -> f64 {
        let weight = self.graph.weights[value.index()];
        let role = self.graph.roles[value.index()];
        if let Role::Of(..) = role
            && self.assigned_layout(value).is_none()
        {
            return IMPOSSIBLE;
        }
        let price = |required: Option<LayoutId>| match (role, required) {
            (Role::Scalar, _) => 0.0,
            (_, None) => IMPOSSIBLE,
            (Role::Free(cone), Some(layout)) if weight >= LOOP_WEIGHT as f64 => {
                weight * self.prices.in_iterations(cone, layout)
            }
            (Role::Free(_), Some(layout)) => weight * self.prices.remat_price(&self.graph.remats, value, layout),
            (Role::Of(..), Some(layout)) => self.conversion(value, layout),
        };
        self.required(value).into_iter().map(price).sum()
    }

    /// Returns the cost of a node's operation over all its executions, in cycles for each warp.
    pub(super) fn node_cost(&self, node: usize) -> f64 {
        let node_state = &self.graph.nodes[node];
        let source = match node_state.kind {
            Kind::Gather(_, _, source) => self.assigned_layout(source),
            _ => None,
        };
        node_state.weight * self.prices.operation(node, &node_state.kind, self.keys[node], source)
    }

    /// Returns the total cost of all nodes and values, in cycles for each warp.
    pub(super) fn total(&self) -> f64 {
        let nodes: f64 = (0..self.graph.nodes.len()).map(|node| self.node_cost(node)).sum();
        nodes + self.values().map(|value| self.value_cost(value)).sum::<f64>()
    }

    /// Iterates over the values that appear in nodes, as results or operands, each once.
    fn values(&self) -> impl Iterator<Item = Value> {
        let ends = self.graph.nodes.iter().flat_map(|node| node.outs.iter().chain(&node.ins));
        ends.map(|end| end.value).collect::<BTreeSet<_>>().into_iter()
    }

    /// Returns the change of the total cost, in cycles for each warp, that `change` would cause; negative if the cost
    /// falls. The state stays as it is.
    pub(super) fn difference(&mut self, change: &[(usize, LayoutId)]) -> f64 {
        let (mut nodes, mut values) = (BTreeSet::new(), BTreeSet::new());
        for &(node, _) in change {
            nodes.insert(node);
            let node_state = &self.graph.nodes[node];
            values.extend(node_state.outs.iter().chain(&node_state.ins).map(|end| end.value));
            nodes.extend(node_state.outs.iter().flat_map(|end| &self.graph.watchers[end.value.index()]));
        }
        let cost = |state: &Self| -> f64 {
            let of_nodes: f64 = nodes.iter().map(|&node| state.node_cost(node)).sum();
            of_nodes + values.iter().map(|&value| state.value_cost(value)).sum::<f64>()
        };
        let before = cost(self);
        let old = self.apply(change);
        let after = cost(self);
        self.apply(&old);
        after - before
    }

    /// Applies a change; returns the change that reverts it.
    pub(super) fn apply(&mut self, change: &[(usize, LayoutId)]) -> Change {
        change.iter().map(|&(node, key)| (node, std::mem::replace(&mut self.keys[node], key))).collect()
    }

    /// Returns the key with which the value of a port has the layout `layout`, up to the order of registers. `None` if
    /// no key gives this layout.
    pub(super) fn key_for(&self, end: &Port, layout: LayoutId) -> Option<LayoutId> {
        self.graph.interner.apply(layout, end.back?)
    }
}
