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

    /// Returns the costs, in cycles for each warp, of providing a value in each layout that is required of it, by
    /// conversion or rematerialization.
    fn value_costs(&self, value: Value) -> impl Iterator<Item = f64> {
        let weight = self.graph.weights[value.index()];
        let role = self.graph.roles[value.index()];
        let is_impossible = matches!(role, Role::Of(..)) && self.assigned_layout(value).is_none();
        let price = move |required: Option<LayoutId>| match (role, required) {
            (Role::Scalar, _) => 0.0,
            (_, None) => IMPOSSIBLE,
            (Role::Free(cone), Some(layout)) if weight >= LOOP_WEIGHT as f64 => {
                weight * self.prices.in_iterations(cone, layout)
            }
            (Role::Free(_), Some(layout)) => weight * self.prices.remat_price(&self.graph.remats, value, layout),
            (Role::Of(..), Some(layout)) => self.conversion(value, layout),
        };
        let required = if is_impossible { vec![None] } else { self.required(value) };
        required.into_iter().map(price)
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

    /// Returns the total cost of all nodes and values, in cycles for each warp. Stops at the first sum that is not below
    /// `limit`, and returns it: plans that do not matter are not computed.
    pub(super) fn total(&self, limit: f64) -> f64 {
        let nodes: Vec<usize> = (0..self.graph.nodes.len()).collect();
        self.cost(&nodes, &self.values_of(&nodes), limit)
    }

    /// Returns the values that appear in nodes, as results or operands, each once.
    fn values_of(&self, nodes: &[usize]) -> BTreeSet<Value> {
        let ends = nodes.iter().map(|&node| &self.graph.nodes[node]).flat_map(|node| node.outs.iter().chain(&node.ins));
        ends.map(|end| end.value).collect()
    }

    /// Returns the cost of these nodes and values, in cycles for each warp, or the first sum that is not below `limit`.
    fn cost(&self, nodes: &[usize], values: &BTreeSet<Value>, limit: f64) -> f64 {
        let of_nodes = nodes.iter().map(|&node| self.node_cost(node));
        let mut total = 0.0;
        for cost in of_nodes.chain(values.iter().flat_map(|&value| self.value_costs(value))) {
            total += cost;
            // No cost is negative.
            if total >= limit {
                break;
            }
        }
        total
    }

    /// Whether `change` lowers the total cost by more than `gain` cycles for each warp. The state stays as it is.
    pub(super) fn is_lowered_by(&mut self, change: &[(usize, LayoutId)], gain: f64) -> bool {
        let changed: Vec<usize> = change.iter().map(|&(node, _)| node).collect();
        let results = changed.iter().flat_map(|&node| &self.graph.nodes[node].outs);
        let watchers = results.flat_map(|end| &self.graph.watchers[end.value.index()]);
        let nodes: BTreeSet<usize> = changed.iter().chain(watchers).copied().collect();
        let (nodes, values): (Vec<usize>, _) = (nodes.into_iter().collect(), self.values_of(&changed));
        let limit = self.cost(&nodes, &values, f64::INFINITY) - gain;
        let old = self.apply(change);
        let after = self.cost(&nodes, &values, limit);
        self.apply(&old);
        after < limit
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
