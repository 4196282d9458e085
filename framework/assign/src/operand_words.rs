//! Loads of operands that an MMA reads from shared memory in another order than global memory has, such as elements of
//! B that are adjacent along N, for an instruction whose words are adjacent along K.
//!
//! A lane that holds a vector of global memory stores elements one by one. If it holds narrow elements that are
//! adjacent along K instead of the end of the vector, it packs words by byte permutes and stores these. If elements are
//! words, the lanes of a warp load one row of global memory, which lies in few banks of the transposed operand. If they
//! load parts of several rows instead, still whole sectors, the stores have fewer bank conflicts.

use std::rc::Rc;

use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::memory_synthesis::{SharedTensor, TensorAccess};
use tilewright_target::Direction;
use tilewright_tile::{FunctionBody, Value};

use super::graph::{DotNodes, Kind, Role};
use super::interner::LayoutId;
use super::moves::{Follow, backward, step};
use super::shared_buffer::{
    MmaRead, SharedBuffer, is_filled_asynchronously, limits_for_prices, mma_operand_access, prefetching_access,
};
use super::state::State;
use super::{AssignmentError, LaunchConfig};

/// Number of bits of the words that lanes store.
const WORD_BITS: u32 = 32;
/// The smallest gain, as a share of the cost of the stores. The cost model is no better than that.
const MIN_SHARE: f64 = 1.0 / 8.0;

/// The largest number of swaps of a lane bit by which the stores of an operand become cheaper.
const MOST_SWAPS: usize = 4;

/// Gives loads of operands that no copy can bring to shared memory layouts with whole words along K, or with few bank
/// conflicts if an element is a word, if the stores save more than the loads cost.
pub(super) fn fill_operand_words(
    state: &mut State<'_, '_>,
    body: &FunctionBody,
    config: &LaunchConfig<'_>,
) -> Result<(), AssignmentError> {
    let mut is_changed = false;
    for dot in &state.graph.dots {
        for side in 0..2 {
            let Some(operand) = StoredOperand::find(state, body, (dot, side), config) else { continue };
            let is_narrow = operand.read.tensor.bits < WORD_BITS;
            let key = if is_narrow { operand.key_with_words(state)? } else { operand.key_with_few_conflicts(state)? };
            let Some(key) = key else { continue };
            let costs = [state.keys[operand.load], key].map(|key| operand.store_cost(state, key));
            let [Some(before), Some(after)] = costs else { continue };
            // The addresses, which a loop may carry, take the layout of the load.
            let change = step(state, operand.load, key, Follow { before: true, after: false, anchors: false });
            if state.is_lowered_by(&change, after - before + MIN_SHARE * before) {
                state.apply(&change);
                is_changed = true;
            }
        }
    }
    if is_changed {
        backward(state);
    }
    Ok(())
}

/// An operand that an MMA reads from shared memory, and that stores of loaded values bring there.
struct StoredOperand<'c, 'm> {
    value: Value,
    /// The index of the load's node.
    load: usize,
    /// The axis of the operand along which the dot sums.
    k: Dim,
    /// The buffer of the operand, which the MMA reads.
    read: SharedBuffer<'m>,
    config: &'c LaunchConfig<'m>,
}

impl<'c, 'm> StoredOperand<'c, 'm> {
    /// Returns operand A (`side` 0) or B (1) of a dot; `None` if it is not stored from a load's registers.
    fn find(
        state: &State<'_, '_>,
        body: &FunctionBody,
        (dot, side): (&DotNodes, usize),
        config: &'c LaunchConfig<'m>,
    ) -> Option<Self> {
        let (graph, plan) = (state.graph, &dot.dot_plan);
        let value = *body.op(dot.op).operands.get(side)?;
        let bits = graph.bits[value.index()];
        let Role::Of(load, _) = graph.roles[value.index()] else { return None };
        let Kind::Access(access) = &graph.nodes[load].kind else { return None };
        let is_load = access.direction == Direction::Load && graph.nodes[load].fixed.is_none();
        if !is_load || plan.operands[side].is_some() || plan.batches.is_some() {
            return None;
        }
        let shape = body.value_type(value).shape()?;
        let k = Dim::tensor(shape.len().checked_sub(1 + side)?);
        let mma = mma_operand_access(&plan.plan, side, "the MMA", config)?;
        let mma_read = MmaRead { dot: Rc::new(plan.clone()), side, view: Vec::new(), first: Vec::new() };
        let read = SharedBuffer::new(SharedTensor::new(shape, bits), vec![mma], vec![mma_read]);
        let operand = Self { value, load, k, read: read.with_limits(limits_for_prices()), config };
        (!operand.is_copied(state)?).then_some(operand)
    }

    /// Whether asynchronous copies can bring the operand to shared memory. `None` if the load has no plan.
    fn is_copied(&self, state: &State<'_, '_>) -> Option<bool> {
        let Kind::Access(access) = &state.graph.nodes[self.load].kind else { return None };
        let layout = state.graph.interner.get(state.keys[self.load]);
        let bytes = state.prices.bytes_per_lane(access, &layout)?;
        let copy = prefetching_access(&layout, bytes, self.config);
        let copied = copy.map(|copy| self.read.with_first_access(copy).solve(self.config));
        Some(copied.is_some_and(|solution| solution.is_ok_and(|solution| is_filled_asynchronously(&solution))))
    }

    /// Returns the load's layout in which lanes hold whole words along K: lane bits change places with the register
    /// bits that make the load cheapest. `None` if lanes hold words already, or if warps divide them.
    fn key_with_words(&self, state: &State<'_, '_>) -> Result<Option<LayoutId>, AssignmentError> {
        let node = &state.graph.nodes[self.load];
        let (Some(assigned), Some(port)) =
            (state.assigned_layout(self.value), node.outs.iter().find(|port| port.value == self.value))
        else {
            return Ok(None);
        };
        let mut key = assigned;
        let units: Vec<u64> = (0..(WORD_BITS / self.read.tensor.bits).ilog2()).map(|bit| 1 << bit).collect();
        for (kept, &unit) in units.iter().enumerate() {
            let layout = state.graph.interner.get(key);
            let Some(column) = layout.outs().pack(&[(self.k, unit)]).ok() else { return Ok(None) };
            if layout.columns_of(Dim::REGISTER).contains(&column) {
                continue;
            }
            let mut cheapest: Option<(f64, LayoutId)> = None;
            for swapped in swaps_with_lane(&layout, column, &units[..kept], self.k) {
                let id = state.graph.interner.layout(&swapped)?;
                let Some(id_of_load) = state.key_for(port, id) else { continue };
                let cost = state.prices.operation(self.load, &node.kind, id_of_load, None);
                if cheapest.is_none_or(|(known, _)| cost < known) {
                    cheapest = Some((cost, id));
                }
            }
            let Some((_, next)) = cheapest else { return Ok(None) };
            key = next;
        }
        Ok(state.key_for(port, key).filter(|&key| key != state.keys[self.load]))
    }

    /// Returns the load's layout after the swaps of a lane bit with a warp or register bit that make the load and the
    /// stores cheapest, one after the other; `None` if no swap makes them cheaper.
    fn key_with_few_conflicts(&self, state: &State<'_, '_>) -> Result<Option<LayoutId>, AssignmentError> {
        let cost = |key| self.cost(state, key);
        let mut best = None;
        let mut key = state.keys[self.load];
        let Some(mut lowest) = cost(key) else { return Ok(None) };
        for _ in 0..MOST_SWAPS {
            let layout = state.graph.interner.get(key);
            let mut next = None;
            for swapped in swaps_of_lanes(&layout) {
                let candidate = state.graph.interner.layout(&swapped)?;
                if let Some(cost) = cost(candidate).filter(|cost| *cost < lowest * (1.0 - MIN_SHARE)) {
                    (lowest, next) = (cost, Some(candidate));
                }
            }
            let Some(candidate) = next else { break };
            (key, best) = (candidate, next);
        }
        Ok(best)
    }

    /// Returns the cost of loading the operand in the layout `key` and storing it, over all executions, in cycles for
    /// each warp.
    fn cost(&self, state: &State<'_, '_>, key: LayoutId) -> Option<f64> {
        let load = state.prices.operation(self.load, &state.graph.nodes[self.load].kind, key, None);
        Some(state.graph.weights[self.value.index()] * load + self.store_cost(state, key)?)
    }

    /// Returns the cost of storing the operand, loaded in the layout `key`, over all executions, in cycles for each
    /// warp; `None` if no memory layout serves the store and the MMA.
    fn store_cost(&self, state: &State<'_, '_>, key: LayoutId) -> Option<f64> {
        let layout = state.graph.interner.get(key);
        let store = TensorAccess::store("the store", (*layout).clone(), &self.config.context);
        let solution = self.read.with_first_access(store).solve(self.config).ok()?;
        let store = solution.served.first()?;
        let counts = Counts {
            wavefronts_stored: store.wavefronts,
            shared_stores: store.issued,
            permutes: store.permutes,
            ..Counts::default()
        };
        Some(state.graph.weights[self.value.index()] * state.prices.of_counts(counts))
    }
}

/// Returns the layouts with one lane bit exchanged for a warp bit or a register bit.
fn swaps_of_lanes(layout: &LinearLayout) -> Vec<LinearLayout> {
    let bits = |dim| {
        let first = layout.ins().shift_of(dim).unwrap_or(0) as usize;
        first..first + layout.in_bits(dim) as usize
    };
    let others = || bits(Dim::REGISTER).chain(bits(Dim::WARP));
    let pairs = bits(Dim::LANE).flat_map(|lane| others().map(move |other| (lane, other)));
    let swapped = pairs.filter_map(|(lane, other)| {
        let mut columns = layout.columns().to_vec();
        columns.swap(lane, other);
        LinearLayout::from_columns(layout.ins().clone(), layout.outs().clone(), &columns).ok()
    });
    swapped.collect()
}

/// Returns the layouts in which the lane bit with this column has changed places with a register bit, except register
/// bits of the units `kept` along the axis `k`.
fn swaps_with_lane(layout: &LinearLayout, column: u64, kept: &[u64], k: Dim) -> Vec<LinearLayout> {
    let first = |dim| layout.ins().shift_of(dim).unwrap_or(0) as usize;
    let Some(lane) = layout.columns_of(Dim::LANE).iter().position(|lane| *lane == column) else { return Vec::new() };
    let kept: Vec<u64> = kept.iter().filter_map(|unit| layout.outs().pack(&[(k, *unit)]).ok()).collect();
    let registers = layout.columns_of(Dim::REGISTER).iter().enumerate();
    let swapped = registers.filter(|(_, register)| **register != 0 && !kept.contains(register)).map(|(register, _)| {
        let mut columns = layout.columns().to_vec();
        columns.swap(first(Dim::REGISTER) + register, first(Dim::LANE) + lane);
        LinearLayout::from_columns(layout.ins().clone(), layout.outs().clone(), &columns).ok()
    });
    swapped.flatten().collect()
}
