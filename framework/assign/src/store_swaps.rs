//! Stores of values whose lanes hold distant elements, such as the accumulator of a dot, which leaves 16 bytes of a row
//! in four lanes. If a register bit and a lane bit change places, which takes one shuffle for two registers, a store
//! writes whole sectors, or more adjacent elements of a lane.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::Direction;

use super::AssignmentError;
use super::graph::Kind;
use super::interner::LayoutId;
use super::moves::backward;
use super::state::State;

/// The smallest gain of a swap, as a share of the store's cost. The cost model is no better than that, and a swap adds
/// instructions.
const MIN_SHARE: f64 = 1.0 / 16.0;

/// Gives stores layouts with swapped register and lane bits, as long as each swap saves more than its shuffles cost and
/// [`MIN_SHARE`] of the store.
pub(super) fn swap_lanes_of_stores(state: &mut State<'_, '_>) -> Result<(), AssignmentError> {
    let is_open = |&node: &usize| {
        let node = &state.graph.nodes[node];
        node.fixed.is_none() && matches!(&node.kind, Kind::Access(access) if access.direction == Direction::Store)
    };
    let stores: Vec<usize> = (0..state.graph.nodes.len()).filter(is_open).collect();
    let mut is_changed = false;
    for store in stores {
        // Each swap moves a register bit to a lane, so their number is at most the number of register bits.
        for _ in state.graph.interner.get(state.keys[store]).columns_of(Dim::REGISTER) {
            let gain = MIN_SHARE * state.node_cost(store);
            let mut cheaper = cheaper_stores(state, store)?.into_iter();
            let Some(key) = cheaper.find(|&key| state.is_lowered_by(&[(store, key)], gain)) else { break };
            state.keys[store] = key;
            is_changed = true;
        }
    }
    if is_changed {
        backward(state);
    }
    Ok(())
}

/// Returns the layouts that differ from a store's by one swap of a register bit and a lane bit, and with which the store
/// itself costs less; the cheapest first.
fn cheaper_stores(state: &State<'_, '_>, store: usize) -> Result<Vec<LayoutId>, AssignmentError> {
    let (interner, kind) = (state.graph.interner, &state.graph.nodes[store].kind);
    let cost = |key: LayoutId| state.prices.operation(store, kind, key, None);
    let (present, mut found) = (cost(state.keys[store]), Vec::new());
    for layout in register_lane_swaps(&interner.get(state.keys[store])) {
        let key = interner.layout(&layout)?;
        if cost(key) < present {
            found.push(key);
        }
    }
    found.sort_by(|&one, &other| cost(one).total_cmp(&cost(other)));
    Ok(found)
}

/// Returns the layouts in which a register bit and a lane bit have changed places. Bits that number replicas stay.
fn register_lane_swaps(layout: &LinearLayout) -> Vec<LinearLayout> {
    let bits_of = |dim| {
        let first = layout.ins().shift_of(dim).unwrap_or(0) as usize;
        let bits = layout.columns_of(dim).iter().enumerate().filter(|(_, column)| **column != 0);
        bits.map(|(bit, _)| first + bit).collect::<Vec<_>>()
    };
    let (registers, lanes) = (bits_of(Dim::REGISTER), bits_of(Dim::LANE));
    let pairs = registers.iter().flat_map(|&register| lanes.iter().map(move |&lane| (register, lane)));
    let swapped = |(register, lane)| {
        let mut columns = layout.columns().to_vec();
        columns.swap(register, lane);
        LinearLayout::from_columns(layout.ins().clone(), layout.outs().clone(), &columns).ok()
    };
    pairs.filter_map(swapped).collect()
}
