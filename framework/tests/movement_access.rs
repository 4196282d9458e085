//! Stores to and loads from shared memory of a given layout on an invented machine: memory and
//! registers hold what both layouts say, and what was executed is what the plan counted.

mod machines;

use machines::machine;
use proptest::prelude::*;
use tilewright::kernel::Counts;
use tilewright::layout::{Dim, LinearLayout, MemoryLayout, Padding, Space};
use tilewright::movement::{MovementError, SharedAccess, load_shared, store_shared};
use tilewright::pipeline::{prove_load, prove_store};

fn check(registers: &LinearLayout, memory: &MemoryLayout, bits: u32) -> (SharedAccess, SharedAccess) {
    let target = machine();
    let store = store_shared(registers, memory, bits, &target).expect("the question is sound");
    let load = load_shared(registers, memory, bits, &target).expect("the question is sound");
    let shown = || format!("{bits} bits, {:?}\nregisters\n{registers}\nmemory\n{}", memory.padding, memory.linear);
    prove_store(registers, memory, bits, &store, &target).unwrap_or_else(|wrong| panic!("store: {wrong}\n{}", shown()));
    prove_load(registers, memory, bits, &load, &target).unwrap_or_else(|wrong| panic!("load: {wrong}\n{}", shown()));
    (store, load)
}

const LANE_BITS: u32 = 3;

fn tensor(bits: u32) -> Space {
    Space::of_sizes(&[(Dim::tensor(0), 1 << bits)]).expect("a size")
}

fn distributed(columns: &[u64], warp_bits: u32, bits: u32) -> LinearLayout {
    let registers = columns.len() as u32 - LANE_BITS - warp_bits;
    let mut ins = Space::default();
    for (dim, bits) in [(Dim::REGISTER, registers), (Dim::LANE, LANE_BITS), (Dim::WARP, warp_bits)] {
        ins.push(dim, bits).expect("another dim");
    }
    LinearLayout::from_columns(ins, tensor(bits), columns).expect("columns fit")
}

fn memory(columns: &[u64], padding: &[(u64, u64)]) -> MemoryLayout {
    let bits = columns.len() as u32;
    let mut ins = Space::default();
    ins.push(Dim::OFFSET, bits).expect("a dim");
    let linear = LinearLayout::from_columns(ins, tensor(bits), columns).expect("columns fit");
    let padding = padding.iter().map(|&(interval, padding)| Padding { interval, padding }).collect();
    MemoryLayout { linear, padding, alignment: None }
}

#[derive(Debug, Clone)]
struct Question {
    registers: LinearLayout,
    memory: MemoryLayout,
    bits: u32,
}

fn questions() -> impl Strategy<Value = Question> {
    (1u32..8, 0u32..3, 0usize..3).prop_flat_map(|(bits, warp_bits, spare)| {
        let slots = (bits as usize + spare).max((LANE_BITS + warp_bits) as usize);
        let copies = prop::collection::vec(prop::option::weighted(0.4, 0..bits), slots);
        let order = Just((0..slots).collect::<Vec<_>>()).prop_shuffle();
        let swizzle = prop::collection::vec((0..bits, 0..bits), 0..5);
        let padding = prop::collection::btree_map(2u32..7, 1u64..4, 0..3);
        let widths = prop::sample::select(vec![8u32, 16, 32, 64]);
        (order, copies, swizzle, padding, widths, any::<bool>()).prop_map(
            move |(order, copies, swizzle, padding, element_bits, even)| {
                let mut columns = vec![0u64; slots];
                for (at, &slot) in order.iter().enumerate() {
                    columns[slot] = match at < bits as usize {
                        true => 1 << at,
                        false => copies[slot].map_or(0, |bit| 1 << bit),
                    };
                }
                let mut offsets: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
                for (from, to) in swizzle.into_iter().filter(|(from, to)| from != to) {
                    offsets[to as usize] ^= offsets[from as usize];
                }
                // Even padding keeps vectors whole, odd padding does not.
                let grain = if even { 4 } else { 1 };
                let padding: Vec<_> = padding.into_iter().map(|(bit, size)| (1u64 << bit, size * grain)).collect();
                Question {
                    registers: distributed(&columns, warp_bits, bits),
                    memory: memory(&offsets, &padding),
                    bits: element_bits,
                }
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn memory_and_registers_hold_what_their_layouts_say(question in questions()) {
        check(&question.registers, &question.memory, question.bits);
    }
}

#[test]
fn registers_in_any_order_make_a_vector() {
    // The two low offset bits are register bits 2 and 0: four words at a time.
    let registers = distributed(&[2, 32, 1, 4, 8, 16], 0, 6);
    let (store, load) = check(&registers, &memory(&[1, 2, 4, 8, 16, 32], &[]), 32);
    assert_eq!((store.vector_elements, load.vector_elements), (4, 4));
    assert_eq!(store.counts, Counts { shared_stores: 2, wavefronts_stored: 8, ..Counts::default() });
    assert_eq!(store.above_bound, None);
}

#[test]
fn a_column_of_a_plain_layout_conflicts_and_padding_cures_it() {
    // 8x8 words, row after row: lanes go down a column, warps along a row.
    let columns = distributed(&[4, 8, 16, 32, 1, 2], 2, 6);
    let offsets = [1, 2, 4, 8, 16, 32];
    let (plain, _) = check(&columns, &memory(&offsets, &[]), 32);
    assert_eq!(plain.counts.wavefronts_stored, 2 * 8);
    assert!(plain.above_bound.is_some());
    let (padded, _) = check(&columns, &memory(&offsets, &[(8, 1)]), 32);
    assert_eq!(padded.counts.wavefronts_stored, 2);
    assert_eq!(padded.above_bound, None);
    // Or a swizzle: the row is added to the column.
    let (swizzled, _) = check(&columns, &memory(&[1, 2, 4, 8 ^ 1, 16 ^ 2, 32 ^ 4], &[]), 32);
    assert_eq!((swizzled.counts, swizzled.above_bound), (padded.counts, None));
}

#[test]
fn copies_are_stored_once_and_loaded_by_all() {
    let copies = distributed(&[0, 1, 2, 0, 0], 1, 2);
    let (store, load) = check(&copies, &memory(&[1, 2], &[]), 32);
    assert_eq!(store.counts, Counts { shared_stores: 1, wavefronts_stored: 1, ..Counts::default() });
    assert_eq!(load.counts, Counts { shared_loads: 1, wavefronts_loaded: 1, ..Counts::default() });
}

#[test]
fn bad_questions_are_errors() {
    let target = machine();
    let registers = distributed(&[1, 2, 4], 0, 3);
    let error = store_shared(&registers, &memory(&[1, 2], &[]), 32, &target).expect_err("other tensors");
    assert!(matches!(error, MovementError::Memory { .. }), "{error}");
    let error = load_shared(&registers, &memory(&[1, 2, 4], &[]), 4, &target).expect_err("half bytes");
    assert!(matches!(error, MovementError::ElementBits(4)), "{error}");
}
