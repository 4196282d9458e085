//! What layouts cost, in wavefront slots of a warp: the exact costs of the movement plans.
//!
//! A slot is the time of one wavefront of shared memory, or of one exchange ([`crate::movement::slots`]). Four plain
//! operations of a warp are issued in that time.

use std::cell::RefCell;
use std::collections::HashMap;

use super::Machine;
use super::effort::{Effort, registers};
use super::graph::{Graph, ISSUE, Kind};
use super::pool::{LayoutId, Pool};
use crate::layout::{Dim, LinearLayout};
use crate::movement::{MovementError, Path, convert, gather, slots_with_accesses};

/// What an access of shared memory counts beside its wavefronts: its issue and its address.
const ACCESS_SLOTS: f64 = 2.0;
/// What a conversion counts beside what it issues: the latency that the warp waits for, which nothing hides.
const CONVERSION_SLOTS: f64 = 12.0;
/// Bytes of global memory that reach a warp in a slot.
const BYTES_IN_A_SLOT: f64 = 128.0;
/// What cannot be done: more than everything that can.
pub(super) const IMPOSSIBLE: f64 = 1e15;

/// What a conversion costs, and whether it passes through shared memory.
#[derive(Clone, Copy)]
struct Converted {
    slots: f64,
    shared: bool,
}

/// Costs, each found once.
pub(super) struct Prices<'a> {
    machine: &'a Machine<'a>,
    pool: &'a Pool,
    /// By node: equal kinds have one number.
    kinds: Vec<usize>,
    conversions: RefCell<HashMap<(LayoutId, LayoutId, u32), Converted>>,
    operations: RefCell<HashMap<(usize, LayoutId), f64>>,
    gathers: RefCell<HashMap<(usize, LayoutId, LayoutId), f64>>,
}

impl<'a> Prices<'a> {
    /// For the nodes of a graph.
    pub(super) fn new(graph: &Graph<'a>, machine: &'a Machine<'a>) -> Self {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut number = |kind: &Kind| {
            let next = numbers.len();
            *numbers.entry(format!("{kind:?}")).or_insert(next)
        };
        let kinds = graph.nodes.iter().map(|node| number(&node.kind)).collect();
        Self {
            machine,
            pool: graph.pool,
            kinds,
            conversions: RefCell::default(),
            operations: RefCell::default(),
            gathers: RefCell::default(),
        }
    }

    /// To bring a tensor of elements of so many bits from one layout to another.
    pub(super) fn conversion(&self, from: LayoutId, to: LayoutId, bits: u32) -> f64 {
        self.converted(from, to, bits).slots
    }

    /// Whether that passes through shared memory.
    pub(super) fn is_shared(&self, from: LayoutId, to: LayoutId, bits: u32) -> bool {
        self.converted(from, to, bits).shared
    }

    fn converted(&self, from: LayoutId, to: LayoutId, bits: u32) -> Converted {
        if from == to {
            return Converted { slots: 0.0, shared: false };
        }
        if let Some(&known) = self.conversions.borrow().get(&(from, to, bits)) {
            return known;
        }
        let price = match convert(&self.pool.get(from), &self.pool.get(to), bits, self.machine.means) {
            Ok(plan) => {
                let slots = slots_with_accesses(&plan.counts, ACCESS_SLOTS);
                let waits = plan.counts.exchanges + plan.counts.shared_loads + plan.counts.matrix_loads > 0;
                let shared = matches!(plan.path, Path::Shared | Path::Mixed);
                Converted { slots: slots + if waits { CONVERSION_SLOTS } else { 0.0 }, shared }
            }
            Err(_) => Converted { slots: IMPOSSIBLE, shared: false },
        };
        self.conversions.borrow_mut().insert((from, to, bits), price);
        price
    }

    /// To do once what a node is for, in a layout; `source` is the layout of what it takes as it is.
    pub(super) fn operation(&self, node: usize, kind: &Kind, key: LayoutId, source: Option<LayoutId>) -> f64 {
        let number = self.kinds[node];
        match (kind, source) {
            (Kind::Nothing | Kind::Product, _) | (Kind::Gather(..), None) => 0.0,
            (Kind::Gather(axis, bits, _), Some(source)) => {
                let known = self.gathers.borrow().get(&(number, key, source)).copied();
                known.unwrap_or_else(|| {
                    let price = self.gathering(*axis, *bits, source, key);
                    self.gathers.borrow_mut().insert((number, key, source), price);
                    price
                })
            }
            _ => {
                let known = self.operations.borrow().get(&(number, key)).copied();
                known.unwrap_or_else(|| {
                    let price = self.in_layout(kind, &self.pool.get(key)).unwrap_or(IMPOSSIBLE);
                    self.operations.borrow_mut().insert((number, key), price);
                    price
                })
            }
        }
    }

    fn in_layout(&self, kind: &Kind, layout: &LinearLayout) -> Result<f64, MovementError> {
        let Effort { plain, counts, accesses, bytes } = Effort::of(kind, layout, self.machine)?;
        let arriving = bytes as f64 / BYTES_IN_A_SLOT / f64::from(self.machine.warps);
        Ok(ISSUE * plain + slots_with_accesses(&counts, ACCESS_SLOTS) + accesses as f64 + arriving)
    }

    fn gathering(&self, axis: usize, bits: u32, source: LayoutId, indices: LayoutId) -> f64 {
        let (source, indices) = (self.pool.get(source), self.pool.get(indices));
        let plan = gather(&source, &indices, Dim::tensor(axis), bits, self.machine.means.target);
        plan.map_or(IMPOSSIBLE, |plan| plan.expected_slots())
    }

    /// To compute a value of so many operations in a layout.
    pub(super) fn recomputed(&self, cone: u32, layout: LayoutId) -> f64 {
        ISSUE * f64::from(cone) * registers(&self.pool.get(layout))
    }
}
