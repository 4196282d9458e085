//! Builds layouts for tests, with an independent or zero column for every register, lane and warp bit.

use tilewright_layout::{Dim, LinearLayout, MemoryLayout, Space};
use tilewright_testkit::seeded_rng::SeededRng;

/// Returns the layout of a tensor of one axis with these columns: registers, lanes, then warps.
pub fn layout(columns: &[u64], lane_bits: usize, warp_bits: usize, bits: u32) -> LinearLayout {
    let registers = columns.len() - lane_bits - warp_bits;
    let mut ins = Space::default();
    for (dim, bits) in [(Dim::REGISTER, registers), (Dim::LANE, lane_bits), (Dim::WARP, warp_bits)] {
        ins.push(dim, bits as u32).expect("another dim");
    }
    let outs = Space::from_sizes(&[(Dim::tensor(0), 1 << bits)]).expect("a size");
    LinearLayout::from_columns(ins, outs, columns).expect("columns fit")
}

/// Returns a layout whose columns are the images of single bits under an invertible map, in any order; `spare`
/// positions hold replicas.
pub fn random(
    random: &mut SeededRng,
    lane_bits: usize,
    warp_bits: usize,
    bits: u32,
    spare: usize,
    mixes: usize,
) -> LinearLayout {
    let mut columns: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
    columns.resize(bits as usize + spare, 0);
    for at in (1..columns.len()).rev() {
        columns.swap(at, random.below(at + 1));
    }
    for _ in 0..mixes {
        let (a, b) = (random.below(columns.len()), random.below(columns.len()));
        if a != b && columns[a] != 0 && columns[b] != 0 {
            columns[a] ^= columns[b];
        }
    }
    layout(&columns, lane_bits, warp_bits, bits)
}

/// Returns a memory of `2^bits` elements in a random linear order.
pub fn random_memory(source: &mut SeededRng, bits: u32) -> MemoryLayout {
    let columns = random(source, 0, 0, bits, 0, 3 * bits as usize);
    let mut ins = Space::default();
    ins.push(Dim::OFFSET, bits).expect("a dim");
    let linear = LinearLayout::from_columns(ins, columns.outs().clone(), columns.columns());
    MemoryLayout::from_linear(linear.expect("as many columns"))
}

/// Returns the layout of a matrix whose positions each move by one step `(axis, bit)`; axis 1 runs along a row.
pub fn plane(
    sizes: [u32; 2],
    registers: &[(usize, u32)],
    lanes: &[(usize, u32)],
    warps: &[(usize, u32)],
) -> LinearLayout {
    let bases = |steps: &[(usize, u32)]| {
        let basis = |&(axis, bit): &(usize, u32)| if axis == 0 { vec![1u64 << bit, 0] } else { vec![0, 1u64 << bit] };
        steps.iter().map(basis).collect::<Vec<_>>()
    };
    let bases = [(Dim::REGISTER, bases(registers)), (Dim::LANE, bases(lanes)), (Dim::WARP, bases(warps))];
    let outs = [(Dim::tensor(0), 1 << sizes[0]), (Dim::tensor(1), 1 << sizes[1])];
    LinearLayout::from_bases(&bases, &outs).expect("steps fit")
}

/// Returns the steps along an axis for a range of bits.
pub fn along(axis: usize, bits: std::ops::Range<u32>) -> Vec<(usize, u32)> {
    bits.map(|bit| (axis, bit)).collect()
}
