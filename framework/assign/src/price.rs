//! Costs of layouts, from the plans of data movement and the cost model ([`tilewright_plan::cost`]).
//!
//! The unit is cycles of the compute unit for each warp of the block. The times of all resources are added.

use rustc_hash::FxHashMap;
use std::cell::RefCell;

use super::LaunchConfig;
use super::graph::{Access, Graph, Kind, Remat};
use super::interner::{Interner, LayoutId, TransferId};
use super::layouts::tensor_shape_from_layout;
use super::op_costs::{OpCosts, registers};
use super::shared_buffer::{SharedBuffer, is_filled_asynchronously, limits_for_prices, prefetching_access};
use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::cost::{WarpTime, WarpWork, plain_instruction_cycles};
use tilewright_plan::memory_synthesis::{SharedTensor, TensorAccess};
use tilewright_plan::movement::{ConversionKind, MovementError, plan_conversion, plan_gather, plan_global_access};
use tilewright_tile::Value;

/// Max latency, in cycles, of converting a loaded value of a loop through shared memory. It stands for the barrier of
/// an iteration, which several values share; software pipelining hides the rest.
const MAX_PIPELINED_LATENCY: f64 = 16.0;
/// Cost of an impossible choice of layouts: more than that of any possible choice.
pub(super) const IMPOSSIBLE: f64 = 1e15;

/// Cost of a layout conversion in cycles: `occupied` is the time for which it uses resources, `waited` the latency for
/// which the warp waits.
#[derive(Clone, Copy)]
struct ConversionCost {
    occupied: f64,
    waited: f64,
    /// Whether the conversion goes through shared memory.
    shared: bool,
}

/// A cache of the costs of layout conversions and of operations in a layout.
pub(super) struct Prices<'a> {
    config: &'a LaunchConfig<'a>,
    interner: &'a Interner,
    /// For each node of the graph, the index of its [`Kind`] (the operation, with all its parameters that affect the
    /// cost). Nodes of equal kinds have the same index, and share cache entries.
    kinds: Vec<usize>,
    conversions: RefCell<FxHashMap<(LayoutId, LayoutId, u32), ConversionCost>>,
    operations: RefCell<FxHashMap<(usize, LayoutId), f64>>,
    /// Costs of prefetches, by the index of the load's kind, the layout of its copies and the layout of the reader;
    /// `None` if no copy can prefetch the load.
    prefetches: RefCell<FxHashMap<(usize, LayoutId, LayoutId), Option<f64>>>,
    gathers: RefCell<FxHashMap<(usize, LayoutId, LayoutId), f64>>,
    remat_price: RefCell<FxHashMap<(Value, LayoutId), f64>>,
}

impl<'a> Prices<'a> {
    /// Creates the cache for the nodes of a graph.
    pub(super) fn new(graph: &Graph<'a>, config: &'a LaunchConfig<'a>) -> Self {
        let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
        let mut kind_index = |kind: &Kind| {
            let next = numbers.len();
            *numbers.entry(format!("{kind:?}")).or_insert(next)
        };
        let kinds = graph.nodes.iter().map(|node| kind_index(&node.kind)).collect();
        Self {
            config,
            interner: graph.interner,
            kinds,
            conversions: RefCell::default(),
            operations: RefCell::default(),
            prefetches: RefCell::default(),
            gathers: RefCell::default(),
            remat_price: RefCell::default(),
        }
    }

    /// Returns the cost, in cycles for each warp, of converting a tensor of `bits`-bit elements between layouts. If
    /// `is_loaded`, the value is loaded in a loop, so that software pipelining hides most of the latency of a
    /// conversion through shared memory.
    pub(super) fn conversion(&self, from: LayoutId, to: LayoutId, bits: u32, is_loaded: bool) -> f64 {
        let ConversionCost { occupied, waited, shared } = self.converted(from, to, bits);
        occupied + if shared && is_loaded { waited.min(MAX_PIPELINED_LATENCY) } else { waited }
    }

    /// Whether the conversion between these layouts goes through shared memory.
    pub(super) fn is_shared(&self, from: LayoutId, to: LayoutId, bits: u32) -> bool {
        self.converted(from, to, bits).shared
    }

    fn converted(&self, from: LayoutId, to: LayoutId, bits: u32) -> ConversionCost {
        if from == to {
            return ConversionCost { occupied: 0.0, waited: 0.0, shared: false };
        }
        if let Some(&known) = self.conversions.borrow().get(&(from, to, bits)) {
            return known;
        }
        let price = match plan_conversion(&self.interner.get(from), &self.interner.get(to), bits, self.config.context) {
            Ok(plan) => {
                let time = self.time(&plan.to_warp_work());
                ConversionCost {
                    occupied: time.throughput_cycles(),
                    waited: time.latency,
                    shared: matches!(plan.path, ConversionKind::Shared | ConversionKind::Mixed),
                }
            }
            Err(_) => ConversionCost { occupied: IMPOSSIBLE, waited: 0.0, shared: false },
        };
        self.conversions.borrow_mut().insert((from, to, bits), price);
        price
    }

    /// Returns the cost, in cycles for each warp, of one execution of a node's operation in the layout `key`. `source`
    /// is the layout of a gather's source, which may be any; `None` for other operations.
    pub(super) fn operation(&self, node: usize, kind: &Kind, key: LayoutId, source: Option<LayoutId>) -> f64 {
        let kind_index = self.kinds[node];
        match (kind, source) {
            (Kind::Nothing | Kind::Dot, _) | (Kind::Gather(..), None) => 0.0,
            (Kind::Gather(axis, bits, _), Some(source)) => {
                let known = self.gathers.borrow().get(&(kind_index, key, source)).copied();
                known.unwrap_or_else(|| {
                    let price = self.gathering(*axis, *bits, source, key);
                    self.gathers.borrow_mut().insert((kind_index, key, source), price);
                    price
                })
            }
            _ => {
                let known = self.operations.borrow().get(&(kind_index, key)).copied();
                known.unwrap_or_else(|| {
                    let price = self.in_layout(kind, &self.interner.get(key)).unwrap_or(IMPOSSIBLE);
                    self.operations.borrow_mut().insert((kind_index, key), price);
                    price
                })
            }
        }
    }

    /// Returns the cost of reading, in layout `to`, the value of a load in a loop from a buffer in shared memory that
    /// asynchronous copies fill. `node` loads the value by `access` in the layout `from`. `None` if no copy is as wide
    /// as the load, or if stores of the loaded value fill the buffer at less cost.
    pub(super) fn prefetch(&self, node: usize, access: &Access, from: LayoutId, to: LayoutId) -> Option<f64> {
        let key = (self.kinds[node], from, to);
        if let Some(&known) = self.prefetches.borrow().get(&key) {
            return known;
        }
        let price = self.plan_prefetch(access, &self.interner.get(from), &self.interner.get(to));
        self.prefetches.borrow_mut().insert(key, price);
        price
    }

    /// Returns the bytes of a lane that one instruction of an access moves in a layout; `None` if the access has no plan.
    pub(super) fn bytes_per_lane(&self, access: &Access, layout: &LinearLayout) -> Option<u64> {
        let (named, target) = (&access.named, self.config.context.target);
        let plan = plan_global_access(layout, &named.tensor, named.bits, access.direction, target).ok()?;
        Some(plan.bytes_per_lane())
    }

    /// Returns the cycles for each warp of operations with these counts, without their latency.
    pub(super) fn of_counts(&self, counts: Counts) -> f64 {
        self.time(&WarpWork::from_counts(counts, 1)).throughput_cycles()
    }

    fn plan_prefetch(&self, access: &Access, from: &LinearLayout, to: &LinearLayout) -> Option<f64> {
        let (context, bits) = (&self.config.context, access.named.bits);
        let copy = prefetching_access(from, self.bytes_per_lane(access, from)?, self.config)?;
        let reader = TensorAccess::load("the reader", to.clone(), context);
        let tensor = SharedTensor::new(&tensor_shape_from_layout(to), bits);
        let buffer = SharedBuffer::new(tensor, vec![copy, reader], Vec::new()).with_limits(limits_for_prices());
        let solution = buffer.solve(self.config).ok().filter(is_filled_asynchronously)?;
        let [copy, read] = &solution.served[..] else { return None };
        let issued = |is_plain: bool| if read.instruction.is_none() == is_plain { read.issued } else { 0 };
        // Copies keep the order of global memory. Elements that share a register of the reader, but are not adjacent in
        // memory, are merged.
        let in_register = (32 / bits.min(32)).ilog2() as usize;
        let [own, required] = [from, to].map(|layout| layout.columns_of(Dim::REGISTER).get(..in_register));
        let merged = if own == required { 0 } else { (u64::from(bits) << to.in_bits(Dim::REGISTER)) / 32 };
        let counts = Counts {
            wavefronts_stored: copy.wavefronts,
            wavefronts_loaded: read.wavefronts,
            shared_loads: issued(true),
            matrix_loads: issued(false),
            permutes: if read.instruction.is_none() { merged } else { 0 },
            ..Counts::default()
        };
        let time = self.time(&WarpWork::from_counts(counts, 1));
        Some(time.throughput_cycles() + time.latency.min(MAX_PIPELINED_LATENCY))
    }

    fn in_layout(&self, kind: &Kind, layout: &LinearLayout) -> Result<f64, MovementError> {
        let op_costs = OpCosts::of(kind, layout, self.config)?;
        Ok(self.time(&op_costs.work()).total_cycles())
    }

    fn time(&self, work: &WarpWork) -> WarpTime {
        work.predict_time(self.config.warps.into(), self.config.context.target)
    }

    /// Returns the cycles that a number of arithmetic instructions takes to issue.
    fn issue(&self, instructions: f64) -> f64 {
        instructions * plain_instruction_cycles(self.config.context.target)
    }

    fn gathering(&self, axis: usize, bits: u32, source: LayoutId, indices: LayoutId) -> f64 {
        let (source, indices) = (self.interner.get(source), self.interner.get(indices));
        let plan = plan_gather(&source, &indices, Dim::tensor(axis), bits, self.config.context);
        plan.map_or(IMPOSSIBLE, |plan| plan.expected_cycles / f64::from(self.config.warps))
    }

    /// Returns the cost of rematerializing, in a loop, a value that `cone` operations compute: one issue for each
    /// operation and register. This overestimates [`Self::remat_price`] on purpose: it stands for the latency of loads
    /// to many registers, which has no cost of its own.
    pub(super) fn in_iterations(&self, cone: u32, layout: LayoutId) -> f64 {
        self.issue(f64::from(cone) * registers(&self.interner.get(layout)))
    }

    /// Returns the cost, in cycles for each warp, of rematerializing a value and its operands in a layout: one
    /// instruction for each register. Registers of neighbouring elements that are equal or consecutive count once.
    pub(super) fn remat_price(&self, remats: &[Option<Remat>], value: Value, layout: LayoutId) -> f64 {
        if let Some(&known) = self.remat_price.borrow().get(&(value, layout)) {
            return known;
        }
        let Some(remat_ops) = &remats[value.index()] else { return 0.0 };
        let issued = if remat_ops.is_issued {
            self.issue(distinct_registers(&self.interner.get(layout), &remat_ops.together))
        } else {
            0.0
        };
        let of_operand = |&(operand, transfer): &(Value, TransferId)| match self.interner.apply(layout, transfer) {
            Some(layout) => self.remat_price(remats, operand, layout),
            None => IMPOSSIBLE,
        };
        let price = issued + remat_ops.operands.iter().map(of_operand).sum::<f64>();
        self.remat_price.borrow_mut().insert((value, layout), price);
        price
    }
}

/// Returns the number of registers of a lane in a layout, where registers of equal or consecutive neighbours count
/// once. `together` has the number of such neighbours along each axis.
fn distinct_registers(layout: &LinearLayout, together: &[u64]) -> f64 {
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
