//! The invented machine on which plans are tried, and layouts for it.

pub mod accesses;
pub mod divided;
pub mod tiles;

use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{ExchangeKind, ExchangeRow, TargetDescription};

/// Log2 of the lanes of its warps.
pub const LANE_BITS: usize = 3;

/// The machine's target file.
pub const SMALL: &str = include_str!("small.toml");

/// The machine.
pub fn machine() -> TargetDescription {
    TargetDescription::from_toml("small.toml", SMALL).expect("the machine is sound")
}

/// The machine, if its lanes swapped words along some bits of their index, given as powers of two.
pub fn machine_that_swaps(lanes: &[u32]) -> TargetDescription {
    machine_with(ExchangeKind::Swap, lanes)
}

/// The machine, if lanes whose indices differ by one of some numbers exchanged more cheaply than by index.
pub fn machine_that_crosses(lanes: &[u32]) -> TargetDescription {
    let mut machine = machine_with(ExchangeKind::Xor, lanes);
    let select = machine.costs.select.clone();
    machine.costs.exchange_xor = Some(select);
    machine
}

fn machine_with(kind: ExchangeKind, lanes: &[u32]) -> TargetDescription {
    let mut machine = machine();
    let index = machine.exchanges[0].clone();
    machine.exchanges.push(ExchangeRow { kind, lanes: lanes.to_vec(), ..index });
    machine
}

/// A layout of a 3-D tensor in which every position bit moves by one column.
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
