//! Coalesced layouts: registers, lanes and warps in the order of a tensor's elements in memory.

use std::cmp::Reverse;

use tilewright_layout::{Dim, LayoutError, LinearLayout, Space};
use tilewright_target::{Direction, TargetDescription};

use super::global::plan_global_access;
use super::global_tensor::{AxisStride, GlobalTensor, Segment};
use crate::layouts;
use crate::movement::MovementError;

/// Returns the coalesced layout of a tensor for `warps` warps of `lanes` lanes: among the layouts that give each lane a
/// vector of consecutive elements, and then number lanes and warps along the memory, the one with the fewest accesses
/// of a warp, then the fewest transactions. Among equals the narrowest vector wins, because it leaves fewer lanes idle.
///
/// # Errors
/// As [`plan_global_access`]; also if `lanes` or `warps` is not a power of two.
pub fn find_coalesced_layout(
    memory: &GlobalTensor,
    element_bits: u32,
    lanes: u64,
    warps: u64,
    target: &TargetDescription,
) -> Result<LinearLayout, MovementError> {
    let widest = target.global.access_bits.iter().map(|&bits| bits / element_bits.max(1)).max().unwrap_or(1).max(1);
    let mut best: Option<((u64, u64), LinearLayout)> = None;
    for width in 0..=widest.ilog2() {
        let layout = in_order(memory, width, lanes, warps)?;
        let both = [Direction::Load, Direction::Store]
            .map(|direction| plan_global_access(&layout, memory, element_bits, direction, target));
        let [load, store] = both;
        let (load, store) = (load?, store?);
        // Loads count replicas once for each warp even if fewer warps would suffice, so the transactions of stores are
        // added.
        let score = (load.accesses, load.transactions + store.transactions);
        if best.as_ref().is_none_or(|(lowest, _)| score < *lowest) {
            best = Some((score, layout));
        }
    }
    best.map(|(_, layout)| layout).ok_or(MovementError::ElementBits(element_bits))
}

/// Builds the layout that assigns consecutive elements in memory first to `2^width` registers of a lane, then to lanes,
/// then to warps, then to the other registers.
pub(in super::super) fn in_order(
    memory: &GlobalTensor,
    width: u32,
    lanes: u64,
    warps: u64,
) -> Result<LinearLayout, LayoutError> {
    let outs = Space::from_sizes(&memory.axis_sizes())?;
    let sizes = Space::from_sizes(&[(Dim::LANE, lanes), (Dim::WARP, warps)])?;
    let mut units = units_in_order(memory, &outs, width as usize).into_iter();
    let mut registers: Vec<u64> = units.by_ref().take(width as usize).collect();
    let mut threads = |dim| {
        let mut columns: Vec<u64> = units.by_ref().take(sizes.bits_of(dim) as usize).collect();
        columns.resize(sizes.bits_of(dim) as usize, 0);
        columns
    };
    let [lanes, warps] = [Dim::LANE, Dim::WARP].map(&mut threads);
    registers.extend(units);
    layouts::of_dims(&[(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::WARP, warps)], &outs)
}

/// Returns the packed coordinate of each coordinate bit, in the order of memory: the bits of a vector of `2^width`
/// elements, then the others by stride; axes of unknown strides with the same divisor follow from the last to the
/// first. Bits with stride zero come right before the bits above them along their axis, in the order of the tensor.
fn units_in_order(memory: &GlobalTensor, outs: &Space, width: usize) -> Vec<u64> {
    let (run, others) = memory.run();
    let moves_above = |segment: &Segment| {
        let above = run.iter().chain(&others).filter(|above| above.dim == segment.dim && above.first > segment.first);
        above.into_iter().any(|above| above.stride != AxisStride::Elements(0))
    };
    let (still, mut moving): (Vec<Segment>, Vec<Segment>) =
        others.iter().partition(|segment| segment.stride == AxisStride::Elements(0) && moves_above(segment));
    // If unknown strides have the same divisor, a later axis usually has the smaller stride.
    let axis_of = |segment: &Segment| memory.axes.iter().position(|(dim, ..)| *dim == segment.dim);
    moving.sort_by_key(|segment| match segment.stride {
        AxisStride::Elements(stride) => (0, stride, Reverse(None), 0),
        AxisStride::MultipleOf(stride) => (1, stride, Reverse(axis_of(segment)), segment.first),
    });
    let mut units: Vec<u64> = run.iter().chain(&moving).flat_map(|segment| segment.units(outs)).collect();
    for segment in still {
        let own: Vec<u64> = segment.units(outs).collect();
        let axis = layouts::units(outs, segment.dim).fold(0, |all, unit| all | unit);
        let is_above = |unit: &u64| unit & axis != 0 && own.iter().all(|own| own < unit);
        let at = units.iter().skip(width).position(is_above).map_or(units.len(), |at| at + width);
        units.splice(at..at, own);
    }
    units
}
