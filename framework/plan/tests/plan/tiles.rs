//! Tests of stores and loads by instructions that move tiles (such as `ldmatrix`), on the small test target. An
//! accessor (a store or load of a tensor) whose layout a tile divides uses the tile, with exactly the wavefronts of the
//! plan; other accessors use plain accesses.

use tilewright_testkit::test_targets;

use proptest::prelude::*;
use test_targets::accesses::{SharedAccessSpec, distributed, memory, problems};
use test_targets::divided::divided_case;
use test_targets::test_target;
use test_targets::tiles::{TILES, rows};
use tilewright_kernel::{Builder, Counts, Kernel, Op, StaticLaunchConfig};
use tilewright_layout::Dim;
use tilewright_plan::movement::{PlanContext, SharedAccessPlan, plan_shared_access};
use tilewright_target::{BankTableEntry, Direction, Evidence, Instruction, TargetDescription};
use tilewright_verify::{build_shared_load_case, build_shared_store_case, check_emulated};

/// Plans an access in one direction and checks the plan.
fn proved(problem: &SharedAccessSpec, loads: bool, context: PlanContext<'_>) -> SharedAccessPlan {
    let SharedAccessSpec { registers, memory, bits } = problem;
    let direction = if loads { Direction::Load } else { Direction::Store };
    let access = plan_shared_access(registers, memory, *bits, direction, context).expect("the question is sound");
    let case = if loads { build_shared_load_case } else { build_shared_store_case };
    let checked = case(registers, memory, *bits, &access).and_then(|case| check_emulated(&case, context));
    if let Err(wrong) = checked {
        let by = access.instruction().unwrap_or("plain accesses");
        panic!("{by}, {bits} bits: {wrong}\nregisters\n{registers}\nmemory\n{}{:?}", memory.linear, memory.padding);
    }
    access
}

/// Returns the small test target with other banks: plain accesses have one bank, which serves lanes one after the
/// other; for the instruction `row`, the slots (contiguous memory at one address) of `phase` are served together.
fn target_with_row(row: &Instruction, segment_bits: u32, phase: &[u64]) -> TargetDescription {
    let mut target = test_target();
    for banks in &mut target.shared.banks {
        (banks.banks, banks.phase) = (1, Vec::new());
    }
    target.shared.banks.push(BankTableEntry {
        directions: vec![Direction::Store, Direction::Load],
        access_bits: vec![8 << segment_bits],
        instruction: Some(row.name.clone()),
        banks: 8,
        bank_bytes: 4,
        phase: phase.to_vec(),
        idle_phases: false,
        paired: None,
        evidence: Evidence::Assumed,
        source: "invented".to_owned(),
    });
    target
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn what_a_tile_divides_is_moved_by_it(divided_case in divided_case()) {
        let row = divided_case.tile.row(divided_case.loads);
        let phase: Vec<u64> = (0..divided_case.phase.min(divided_case.tile.segments.len())).map(|bit| 1 << bit).collect();
        let target = target_with_row(&row, divided_case.tile.in_segment.len() as u32, &phase);
        let context = PlanContext::new(&target).with_instructions(std::slice::from_ref(&row));
        let access = proved(&divided_case.problem(), divided_case.loads, context);
        prop_assert_eq!(access.instruction(), Some(row.name.as_str()));
        let counts = access.stats.counts;
        prop_assert_eq!((counts.shared_stores, counts.shared_loads), (0, 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn tiles_are_never_slower_than_plain_accesses(problem in problems()) {
        let (target, rows) = (test_target(), rows());
        for loads in [false, true] {
            let plain = proved(&problem, loads, PlanContext::new(&target));
            let access = proved(&problem, loads, PlanContext::new(&target).with_instructions(&rows));
            prop_assert!(access.stats.cost <= plain.stats.cost);
            prop_assert_eq!(access.stats.above_bound.is_some(), !met(&access), "a reason where there is one");
        }
    }
}

fn met(access: &SharedAccessPlan) -> bool {
    let (counts, bound) = (&access.stats.counts, &access.stats.bound);
    counts.wavefronts_stored <= bound.wavefronts_stored && counts.wavefronts_loaded <= bound.wavefronts_loaded
}

/// Returns an access that gives each lane a column of 16-bit elements, from consecutive rows.
fn columns_of_rows() -> SharedAccessSpec {
    // Eight rows of eight elements of two bytes: register bits are rows, lane bits columns.
    let registers = distributed(&[8, 16, 32, 1, 2, 4], 0, 6);
    SharedAccessSpec { registers, memory: memory(&[1, 2, 4, 8, 16, 32], &[]), bits: 16 }
}

#[test]
fn a_transposing_instruction_needs_half_the_wavefronts() {
    let (target, rows) = (test_target(), rows());
    let problem = columns_of_rows();
    let plain = proved(&problem, true, PlanContext::new(&target));
    // Eight rows; in each all lanes need 2 bytes: one wavefront a row, half of its bytes needed.
    assert_eq!(plain.stats.counts, Counts { shared_loads: 8, wavefronts_loaded: 8, ..Counts::default() });
    assert!(plain.stats.above_bound.expect("a reason").contains("8 wavefronts against 4"));
    let registers = distributed(&[8, 16, 32, 4, 1, 2], 0, 6);
    let problem = SharedAccessSpec { registers, ..problem };
    let tiled = proved(&problem, true, PlanContext::new(&target).with_instructions(&rows));
    assert_eq!(tiled.instruction(), Some("load_columns"));
    // 128 bytes are four wavefronts of 32; an instruction moves 64.
    assert_eq!(tiled.stats.counts, Counts { matrix_loads: 2, wavefronts_loaded: 4, ..Counts::default() });
    assert_eq!((tiled.stats.above_bound.as_deref(), tiled.vector_elements), (None, 4));
}

/// Checks that the register bits that select slots (contiguous memory at one address) are chosen so that the slots of
/// one wavefront are in different banks.
#[test]
fn slots_of_a_wavefront_are_in_different_banks() {
    let row = TILES[1].row(true);
    let target = target_with_row(&row, 3, &[1, 2]);
    let context = PlanContext::new(&target).with_instructions(std::slice::from_ref(&row));
    // All banks have 32 bytes. Lane bit 0 moves by 8 bytes. The first two register bits move by 32 and 64, to the same
    // banks; only the third moves by 16.
    let registers = distributed(&[16, 32, 8, 4, 1, 2], 0, 6);
    let problem = SharedAccessSpec { registers, memory: memory(&[1, 2, 4, 8, 16, 32], &[]), bits: 16 };
    let access = proved(&problem, true, context);
    assert_eq!(access.instruction(), Some("load_columns"));
    assert_eq!(access.stats.counts, Counts { matrix_loads: 2, wavefronts_loaded: 4, ..Counts::default() });
}

#[test]
fn replicating_warps_store_a_share_each_by_instructions_too() {
    let (target, rows) = (test_target(), rows());
    let problem = |warps: [u64; 1]| {
        let columns = [&[8, 16, 32, 4, 1, 2][..], &warps].concat();
        SharedAccessSpec { registers: distributed(&columns, 1, 6), ..columns_of_rows() }
    };
    let shared = proved(&problem([0]), false, PlanContext::new(&target).with_instructions(&rows));
    assert_eq!(shared.instruction(), Some("store_columns"));
    assert_eq!(shared.stats.counts, Counts { matrix_stores: 1, wavefronts_stored: 2, ..Counts::default() });
    assert_eq!(shared.stats.above_bound, None);
}

/// Checks that instructions for other warp sizes, or with addresses that need more alignment than slots have, are not
/// used.
#[test]
fn rows_that_cannot_be_used_are_not() {
    let target = test_target();
    for tile in &TILES[6..] {
        let row = tile.row(true);
        let context = PlanContext::new(&target).with_instructions(std::slice::from_ref(&row));
        assert_eq!(proved(&columns_of_rows(), true, context).instruction(), None, "{}", row.name);
    }
}

/// Checks that a tile is not used if padding falls within slots (contiguous memory at one address), but is used if
/// padding falls between slots.
#[test]
fn padding_must_not_split_segments() {
    let (target, rows) = (test_target(), rows());
    let context = PlanContext::new(&target).with_instructions(&rows);
    let registers = distributed(&[8, 16, 32, 4, 1, 2], 0, 6);
    let by = |interval, padding| {
        let memory = memory(&[1, 2, 4, 8, 16, 32], &[(interval, padding)]);
        let access = proved(&SharedAccessSpec { registers: registers.clone(), memory, bits: 16 }, true, context);
        access.instruction().map(str::to_owned)
    };
    assert_eq!(by(16, 4).as_deref(), Some("load_columns"));
    assert_eq!(by(4, 4).as_deref(), Some("load_columns"));
    // Slots have four elements.
    assert_eq!(by(16, 2), None);
    assert_eq!(by(2, 4), None);
}

/// Returns a kernel that consists only of the plan's loads.
fn kernel(access: &SharedAccessPlan, problem: &SharedAccessSpec) -> Kernel {
    let layout = &problem.registers;
    let launch = StaticLaunchConfig::new(1 << layout.in_bits(Dim::LANE), 1 << layout.in_bits(Dim::WARP));
    let mut builder = Builder::new("loads", launch, &[]);
    let buffer = builder.shared_buffer(2048, 16);
    access.emit_load(&mut builder, buffer);
    builder.finish()
}

#[test]
fn one_address_is_computed_and_all_else_is_immediate() {
    // Sixteen registers, each a single word far from the others in memory, in no order; lane and warp bits move by the
    // distances between.
    let registers = distributed(&[16, 256, 8, 128, 1, 2, 4, 64, 32], 2, 9);
    let offsets: Vec<u64> = (0..9).map(|bit| 1 << bit).collect();
    let problem = SharedAccessSpec { registers, memory: memory(&offsets, &[]), bits: 32 };
    let access = proved(&problem, true, PlanContext::from(&test_target()));
    let kernel = kernel(&access, &problem);
    let count = |required: fn(&Op) -> bool| kernel.body.statements.iter().filter(|s| required(&s.op)).count();
    assert_eq!(count(|op| matches!(op, Op::PtrAdd { .. })), 1);
    assert_eq!(count(|op| matches!(op, Op::Load { .. })), 16);
    let mut immediates: Vec<i32> = kernel
        .body
        .statements
        .iter()
        .filter_map(|s| match s.op {
            Op::Load { offset, .. } => Some(offset),
            _ => None,
        })
        .collect();
    immediates.sort_unstable();
    let expected: Vec<i32> = (0..16).map(|i| (i & 3) * 32 + (i >> 2) * 512).collect();
    assert_eq!(immediates, expected);
}

/// Checks a tensor whose elements are replicated in other registers of other lanes. An instruction that all lanes issue
/// would store a replica in another access, in undefined order. Lanes with replicas share the store instead, so each
/// element is stored once.
#[test]
fn copies_in_registers_of_other_lanes_are_stored_once() {
    let row = TILES[0].row(false);
    let target = target_with_row(&row, 3, &[1, 2]);
    let context = PlanContext::new(&target).with_instructions(std::slice::from_ref(&row));
    let stored = |last_lane, bits: u32| {
        let registers = distributed(&[4, 8, 1, 2, last_lane], 0, bits);
        let offsets: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
        let problem = SharedAccessSpec { registers, memory: memory(&offsets, &[]), bits: 32 };
        proved(&problem, false, context).instruction().map(str::to_owned)
    };
    assert_eq!(stored(16, 5).as_deref(), Some("store_rows"));
    assert_eq!(stored(8, 4).as_deref(), Some("store_rows"));
}
