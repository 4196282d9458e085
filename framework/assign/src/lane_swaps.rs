//! Layouts that hold the end of another layout's vectors in lanes, so that lane shuffles convert between both.
//!
//! Accesses of elements of different widths prefer vectors of different lengths. The natural layouts of both number the
//! lanes along the memory, so that every lane has a new index and a conversion passes shared memory. If the short vector
//! takes the lanes of the long one instead, with single bits swapped, each bit takes one shuffle by a lane xor.

use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::TargetDescription;

/// Returns the layout `long` with the last bits of its vectors in lanes, which makes the vectors as short as those of
/// `short`. The lane bits that it swaps are the highest ones across which the target shuffles by a lane xor, since they
/// belong to the most distant elements. `None` if the vectors of `short` do not begin those of `long`, or if the target
/// has too few such shuffles.
pub(super) fn swap_vector_end_into_lanes(
    long: &LinearLayout,
    short: &LinearLayout,
    target: &TargetDescription,
) -> Option<LinearLayout> {
    let [registers, lanes] = [Dim::REGISTER, Dim::LANE].map(|dim| long.columns_of(dim));
    let kept = registers.iter().zip(short.columns_of(Dim::REGISTER)).take_while(|(long, short)| long == short).count();
    let begin = short.columns_of(Dim::LANE);
    let count = registers[kept..].iter().zip(begin).take_while(|(end, lane)| end == lane && **end != 0).count();
    let (xors, swaps) = (target.lane_xors(32), target.swap_lane_bits(32).map(u64::from).fold(0, |all, bit| all | bit));
    let is_shuffled = |&bit: &usize| lanes[bit] != 0 && (xors.contains(1 << bit) || swaps >> bit & 1 == 1);
    let swapped: Vec<usize> = (0..lanes.len()).rev().filter(is_shuffled).take(count).collect();
    if count == 0 || swapped.len() < count {
        return None;
    }
    let mut columns = long.columns().to_vec();
    let [first_register, first_lane] =
        [Dim::REGISTER, Dim::LANE].map(|dim| long.ins().shift_of(dim).unwrap_or(0) as usize);
    for (end, lane) in swapped.iter().enumerate() {
        columns.swap(first_register + kept + end, first_lane + lane);
    }
    LinearLayout::from_columns(long.ins().clone(), long.outs().clone(), &columns).ok()
}
