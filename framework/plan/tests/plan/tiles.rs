//! Stores and loads by instructions that move tiles, on an invented machine: whatever a tile divides is
//! moved by it, element for element, in exactly as many wavefronts as the plan says, and what it does
//! not divide is moved without it.

use tilewright_testkit::machines;

use machines::accesses::{Question, distributed, memory, problems};
use machines::divided::made;
use machines::machine;
use machines::tiles::{TILES, rows};
use proptest::prelude::*;
use tilewright_kernel::{Builder, Counts, Kernel, Launch, Op};
use tilewright_layout::Dim;
use tilewright_plan::movement::{PlanContext, SharedAccess, access_shared, slots};
use tilewright_target::{BankRow, Direction, Evidence, Instruction, TargetDescription};
use tilewright_verify::{check_emulated, load_case, store_case};

/// Plans in one direction and proves the plan.
fn proved(problem: &Question, loads: bool, context: PlanContext<'_>) -> SharedAccess {
    let Question { registers, memory, bits } = problem;
    let direction = if loads { Direction::Load } else { Direction::Store };
    let access = access_shared(registers, memory, *bits, direction, context).expect("the question is sound");
    let case = if loads { load_case } else { store_case };
    let checked = case(registers, memory, *bits, &access).and_then(|case| check_emulated(&case, context));
    if let Err(wrong) = checked {
        let by = access.instruction().unwrap_or("plain accesses");
        panic!("{by}, {bits} bits: {wrong}\nregisters\n{registers}\nmemory\n{}{:?}", memory.linear, memory.padding);
    }
    access
}

/// The machine where plain accesses serve one lane after the other by a single bank, and those by the row
/// serve slots together as `phase` says.
fn machine_of(row: &Instruction, slot_bits: u32, phase: &[u64]) -> TargetDescription {
    let mut target = machine();
    for banks in &mut target.shared.banks {
        (banks.banks, banks.phase) = (1, Vec::new());
    }
    target.shared.banks.push(BankRow {
        directions: vec![Direction::Store, Direction::Load],
        access_bits: vec![8 << slot_bits],
        instruction: Some(row.name.clone()),
        banks: 8,
        bank_bytes: 4,
        phase: phase.to_vec(),
        evidence: Evidence::Assumed,
        source: "invented".to_owned(),
    });
    target
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn what_a_tile_divides_is_moved_by_it(made in made()) {
        let row = made.tile.row(made.loads);
        let phase: Vec<u64> = (0..made.phase.min(made.tile.slots.len())).map(|bit| 1 << bit).collect();
        let target = machine_of(&row, made.tile.in_slot.len() as u32, &phase);
        let context = PlanContext::of(&target).with_instructions(std::slice::from_ref(&row));
        let access = proved(&made.problem(), made.loads, context);
        prop_assert_eq!(access.instruction(), Some(row.name.as_str()));
        let counts = access.stats.counts;
        prop_assert_eq!((counts.shared_stores, counts.shared_loads), (0, 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn tiles_never_cost_more_than_plain_accesses(problem in problems()) {
        let (target, rows) = (machine(), rows());
        for loads in [false, true] {
            let plain = proved(&problem, loads, PlanContext::of(&target));
            let access = proved(&problem, loads, PlanContext::of(&target).with_instructions(&rows));
            prop_assert!(slots(&access.stats.counts) <= slots(&plain.stats.counts));
            prop_assert_eq!(access.stats.above_bound.is_some(), !met(&access), "a reason where there is one");
        }
    }
}

fn met(access: &SharedAccess) -> bool {
    let (counts, bound) = (&access.stats.counts, &access.stats.bound);
    counts.wavefronts_stored <= bound.wavefronts_stored && counts.wavefronts_loaded <= bound.wavefronts_loaded
}

/// A column of 16-bit elements for each lane, of rows that lie one after the other.
fn columns_of_rows() -> Question {
    // Eight rows of eight elements of two bytes: register bits are rows, lane bits columns.
    let registers = distributed(&[8, 16, 32, 1, 2, 4], 0, 6);
    Question { registers, memory: memory(&[1, 2, 4, 8, 16, 32], &[]), bits: 16 }
}

#[test]
fn a_transposing_instruction_halves_the_wavefronts() {
    let (target, rows) = (machine(), rows());
    let problem = columns_of_rows();
    let plain = proved(&problem, true, PlanContext::of(&target));
    // Eight rows, in each all lanes want 2 bytes: a wavefront a row, half of which is wanted.
    assert_eq!(plain.stats.counts, Counts { shared_loads: 8, wavefronts_loaded: 8, ..Counts::default() });
    assert!(plain.stats.above_bound.expect("a reason").contains("8 wavefronts against 4"));
    let registers = distributed(&[8, 16, 32, 4, 1, 2], 0, 6);
    let problem = Question { registers, ..problem };
    let tiled = proved(&problem, true, PlanContext::of(&target).with_instructions(&rows));
    assert_eq!(tiled.instruction(), Some("load_columns"));
    // 128 bytes are four wavefronts of 32; an instruction moves 64.
    assert_eq!(tiled.stats.counts, Counts { matrix_loads: 2, wavefronts_loaded: 4, ..Counts::default() });
    assert_eq!((tiled.stats.above_bound.as_deref(), tiled.vector_elements), (None, 4));
}

/// Registers that number slots are those that keep slots of one wavefront in different banks.
#[test]
fn registers_are_chosen_that_keep_slots_apart() {
    let row = TILES[1].row(true);
    let target = machine_of(&row, 3, &[1, 2]);
    let context = PlanContext::of(&target).with_instructions(std::slice::from_ref(&row));
    // All banks have 32 bytes. Lane bit 0 is 8 bytes away; of the register bits the first two are 32 and
    // 64, in the same banks, only the third is 16.
    let registers = distributed(&[16, 32, 8, 4, 1, 2], 0, 6);
    let problem = Question { registers, memory: memory(&[1, 2, 4, 8, 16, 32], &[]), bits: 16 };
    let access = proved(&problem, true, context);
    assert_eq!(access.instruction(), Some("load_columns"));
    assert_eq!(access.stats.counts, Counts { matrix_loads: 2, wavefronts_loaded: 4, ..Counts::default() });
}

#[test]
fn warps_that_hold_the_same_store_a_share_each_by_instructions_too() {
    let (target, rows) = (machine(), rows());
    let problem = |warps: [u64; 1]| {
        let columns = [&[8, 16, 32, 4, 1, 2][..], &warps].concat();
        Question { registers: distributed(&columns, 1, 6), ..columns_of_rows() }
    };
    let shared = proved(&problem([0]), false, PlanContext::of(&target).with_instructions(&rows));
    assert_eq!(shared.instruction(), Some("store_columns"));
    assert_eq!(shared.stats.counts, Counts { matrix_stores: 1, wavefronts_stored: 2, ..Counts::default() });
    assert_eq!(shared.stats.above_bound, None);
}

/// Rows for other warps, and rows whose addresses ask for more than slots give, are left alone.
#[test]
fn rows_that_cannot_be_used_are_not() {
    let target = machine();
    for tile in &TILES[6..] {
        let row = tile.row(true);
        let context = PlanContext::of(&target).with_instructions(std::slice::from_ref(&row));
        assert_eq!(proved(&columns_of_rows(), true, context).instruction(), None, "{}", row.name);
    }
}

/// Padding within slots rules a tile out; padding between slots does not.
#[test]
fn padding_must_keep_slots_whole() {
    let (target, rows) = (machine(), rows());
    let context = PlanContext::of(&target).with_instructions(&rows);
    let registers = distributed(&[8, 16, 32, 4, 1, 2], 0, 6);
    let by = |interval, padding| {
        let memory = memory(&[1, 2, 4, 8, 16, 32], &[(interval, padding)]);
        let access = proved(&Question { registers: registers.clone(), memory, bits: 16 }, true, context);
        access.instruction().map(str::to_owned)
    };
    assert_eq!(by(16, 4).as_deref(), Some("load_columns"));
    assert_eq!(by(4, 4).as_deref(), Some("load_columns"));
    // Slots are of four elements.
    assert_eq!(by(16, 2), None);
    assert_eq!(by(2, 4), None);
}

/// The kernel of loads alone.
fn kernel(access: &SharedAccess, problem: &Question) -> Kernel {
    let layout = &problem.registers;
    let launch = Launch::new(1 << layout.in_bits(Dim::LANE), 1 << layout.in_bits(Dim::WARP));
    let mut builder = Builder::new("loads", launch, &[]);
    let buffer = builder.shared_buffer(2048, 16);
    access.emit_load(&mut builder, buffer);
    builder.finish()
}

#[test]
fn one_address_is_computed_and_all_else_is_immediate() {
    // Sixteen registers of words, each far from the next, in no order; lanes and warps below and between.
    let registers = distributed(&[16, 256, 8, 128, 1, 2, 4, 64, 32], 2, 9);
    let offsets: Vec<u64> = (0..9).map(|bit| 1 << bit).collect();
    let problem = Question { registers, memory: memory(&offsets, &[]), bits: 32 };
    let access = proved(&problem, true, PlanContext::from(&machine()));
    let kernel = kernel(&access, &problem);
    let count = |required: fn(&Op) -> bool| kernel.body.statements.iter().filter(|s| required(&s.op)).count();
    assert_eq!(count(|op| matches!(op, Op::Advance { .. })), 1);
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

/// Lanes that hold what registers of others hold would store it in another access than these do, in no
/// order: such a tensor is stored without instructions, each element once.
#[test]
fn copies_in_registers_of_other_lanes_are_stored_once() {
    let row = TILES[0].row(false);
    let target = machine_of(&row, 3, &[1, 2]);
    let context = PlanContext::of(&target).with_instructions(std::slice::from_ref(&row));
    let stored = |last_lane, bits: u32| {
        let registers = distributed(&[4, 8, 1, 2, last_lane], 0, bits);
        let offsets: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
        let problem = Question { registers, memory: memory(&offsets, &[]), bits: 32 };
        proved(&problem, false, context).instruction().map(str::to_owned)
    };
    assert_eq!(stored(16, 5).as_deref(), Some("store_rows"));
    assert_eq!(stored(8, 4), None);
}
