//! Stores and loads by instructions that move tiles, on an invented machine: whatever a tile divides is
//! moved by it, element for element, in exactly as many wavefronts as the plan says, and what it does
//! not divide is moved without it.

mod machines;

use machines::accesses::{Question, distributed, memory, questions};
use machines::machine;
use machines::tiles::{Source, TILES, Tile, rows};
use proptest::prelude::*;
use tilewright::kernel::{Builder, Counts, Kernel, Launch, Op};
use tilewright::layout::{Dim, Padding};
use tilewright::movement::{Means, SharedAccess, load_shared, slots, store_shared};
use tilewright::pipeline::{prove_load, prove_store};
use tilewright::target::{BankRow, Direction, Evidence, Instruction, TargetDescription};

const LANE_BITS: usize = machines::LANE_BITS;

/// Plans in one direction and proves the plan.
fn proved(question: &Question, loads: bool, means: Means<'_>) -> SharedAccess {
    let Question { registers, memory, bits } = question;
    let plan = if loads { load_shared } else { store_shared };
    let access = plan(registers, memory, *bits, means).expect("the question is sound");
    let proof = if loads { prove_load } else { prove_store };
    if let Err(wrong) = proof(registers, memory, *bits, &access, means) {
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

/// Numbers by which a question is made that a tile divides.
#[derive(Debug, Clone)]
struct Made {
    tile: Tile,
    loads: bool,
    /// Log2 of an element's bytes.
    byte_bits: u32,
    /// For each further register: whether it holds a copy, and which of the slot's registers is added.
    registers: Vec<(bool, u32)>,
    /// For each warp bit whether it tells copies apart.
    warps: Vec<bool>,
    /// Sums of offset bits above the slot, and of elements.
    swizzle: Vec<(usize, usize)>,
    mixed: Vec<(usize, usize)>,
    /// In slots: after how many, as a power of two, how many.
    padding: Option<(u32, u64)>,
    phase: usize,
    shuffled: Vec<usize>,
}

fn made() -> impl Strategy<Value = Made> {
    let pairs = || prop::collection::vec((0usize..16, 0usize..16), 0..5);
    let registers = prop::collection::vec((prop::bool::weighted(0.2), 0u32..4), 0..4);
    let warps = prop::collection::vec(prop::bool::weighted(0.3), 0..3);
    let padding = prop::option::of((0u32..4, 1u64..4));
    let shuffled = Just((0..16).collect::<Vec<_>>()).prop_shuffle();
    let shape = (0usize..6, any::<bool>(), 0u32..3, registers, warps);
    (shape, pairs(), pairs(), padding, 0usize..4, shuffled).prop_map(
        |((tile, loads, byte_bits, registers, warps), swizzle, mixed, padding, phase, shuffled)| {
            let tile = TILES[tile];
            let together =
                (0..).zip(tile.in_slot).take_while(|&(bit, from)| matches!(from, Source::Held(own) if *own == bit));
            let byte_bits = byte_bits.min(together.count() as u32);
            let loads = loads || tile.name == "copies";
            Made { tile, loads, byte_bits, registers, warps, swizzle, mixed, padding, phase, shuffled }
        },
    )
}

/// Adds columns to others.
fn mix(columns: &mut [u64], pairs: &[(usize, usize)]) {
    let count = columns.len();
    for &(from, to) in pairs.iter().filter(|_| count > 0) {
        if from % count != to % count {
            columns[to % count] ^= columns[from % count];
        }
    }
}

impl Made {
    fn question(&self) -> Question {
        let Self { tile, byte_bits, .. } = self;
        let vector_bits = tile.in_slot.len() as u32 - byte_bits;
        let copies =
            self.registers.iter().filter(|(copy, _)| *copy).count() + self.warps.iter().filter(|c| **c).count();
        let whole = tile.slots.len() + self.registers.len() + self.warps.len() - copies;
        let mut above: Vec<u64> = (0..whole).map(|bit| 1 << (vector_bits + bit as u32)).collect();
        mix(&mut above, &self.swizzle);
        let mut above = above.into_iter();
        let (mut held, mut lanes) = (std::collections::BTreeMap::new(), [0; LANE_BITS]);
        let mut put = |from: Source, offset: u64| match from {
            Source::Held(bit) => drop(held.insert(bit, offset)),
            Source::Lane(lane) => lanes[lane as usize] = offset,
        };
        for (bit, &from) in (0..vector_bits).zip(&tile.in_slot[*byte_bits as usize..]) {
            put(from, 1 << bit);
        }
        for &from in tile.slots {
            put(from, above.next().expect("as many as there are"));
        }
        let in_slot: Vec<u64> = held.values().copied().filter(|offset| offset >> vector_bits == 0).collect();
        let mut registers: Vec<u64> = held.values().copied().collect();
        for &(copy, added) in &self.registers {
            let own = if copy { 0 } else { above.next().expect("as many as there are") };
            registers.push(own ^ in_slot.get(added as usize).copied().unwrap_or(0));
        }
        let warps = self.warps.iter().map(|&copy| if copy { 0 } else { above.next().expect("as many as there are") });
        let order = self.shuffled.iter().filter(|&&at| at < registers.len());
        let offsets: Vec<u64> = order.map(|&at| registers[at]).chain(lanes).chain(warps).collect();
        let bits = vector_bits + whole as u32;
        let mut elements: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
        mix(&mut elements, &self.mixed);
        let columns: Vec<u64> = offsets.iter().map(|&offset| tilewright::f2::multiply(&elements, offset)).collect();
        let padding = self.padding.map(|(interval, slots)| Padding {
            interval: 1 << (vector_bits + interval),
            padding: slots << vector_bits,
        });
        let padding: Vec<_> = padding.iter().map(|p| (p.interval, p.padding)).collect();
        Question {
            registers: distributed(&columns, self.warps.len() as u32, bits),
            memory: memory(&elements, &padding),
            bits: 8 << byte_bits,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn what_a_tile_divides_is_moved_by_it(made in made()) {
        let row = made.tile.row(made.loads);
        let phase: Vec<u64> = (0..made.phase.min(made.tile.slots.len())).map(|bit| 1 << bit).collect();
        let target = machine_of(&row, made.tile.in_slot.len() as u32, &phase);
        let means = Means::of(&target).with_instructions(std::slice::from_ref(&row));
        let access = proved(&made.question(), made.loads, means);
        prop_assert_eq!(access.instruction(), Some(row.name.as_str()));
        let counts = access.counts;
        prop_assert_eq!((counts.shared_stores, counts.shared_loads), (0, 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn tiles_never_cost_more_than_plain_accesses(question in questions()) {
        let (target, rows) = (machine(), rows());
        for loads in [false, true] {
            let plain = proved(&question, loads, Means::of(&target));
            let access = proved(&question, loads, Means::of(&target).with_instructions(&rows));
            prop_assert!(slots(&access.counts) <= slots(&plain.counts));
            prop_assert_eq!(access.above_bound.is_some(), !met(&access), "a reason where there is one");
        }
    }
}

fn met(access: &SharedAccess) -> bool {
    let (counts, bound) = (&access.counts, &access.bound);
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
    let question = columns_of_rows();
    let plain = proved(&question, true, Means::of(&target));
    // Eight rows, in each all lanes want 2 bytes: a wavefront a row, half of which is wanted.
    assert_eq!(plain.counts, Counts { shared_loads: 8, wavefronts_loaded: 8, ..Counts::default() });
    assert!(plain.above_bound.expect("a reason").contains("8 wavefronts against 4"));
    let registers = distributed(&[8, 16, 32, 4, 1, 2], 0, 6);
    let question = Question { registers, ..question };
    let tiled = proved(&question, true, Means::of(&target).with_instructions(&rows));
    assert_eq!(tiled.instruction(), Some("load_columns"));
    // 128 bytes are four wavefronts of 32; an instruction moves 64.
    assert_eq!(tiled.counts, Counts { matrix_loads: 2, wavefronts_loaded: 4, ..Counts::default() });
    assert_eq!((tiled.above_bound.as_deref(), tiled.vector_elements), (None, 4));
}

/// Registers that number slots are those that keep slots of one wavefront in different banks.
#[test]
fn registers_are_chosen_that_keep_slots_apart() {
    let row = TILES[1].row(true);
    let target = machine_of(&row, 3, &[1, 2]);
    let means = Means::of(&target).with_instructions(std::slice::from_ref(&row));
    // All banks have 32 bytes. Lane bit 0 is 8 bytes away; of the register bits the first two are 32 and
    // 64, in the same banks, only the third is 16.
    let registers = distributed(&[16, 32, 8, 4, 1, 2], 0, 6);
    let question = Question { registers, memory: memory(&[1, 2, 4, 8, 16, 32], &[]), bits: 16 };
    let access = proved(&question, true, means);
    assert_eq!(access.instruction(), Some("load_columns"));
    assert_eq!(access.counts, Counts { matrix_loads: 2, wavefronts_loaded: 4, ..Counts::default() });
}

#[test]
fn warps_that_hold_the_same_store_a_share_each_by_instructions_too() {
    let (target, rows) = (machine(), rows());
    let question = |warps: [u64; 1]| {
        let columns = [&[8, 16, 32, 4, 1, 2][..], &warps].concat();
        Question { registers: distributed(&columns, 1, 6), ..columns_of_rows() }
    };
    let shared = proved(&question([0]), false, Means::of(&target).with_instructions(&rows));
    assert_eq!(shared.instruction(), Some("store_columns"));
    assert_eq!(shared.counts, Counts { matrix_stores: 1, wavefronts_stored: 2, ..Counts::default() });
    assert_eq!(shared.above_bound, None);
}

/// Rows for other warps, and rows whose addresses ask for more than slots give, are left alone.
#[test]
fn rows_that_cannot_be_used_are_not() {
    let target = machine();
    for tile in &TILES[6..] {
        let row = tile.row(true);
        let means = Means::of(&target).with_instructions(std::slice::from_ref(&row));
        assert_eq!(proved(&columns_of_rows(), true, means).instruction(), None, "{}", row.name);
    }
}

/// Padding within slots rules a tile out; padding between slots does not.
#[test]
fn padding_must_keep_slots_whole() {
    let (target, rows) = (machine(), rows());
    let means = Means::of(&target).with_instructions(&rows);
    let registers = distributed(&[8, 16, 32, 4, 1, 2], 0, 6);
    let by = |interval, padding| {
        let memory = memory(&[1, 2, 4, 8, 16, 32], &[(interval, padding)]);
        let access = proved(&Question { registers: registers.clone(), memory, bits: 16 }, true, means);
        access.instruction().map(str::to_owned)
    };
    assert_eq!(by(16, 4).as_deref(), Some("load_columns"));
    assert_eq!(by(4, 4).as_deref(), Some("load_columns"));
    // Slots are of four elements.
    assert_eq!(by(16, 2), None);
    assert_eq!(by(2, 4), None);
}

/// The kernel of loads alone.
fn kernel(access: &SharedAccess, question: &Question) -> Kernel {
    let layout = &question.registers;
    let launch = Launch { lanes: 1 << layout.in_bits(Dim::LANE), warps: 1 << layout.in_bits(Dim::WARP) };
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
    let question = Question { registers, memory: memory(&offsets, &[]), bits: 32 };
    let access = proved(&question, true, Means::from(&machine()));
    let kernel = kernel(&access, &question);
    let count = |wanted: fn(&Op) -> bool| kernel.body.statements.iter().filter(|s| wanted(&s.op)).count();
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
    let means = Means::of(&target).with_instructions(std::slice::from_ref(&row));
    let stored = |last_lane, bits: u32| {
        let registers = distributed(&[4, 8, 1, 2, last_lane], 0, bits);
        let offsets: Vec<u64> = (0..bits).map(|bit| 1 << bit).collect();
        let question = Question { registers, memory: memory(&offsets, &[]), bits: 32 };
        proved(&question, false, means).instruction().map(str::to_owned)
    };
    assert_eq!(stored(16, 5).as_deref(), Some("store_rows"));
    assert_eq!(stored(8, 4), None);
}
