//! What layouts cost, in wavefront slots of a warp: the exact costs of the movement plans.
//!
//! A slot is the time of one wavefront of shared memory, or of one exchange ([`tilewright_plan::movement::slots`]). Four plain
//! operations of a warp are issued in that time.

use std::cell::RefCell;
use std::collections::HashMap;

use super::LaunchConfig;
use super::graph::{Graph, ISSUE, Kind, Remat};
use super::op_costs::{OpCosts, registers};
use super::pool::{LayoutId, Pool, ViewId};
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{MovementError, Path, convert, gather, slots_with_accesses, waited};
use tilewright_tile::Value;

/// What an access of memory counts beside its wavefronts: its issue and its address.
const ACCESS_SLOTS: f64 = 2.0;
/// What of the way through shared memory a warp waits for at most where turns of a loop load ahead what goes that way.
const AHEAD_SLOTS: f64 = 16.0;
/// Bytes of global memory that reach a warp in a slot.
const BYTES_IN_A_SLOT: f64 = 128.0;
/// What cannot be done: more than everything that can.
pub(super) const IMPOSSIBLE: f64 = 1e15;

/// What a conversion costs: what it issues, and what the warp waits for.
#[derive(Clone, Copy)]
struct Converted {
    issued: f64,
    waited: f64,
    /// Whether it passes through shared memory.
    shared: bool,
}

/// Costs, each found once.
pub(super) struct Prices<'a> {
    machine: &'a LaunchConfig<'a>,
    pool: &'a Pool,
    /// By node: equal kinds have one number.
    kinds: Vec<usize>,
    conversions: RefCell<HashMap<(LayoutId, LayoutId, u32), Converted>>,
    operations: RefCell<HashMap<(usize, LayoutId), f64>>,
    gathers: RefCell<HashMap<(usize, LayoutId, LayoutId), f64>>,
    again: RefCell<HashMap<(Value, LayoutId), f64>>,
}

impl<'a> Prices<'a> {
    /// For the nodes of a graph.
    pub(super) fn new(graph: &Graph<'a>, machine: &'a LaunchConfig<'a>) -> Self {
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
            again: RefCell::default(),
        }
    }

    /// To bring a tensor of elements of so many bits from one layout to another. `is_loaded`: in turns of a loop, which load it.
    pub(super) fn conversion(&self, from: LayoutId, to: LayoutId, bits: u32, is_loaded: bool) -> f64 {
        let Converted { issued, waited, shared } = self.converted(from, to, bits);
        issued + if shared && is_loaded { waited.min(AHEAD_SLOTS) } else { waited }
    }

    /// Whether that passes through shared memory.
    pub(super) fn is_shared(&self, from: LayoutId, to: LayoutId, bits: u32) -> bool {
        self.converted(from, to, bits).shared
    }

    fn converted(&self, from: LayoutId, to: LayoutId, bits: u32) -> Converted {
        if from == to {
            return Converted { issued: 0.0, waited: 0.0, shared: false };
        }
        if let Some(&known) = self.conversions.borrow().get(&(from, to, bits)) {
            return known;
        }
        let price = match convert(&self.pool.get(from), &self.pool.get(to), bits, self.machine.context) {
            Ok(plan) => {
                let issued = slots_with_accesses(&plan.stats.counts, ACCESS_SLOTS);
                let waited = waited(&plan.stats.counts, self.machine.context.target);
                Converted { issued, waited, shared: matches!(plan.path, Path::Shared | Path::Mixed) }
            }
            Err(_) => Converted { issued: IMPOSSIBLE, waited: 0.0, shared: false },
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
        let OpCosts { plain, counts, accesses, bytes } = OpCosts::of(kind, layout, self.machine)?;
        let arriving = bytes as f64 / BYTES_IN_A_SLOT / f64::from(self.machine.warps);
        let accesses = ACCESS_SLOTS * accesses as f64;
        Ok(ISSUE * plain + slots_with_accesses(&counts, ACCESS_SLOTS) + accesses + arriving)
    }

    fn gathering(&self, axis: usize, bits: u32, source: LayoutId, indices: LayoutId) -> f64 {
        let (source, indices) = (self.pool.get(source), self.pool.get(indices));
        let plan = gather(&source, &indices, Dim::tensor(axis), bits, self.machine.context.target);
        plan.map_or(IMPOSSIBLE, |plan| plan.expected_slots())
    }

    /// To compute a value of so many operations in a layout, in turns of a loop: each for each register. That is more than is
    /// issued ([`Self::again`]); it stands for what loads to many registers wait for, which has no price of its own.
    pub(super) fn in_iterations(&self, cone: u32, layout: LayoutId) -> f64 {
        ISSUE * f64::from(cone) * registers(&self.pool.get(layout))
    }

    /// To compute a value in a layout, and what it is made of: an instruction for each register, but for those that hold
    /// neighbours which one makes together.
    pub(super) fn again(&self, made: &[Option<Remat>], value: Value, layout: LayoutId) -> f64 {
        if let Some(&known) = self.again.borrow().get(&(value, layout)) {
            return known;
        }
        let Some(own) = &made[value.index()] else { return 0.0 };
        let issued = if own.is_issued { ISSUE * apart(&self.pool.get(layout), &own.together) } else { 0.0 };
        let of_operand = |&(operand, view): &(Value, ViewId)| match self.pool.seen(layout, view) {
            Some(layout) => self.again(made, operand, layout),
            None => IMPOSSIBLE,
        };
        let price = issued + own.operands.iter().map(of_operand).sum::<f64>();
        self.again.borrow_mut().insert((value, layout), price);
        price
    }
}

/// Registers of a lane, where one stands for those that hold elements of one group of neighbours.
fn apart(layout: &LinearLayout, together: &[u64]) -> f64 {
    let is_within = |basis: &&Vec<u64>| {
        let mut moved = basis.iter().zip(together.iter().chain(std::iter::repeat(&1))).filter(|(by, _)| **by > 0);
        match (moved.next(), moved.next()) {
            (None, _) => true,
            (Some((by, together)), None) => by < together,
            _ => false,
        }
    };
    let bases = layout.bases_of(Dim::REGISTER);
    (1u64 << bases.iter().filter(|basis| !is_within(basis)).count()) as f64
}
