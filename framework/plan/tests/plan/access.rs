//! Tests of stores to and loads from shared memory of a given layout, on the small test target: each element is where
//! the layout of the memory (after a store) or of the registers (after a load) has it, and the executed counts equal
//! those of the plan.

use tilewright_testkit::test_targets;

use proptest::prelude::*;
use test_targets::accesses::{distributed, memory, problems};
use test_targets::test_target;
use tilewright_kernel::Counts;
use tilewright_layout::{LinearLayout, MemoryLayout};
use tilewright_plan::movement::{MovementError, SharedAccessPlan, plan_shared_access};
use tilewright_target::Direction;
use tilewright_verify::{build_shared_load_case, build_shared_store_case, check_emulated};

fn check(registers: &LinearLayout, memory: &MemoryLayout, bits: u32) -> (SharedAccessPlan, SharedAccessPlan) {
    let target = test_target();
    let store = plan_shared_access(registers, memory, bits, Direction::Store, &target).expect("the question is sound");
    let load = plan_shared_access(registers, memory, bits, Direction::Load, &target).expect("the question is sound");
    let shown = || format!("{bits} bits, {:?}\nregisters\n{registers}\nmemory\n{}", memory.padding, memory.linear);
    build_shared_store_case(registers, memory, bits, &store)
        .and_then(|case| check_emulated(&case, &target))
        .unwrap_or_else(|wrong| panic!("store: {wrong}\n{}", shown()));
    build_shared_load_case(registers, memory, bits, &load)
        .and_then(|case| check_emulated(&case, &target))
        .unwrap_or_else(|wrong| panic!("load: {wrong}\n{}", shown()));
    (store, load)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn memory_and_registers_match_their_layouts(problem in problems()) {
        check(&problem.registers, &problem.memory, problem.bits);
    }
}

#[test]
fn registers_in_any_order_make_a_vector() {
    // The two low offset bits are register bits 2 and 0, so one access moves four words.
    let registers = distributed(&[2, 32, 1, 4, 8, 16], 0, 6);
    let (store, load) = check(&registers, &memory(&[1, 2, 4, 8, 16, 32], &[]), 32);
    assert_eq!((store.vector_elements, load.vector_elements), (4, 4));
    assert_eq!(store.stats.counts, Counts { shared_stores: 2, wavefronts_stored: 8, ..Counts::default() });
    assert_eq!(store.stats.above_bound, None);
}

/// Checks elements that share a register: an access whose words have other elements than the registers, or have them in
/// another order, takes one byte permute for each register.
#[test]
fn words_that_part_registers_take_byte_permutes() {
    let of = |bits: u32, order: &[u64]| {
        let columns: Vec<u64> = (0..order.len()).map(|bit| 1 << bit).collect();
        let (store, load) = check(&distributed(&columns, 0, order.len() as u32), &memory(order, &[]), bits);
        assert_eq!(store.stats.permutes, load.stats.permutes);
        store.stats.permutes
    };
    assert_eq!([of(32, &[2, 1, 4, 8, 16]), of(16, &[1, 2, 4, 8, 16]), of(8, &[1, 2, 4, 8, 16, 32])], [0; 3]);
    assert_eq!(of(16, &[2, 1, 4, 8, 16]), 2, "halves of two registers in a word");
    assert_eq!(of(8, &[2, 1, 4, 8, 16, 32]), 2, "bytes of a register in another order");
    assert_eq!(of(8, &[1, 4, 2, 8, 16, 32]), 2, "bytes of two registers in a word");
}

#[test]
fn a_column_of_a_plain_layout_conflicts_and_padding_cures_it() {
    // 8x8 words in row-major order: lanes go down a column, warps along a row.
    let columns = distributed(&[4, 8, 16, 32, 1, 2], 2, 6);
    let offsets = [1, 2, 4, 8, 16, 32];
    let (plain, _) = check(&columns, &memory(&offsets, &[]), 32);
    assert_eq!(plain.stats.counts.wavefronts_stored, 2 * 8);
    assert!(plain.stats.above_bound.is_some());
    let (padded, _) = check(&columns, &memory(&offsets, &[(8, 1)]), 32);
    assert_eq!(padded.stats.counts.wavefronts_stored, 2);
    assert_eq!(padded.stats.above_bound, None);
    // An XOR swizzle instead of padding: the row index is added (xor) to the column index.
    let (swizzled, _) = check(&columns, &memory(&[1, 2, 4, 8 ^ 1, 16 ^ 2, 32 ^ 4], &[]), 32);
    assert_eq!((swizzled.stats.counts, swizzled.stats.above_bound), (padded.stats.counts, None));
}

#[test]
fn copies_are_stored_once_and_loaded_by_all() {
    let copies = distributed(&[0, 1, 2, 0, 0], 1, 2);
    let (store, load) = check(&copies, &memory(&[1, 2], &[]), 32);
    assert_eq!(store.stats.counts, Counts { shared_stores: 1, wavefronts_stored: 1, ..Counts::default() });
    assert_eq!(load.stats.counts, Counts { shared_loads: 1, wavefronts_loaded: 1, ..Counts::default() });
}

#[test]
fn invalid_inputs_are_errors() {
    let target = test_target();
    let registers = distributed(&[1, 2, 4], 0, 3);
    let error = plan_shared_access(&registers, &memory(&[1, 2], &[]), 32, Direction::Store, &target)
        .expect_err("other tensors");
    assert!(matches!(error, MovementError::Memory { .. }), "{error}");
    let error =
        plan_shared_access(&registers, &memory(&[1, 2, 4], &[]), 4, Direction::Load, &target).expect_err("half bytes");
    assert!(matches!(error, MovementError::ElementBits(4)), "{error}");
}

#[test]
fn memory_that_no_block_has_is_refused() {
    // 2048 words fill the 8 KiB of shared memory of a block; with padding they do not fit.
    let columns: Vec<u64> = (0..11).map(|bit| 1 << bit).collect();
    let registers = distributed(&columns, 0, 11);
    check(&registers, &memory(&columns, &[]), 32);
    let padded = memory(&columns, &[(1024, 1)]);
    for refused in [
        plan_shared_access(&registers, &padded, 32, Direction::Store, &test_target()),
        plan_shared_access(&registers, &padded, 32, Direction::Load, &test_target()),
    ] {
        let error = refused.expect_err("a word more than there is");
        assert_eq!(error.to_string(), "no candidate works: 8196 bytes of shared memory are needed and 8192 are there");
    }
}
