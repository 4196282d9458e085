//! A small invented target for tests of plans, and layouts for it.

pub mod accesses;
pub mod divided;
pub mod tiles;

use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{ShuffleKind, ShufflePrimitive, TargetDescription};

/// Log2 of the lanes of a warp of the invented target.
pub const LANE_BITS: usize = 3;

/// The text of the invented target's file (TOML).
pub const SMALL: &str = include_str!("small.toml");

/// Returns the invented target.
pub fn test_target() -> TargetDescription {
    TargetDescription::from_toml("small.toml", SMALL).expect("the machine is sound")
}

/// Returns the invented target with a further shuffle that swaps words between lanes, along some bits of the lane
/// index, given as powers of two.
pub fn target_with_swaps(lanes: &[u32]) -> TargetDescription {
    with_shuffle(ShuffleKind::Swap, lanes)
}

/// Returns the invented target with shuffles by some xor masks of the lane index that are cheaper than indexed
/// shuffles.
pub fn target_with_xor_shuffles(lanes: &[u32]) -> TargetDescription {
    let mut test_target = with_shuffle(ShuffleKind::Xor, lanes);
    let select = test_target.costs.select.clone();
    test_target.costs.shuffle_xor = Some(select);
    test_target
}

fn with_shuffle(kind: ShuffleKind, lanes: &[u32]) -> TargetDescription {
    let mut test_target = test_target();
    let index = test_target.shuffles[0].clone();
    test_target.shuffles.push(ShufflePrimitive { kind, lanes: lanes.to_vec(), ..index });
    test_target
}

/// Builds a distributed layout of a 3-D tensor of the given log2 sizes. `columns` has, for each bit of the lane, then
/// of the warp, then of the register, the axis along which the bit moves and the distance.
pub fn layout(columns: &[(usize, u64)], sizes: [u32; 3], warp_bits: usize) -> LinearLayout {
    let basis = |&(axis, step): &(usize, u64)| {
        let mut coordinates = vec![0; 3];
        coordinates[axis] = step;
        coordinates
    };
    let (threads, registers) = columns.split_at(LANE_BITS + warp_bits);
    let (lanes, warps) = threads.split_at(LANE_BITS);
    let of = |columns: &[(usize, u64)]| columns.iter().map(basis).collect::<Vec<_>>();
    let bases = [(Dim::REGISTER, of(registers)), (Dim::LANE, of(lanes)), (Dim::WARP, of(warps)), (Dim::BLOCK, vec![])];
    let outs: Vec<_> = sizes.iter().enumerate().map(|(axis, bits)| (Dim::tensor(axis), 1 << bits)).collect();
    LinearLayout::from_bases(&bases, &outs).expect("sizes fit")
}
