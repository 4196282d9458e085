//! Stores of replicated values, such as the results of a reduction. Several lanes hold the same elements in several
//! registers, each stored by an instruction of its own. If each replica stores another register, one instruction stores
//! them all; and if the warps take adjacent elements, it touches whole sectors.

use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_target::Direction;

use super::AssignmentError;
use super::graph::Kind;
use super::moves::{Follow, MIN_GAIN, attempt, backward, step};
use super::state::State;

/// No neighbour follows a store: its operands are converted, which takes selects only.
const ALONE: Follow = Follow { before: false, after: false, anchors: false };

/// All connected nodes follow a load.
const EVERYWHERE: Follow = Follow { before: true, after: true, anchors: true };

/// Divides the registers of stores among their replicas, with the present layouts of loads and with adjacent elements in
/// each warp; keeps what costs least. No sequence of steps that each lower the cost leads to the second.
pub(super) fn divide_among_replicas(state: &mut State<'_, '_>) -> Result<(), AssignmentError> {
    if !accesses(state, Direction::Store).iter().any(|&store| !divisions(state, store).is_empty()) {
        return Ok(());
    }
    let mut adjacent = state.clone();
    for load in accesses(&adjacent, Direction::Load) {
        let layout = adjacent.graph.interner.get(adjacent.keys[load]);
        let key = adjacent.graph.interner.layout(&take_adjacent_elements(&layout)?)?;
        let change = step(&adjacent, load, key, EVERYWHERE);
        adjacent.apply(&change);
    }
    for tried in [&mut *state, &mut adjacent] {
        for store in accesses(tried, Direction::Store) {
            for layout in divisions(tried, store) {
                let key = tried.graph.interner.layout(&layout)?;
                attempt(tried, store, key, ALONE);
            }
        }
        backward(tried);
    }
    let limit = state.total(f64::INFINITY) - MIN_GAIN;
    if adjacent.total(limit) < limit {
        state.keys = adjacent.keys;
    }
    Ok(())
}

/// Returns the nodes that access global memory in this direction and may take any layout.
fn accesses(state: &State<'_, '_>, direction: Direction) -> Vec<usize> {
    let is_open = |&node: &usize| {
        let node = &state.graph.nodes[node];
        node.fixed.is_none() && matches!(&node.kind, Kind::Access(access) if access.direction == direction)
    };
    (0..state.graph.nodes.len()).filter(is_open).collect()
}

/// Returns the layouts of a store whose replicas store different registers, those that divide the most registers first.
fn divisions(state: &State<'_, '_>, store: usize) -> Vec<LinearLayout> {
    let layout = state.graph.interner.get(state.keys[store]);
    let most = layout.columns_of(Dim::REGISTER).len();
    (1..=most).rev().filter_map(|count| divide_registers(&layout, count)).collect()
}

/// Returns the layout with the last `count` register bits in the lowest lane bits that number replicas; `None` if there
/// are fewer of these, or a register bit numbers replicas too.
fn divide_registers(layout: &LinearLayout, count: usize) -> Option<LinearLayout> {
    let (mut registers, mut lanes) = (layout.columns_of(Dim::REGISTER).to_vec(), layout.columns_of(Dim::LANE).to_vec());
    let moved = registers.split_off(registers.len().checked_sub(count)?);
    let mut replicas = lanes.iter_mut().filter(|column| **column == 0);
    for column in moved {
        *replicas.next().filter(|_| column != 0)? = column;
    }
    with_columns(layout, |dim| match dim {
        Dim::REGISTER => registers.clone(),
        Dim::LANE => lanes.clone(),
        _ => layout.columns_of(dim).to_vec(),
    })
    .ok()
}

/// Returns the layout with the same elements along each axis in registers and warps together, but the lower bits of
/// coordinates in registers: the registers of a warp hold adjacent elements.
fn take_adjacent_elements(layout: &LinearLayout) -> Result<LinearLayout, LayoutError> {
    let mut moved = [Dim::REGISTER, Dim::WARP].map(|dim| layout.columns_of(dim).to_vec());
    let outs = layout.outs();
    for (axis, _) in outs.iter() {
        let is_along = |column: &u64| *column == outs.pack(&[(axis, outs.coordinate(*column, axis))]).unwrap_or(0);
        let mut along: Vec<&mut u64> =
            moved.iter_mut().flatten().filter(|column| **column != 0 && is_along(column)).collect();
        let mut sorted: Vec<u64> = along.iter().map(|column| **column).collect();
        sorted.sort_unstable();
        along.iter_mut().zip(sorted).for_each(|(column, next)| **column = next);
    }
    with_columns(layout, |dim| match dim {
        Dim::REGISTER => moved[0].clone(),
        Dim::WARP => moved[1].clone(),
        _ => layout.columns_of(dim).to_vec(),
    })
}

/// Returns the layout with other columns for its input dims.
fn with_columns(layout: &LinearLayout, columns: impl Fn(Dim) -> Vec<u64>) -> Result<LinearLayout, LayoutError> {
    let mut ins = Space::default();
    let mut all = Vec::new();
    for (dim, _) in layout.ins().iter() {
        let columns = columns(dim);
        ins.push(dim, columns.len() as u32)?;
        all.extend(columns);
    }
    LinearLayout::from_columns(ins, layout.outs().clone(), &all)
}
