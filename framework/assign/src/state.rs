//! A choice of keys for all nodes, and what it costs.

use std::collections::BTreeSet;

use super::LOOP_WEIGHT;
use super::graph::{End, Graph, Kind, Role};
use super::pool::{LayoutId, ViewId};
use super::price::{IMPOSSIBLE, Prices};
use tilewright_tile::Value;

/// Keys for all nodes.
#[derive(Clone)]
pub(super) struct State<'s, 'a> {
    pub(super) graph: &'s Graph<'a>,
    pub(super) prices: &'s Prices<'a>,
    pub(super) keys: Vec<LayoutId>,
}

/// Some nodes with new keys.
pub(super) type Change = Vec<(usize, LayoutId)>;

impl State<'_, '_> {
    /// The layout in which a node wants something, or gives it.
    pub(super) fn at(&self, node: usize, view: ViewId) -> Option<LayoutId> {
        self.graph.pool.seen(self.keys[node], view)
    }

    /// The layout that a value has; nothing where it has none of its own.
    pub(super) fn home(&self, value: Value) -> Option<LayoutId> {
        match self.graph.roles[value.index()] {
            Role::Of(node, view) => self.at(node, view),
            Role::Scalar | Role::Free(_) => None,
        }
    }

    /// The layouts in which nodes want a value, each once; `None` for what is no layout.
    pub(super) fn required(&self, value: Value) -> Vec<Option<LayoutId>> {
        let mut required: Vec<Option<LayoutId>> = Vec::new();
        for &(node, view) in &self.graph.users[value.index()] {
            let layout = self.at(node, view);
            if !required.contains(&layout) {
                required.push(layout);
            }
        }
        required
    }

    /// What one conversion of a value costs, each time that the value is made.
    pub(super) fn conversion(&self, value: Value, to: LayoutId) -> f64 {
        let Some(home) = self.home(value) else { return 0.0 };
        let (bits, is_loaded) = (self.graph.bits[value.index()], self.graph.is_loaded[value.index()]);
        self.graph.weights[value.index()] * self.prices.conversion(home, to, bits, is_loaded)
    }

    /// What it costs to have a value in all layouts in which it is wanted.
    fn of_value(&self, value: Value) -> f64 {
        let weight = self.graph.weights[value.index()];
        let role = self.graph.roles[value.index()];
        if let Role::Of(..) = role
            && self.home(value).is_none()
        {
            return IMPOSSIBLE;
        }
        let price = |required: Option<LayoutId>| match (role, required) {
            (Role::Scalar, _) => 0.0,
            (_, None) => IMPOSSIBLE,
            (Role::Free(cone), Some(layout)) if weight >= LOOP_WEIGHT as f64 => {
                weight * self.prices.in_iterations(cone, layout)
            }
            (Role::Free(_), Some(layout)) => weight * self.prices.again(&self.graph.again, value, layout),
            (Role::Of(..), Some(layout)) => self.conversion(value, layout),
        };
        self.required(value).into_iter().map(price).sum()
    }

    /// What a node costs by itself.
    pub(super) fn of_node(&self, node: usize) -> f64 {
        let own = &self.graph.nodes[node];
        let source = match own.kind {
            Kind::Gather(_, _, source) => self.home(source),
            _ => None,
        };
        own.weight * self.prices.operation(node, &own.kind, self.keys[node], source)
    }

    /// All that the layouts cost.
    pub(super) fn total(&self) -> f64 {
        let nodes: f64 = (0..self.graph.nodes.len()).map(|node| self.of_node(node)).sum();
        nodes + self.values().map(|value| self.of_value(value)).sum::<f64>()
    }

    /// All values that nodes want or give, each once.
    fn values(&self) -> impl Iterator<Item = Value> {
        let ends = self.graph.nodes.iter().flat_map(|node| node.outs.iter().chain(&node.ins));
        ends.map(|end| end.value).collect::<BTreeSet<_>>().into_iter()
    }

    /// How much more everything costs after a change, which is undone.
    pub(super) fn difference(&mut self, change: &[(usize, LayoutId)]) -> f64 {
        let (mut nodes, mut values) = (BTreeSet::new(), BTreeSet::new());
        for &(node, _) in change {
            nodes.insert(node);
            let own = &self.graph.nodes[node];
            values.extend(own.outs.iter().chain(&own.ins).map(|end| end.value));
            nodes.extend(own.outs.iter().flat_map(|end| &self.graph.watchers[end.value.index()]));
        }
        let cost = |state: &Self| -> f64 {
            let of_nodes: f64 = nodes.iter().map(|&node| state.of_node(node)).sum();
            of_nodes + values.iter().map(|&value| state.of_value(value)).sum::<f64>()
        };
        let before = cost(self);
        let old = self.apply(change);
        let after = cost(self);
        self.apply(&old);
        after - before
    }

    /// Makes a change; the result undoes it.
    pub(super) fn apply(&mut self, change: &[(usize, LayoutId)]) -> Change {
        change.iter().map(|&(node, key)| (node, std::mem::replace(&mut self.keys[node], key))).collect()
    }

    /// The key that gives an end a layout, or one that differs from it in the order of registers.
    pub(super) fn key_for(&self, end: &End, layout: LayoutId) -> Option<LayoutId> {
        self.graph.pool.seen(layout, end.back?)
    }
}
