//! The article "Triton Bespoke Layouts": its neutral examples; examples of a vendor's matrix instructions are in that
//! vendor's crate.

use tilewright_layout::families::NeutralFamilies;
use tilewright_layout::{Dim, Families, Layout, LinearLayout, MemoryLayout, parse_family_spec};
use tilewright_target::{BankTableEntry, Direction, Evidence, count_access_wavefronts};

fn layout(text: &str, shape: [u64; 2]) -> Layout {
    NeutralFamilies.resolve(&parse_family_spec(text).expect("text"), &shape, &NeutralFamilies).expect("a layout")
}

fn element(layout: &LinearLayout, register: u64, lane: u64, warp: u64) -> (u64, u64) {
    let coordinates =
        layout.apply(&[(Dim::REGISTER, register), (Dim::LANE, lane), (Dim::WARP, warp)]).expect("in range");
    (coordinates[0].1, coordinates[1].1)
}

/// All positions of 32 registers, 64 lanes and 4 warps.
fn positions() -> impl Iterator<Item = (u64, u64, u64)> {
    (0..32).flat_map(|register| (0..64).flat_map(move |lane| (0..4).map(move |warp| (register, lane, warp))))
}

/// The 64x128 tensor of A: a warp covers 16x32, the block's warps 32x64, which repeats twice along
/// either axis, along columns first.
#[test]
fn blocked_along_rows() {
    let text = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [2, 2], order = [1, 0]}>";
    let Layout::Distributed(found) = layout(text, [64, 128]) else { panic!("registers hold it") };
    assert_eq!(found.ins().total_bits(), 5 + 6 + 2);
    for (register, lane, warp) in positions() {
        let row = lane / 4 + 16 * (warp / 2) + 32 * (register / 16);
        let column = register % 8 + 8 * (lane % 4) + 32 * (warp % 2) + 64 * (register / 8 % 2);
        assert_eq!(element(&found, register, lane, warp), (row, column));
    }
}

/// The 64x128 tensor of B: lanes and warps go along columns first.
#[test]
fn blocked_along_columns() {
    let text = "#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 16], warpsPerCTA = [2, 2], order = [0, 1]}>";
    let Layout::Distributed(found) = layout(text, [64, 128]) else { panic!("registers hold it") };
    for (register, lane, warp) in positions() {
        let row = register % 8 + 8 * (lane % 4) + 32 * (warp % 2);
        let column = lane / 4 + 16 * (warp / 2) + 32 * (register / 8);
        assert_eq!(element(&found, register, lane, warp), (row, column));
    }
}

/// Shared memory of 32 banks of 4 bytes, which serves eight lanes of 16 bytes at a time.
fn banks() -> BankTableEntry {
    BankTableEntry {
        directions: vec![Direction::Load, Direction::Store],
        access_bits: vec![128],
        instruction: None,
        banks: 32,
        bank_bytes: 4,
        phase: vec![1, 2, 4],
        idle_phases: false,
        paired: None,
        evidence: Evidence::Assumed,
        source: "seed 002".to_owned(),
    }
}

/// Number of wavefronts of 32 lanes that each access eight f16 of 32x64, at the row and column from `coordinates`; an
/// access without conflicts takes four, one for each eight lanes.
fn wavefronts_of(memory: &MemoryLayout, coordinates: impl Fn(u64) -> (u64, u64)) -> u64 {
    let offsets = memory.linear.invert().expect("a memory layout");
    let address = |lane: u64| {
        let (row, column) = coordinates(lane);
        let physical = |column: u64| {
            let found = offsets.apply(&[(Dim::tensor(0), row), (Dim::tensor(1), column)]).expect("in range");
            memory.physical_offset(found[0].1)
        };
        let first = physical(column);
        assert!((1..8).all(|next| physical(column + next) == first + next), "eight elements side by side");
        2 * first
    };
    let addresses: Vec<_> = (0..32).map(|lane| Some(address(lane))).collect();
    count_access_wavefronts(&banks(), &addresses, 16)
}

/// Two orders of access: lane `l` accesses row `l` from column 24 on, or row `l / 8` from column `8 (l mod 8)` on.
fn traversals() -> [fn(u64) -> (u64, u64); 2] {
    [|lane| (lane, 24), |lane| (lane / 8, 8 * (lane % 8))]
}

fn memory(text: &str) -> MemoryLayout {
    match layout(text, [32, 64]) {
        Layout::Memory(memory) => memory,
        other => panic!("{other:?} is not a memory layout"),
    }
}

#[test]
fn without_swizzle_or_padding_a_column_is_in_the_same_banks() {
    let plain = memory("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>");
    assert_eq!(traversals().map(|coordinates| wavefronts_of(&plain, coordinates)), [32, 4]);
}

/// `vec = 8, per_phase = 1, max_phase = 8`: the element (r, c) is in column
/// `((c / 8) xor (r mod 8)) * 8 + c mod 8`.
#[test]
fn the_swizzle_8_1_8_on_32x64_has_no_conflicts() {
    let swizzled = memory("#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>");
    for offset in 0..32 * 64 {
        let (row, column) = (offset / 64, offset % 64);
        let coordinates = swizzled.linear.apply(&[(Dim::OFFSET, offset)]).expect("in range");
        assert_eq!((coordinates[0].1, coordinates[1].1), (row, ((column / 8) ^ (row % 8)) * 8 + column % 8));
    }
    assert_eq!(traversals().map(|coordinates| wavefronts_of(&swizzled, coordinates)), [4, 4]);
}

/// `[[64, 8]]`: 16 bytes, which are four banks, after every 128 bytes.
#[test]
fn padding_64_8_on_32x64_has_no_conflicts() {
    let padded = memory("#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [32, 64]}>");
    let row_starts: Vec<_> = (0..3).map(|row| padded.physical_offset(64 * row)).collect();
    assert_eq!(row_starts, [0, 72, 144]);
    assert_eq!(padded.allocated_elements(), 32 * 72 - 8);
    assert_eq!(traversals().map(|coordinates| wavefronts_of(&padded, coordinates)), [4, 4]);
}

/// The paddings of several pairs add up.
#[test]
fn padding_pairs_are_additive() {
    let padded = memory("#ttg.padded_shared<[64:+8, 256:+4] {order = [1, 0], shape = [32, 64]}>");
    assert_eq!([64, 255, 256, 512].map(|offset| padded.physical_offset(offset)), [72, 279, 292, 584]);
}
