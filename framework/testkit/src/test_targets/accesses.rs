//! Layouts of registers and of shared memory for the invented target of this module's parent.

use proptest::prelude::*;
use tilewright_layout::{Dim, LinearLayout, MemoryLayout, Padding, Space};

const LANE_BITS: u32 = super::LANE_BITS as u32;

fn tensor(bits: u32) -> Space {
    Space::from_sizes(&[(Dim::tensor(0), 1 << bits)]).expect("a size")
}

/// Builds a distributed layout from its basis vectors (registers, then lanes, then warps), each packed into one number.
pub fn distributed(columns: &[u64], warp_bits: u32, bits: u32) -> LinearLayout {
    let registers = columns.len() as u32 - LANE_BITS - warp_bits;
    let mut ins = Space::default();
    for (dim, bits) in [(Dim::REGISTER, registers), (Dim::LANE, LANE_BITS), (Dim::WARP, warp_bits)] {
        ins.push(dim, bits).expect("another dim");
    }
    LinearLayout::from_columns(ins, tensor(bits), columns).expect("columns fit")
}

/// Builds a memory layout from the element (packed into one number) that each offset bit selects, and from padding
/// given as pairs (interval, padding) in elements.
pub fn memory(columns: &[u64], padding: &[(u64, u64)]) -> MemoryLayout {
    let bits = columns.len() as u32;
    let mut ins = Space::default();
    ins.push(Dim::OFFSET, bits).expect("a dim");
    let linear = LinearLayout::from_columns(ins, tensor(bits), columns).expect("columns fit");
    let padding = padding.iter().map(|&(interval, padding)| Padding { interval, padding }).collect();
    MemoryLayout { linear, padding, alignment: None }
}

/// The parameters of a shared-memory access: register layout, memory layout and element width.
#[derive(Debug, Clone)]
pub struct SharedAccessSpec {
    pub registers: LinearLayout,
    pub memory: MemoryLayout,
    pub bits: u32,
}

/// Generates shared-memory accesses whose layouts have replicas, swizzles and padding.
pub fn problems() -> impl Strategy<Value = SharedAccessSpec> {
    (1u32..8, 0u32..3, 0usize..3).prop_flat_map(|(bits, warp_bits, spare)| {
        let segments = (bits as usize + spare).max((LANE_BITS + warp_bits) as usize);
        let copies = prop::collection::vec(prop::option::weighted(0.4, 0..bits), segments);
        let order = Just((0..segments).collect::<Vec<_>>()).prop_shuffle();
        let swizzle = prop::collection::vec((0..bits, 0..bits), 0..5);
        let padding = prop::collection::btree_map(2u32..7, 1u64..4, 0..3);
        let widths = prop::sample::select(vec![8u32, 16, 32, 64]);
        (order, copies, swizzle, padding, widths, any::<bool>()).prop_map(
            move |(order, copies, swizzle, padding, element_bits, even)| {
                let mut columns = vec![0u64; segments];
                for (at, &segment) in order.iter().enumerate() {
                    columns[segment] = match at < bits as usize {
                        true => 1 << at,
                        false => copies[segment].map_or(0, |bit| 1 << bit),
                    };
                }
                let mut offsets: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
                for (from, to) in swizzle.into_iter().filter(|(from, to)| from != to) {
                    offsets[to as usize] ^= offsets[from as usize];
                }
                // Even padding keeps vectors contiguous, odd padding does not.
                let multiple = if even { 4 } else { 1 };
                let padding: Vec<_> = padding.into_iter().map(|(bit, size)| (1u64 << bit, size * multiple)).collect();
                SharedAccessSpec {
                    registers: distributed(&columns, warp_bits, bits),
                    memory: memory(&offsets, &padding),
                    bits: element_bits,
                }
            },
        )
    })
}
