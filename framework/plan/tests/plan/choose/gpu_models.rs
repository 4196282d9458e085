//! Tests of chosen layouts for real targets: the emulator executes the chosen layout with the predicted wavefronts, and
//! known layouts of other projects are no better.

use tilewright_layout::cute;
use tilewright_layout::{LinearLayout, MemoryLayout, Padding};
use tilewright_plan::movement::{
    GlobalTensor, RankedSharedLayouts, SharedLayoutKind, SharedLayoutSearchOptions, SharedMemoryAccessor,
    WarpAddressedSharedCopy, choose_shared_layout, plan_shared_access,
};
use tilewright_target::TargetDescription;

use super::copies::check;
use super::layouts::{along, plane};

pub const A100: (&str, &str) = ("a100.toml", include_str!("../../../../../targets/a100.toml"));
pub const MI300X: (&str, &str) = ("mi300x.toml", include_str!("../../../../../targets/mi300x.toml"));
pub const MI355X: (&str, &str) = ("mi355x.toml", include_str!("../../../../../targets/mi355x.toml"));

pub fn description((file, text): (&str, &str)) -> TargetDescription {
    TargetDescription::from_toml(file, text).expect("the target is sound")
}

fn proven(
    accessors: &[SharedMemoryAccessor],
    bits: u32,
    constraints: &SharedLayoutSearchOptions,
    target: &TargetDescription,
) -> RankedSharedLayouts {
    let choice = choose_shared_layout(accessors, bits, constraints, target).expect("a choice");
    for candidate in &choice.candidates {
        check(candidate, accessors, bits, target);
    }
    choice
}

/// Returns the wavefronts of all accessors in a given memory layout.
fn taken(accessors: &[SharedMemoryAccessor], memory: &MemoryLayout, bits: u32, target: &TargetDescription) -> u64 {
    let of = |one: &SharedMemoryAccessor| {
        plan_shared_access(&one.layout, memory, bits, one.direction, target).expect("a plan").wavefronts()
    };
    accessors.iter().map(of).sum()
}

/// Returns a store and a load of a tile of 16-bit elements. 32 lanes of two by two warps store rows, 16 bytes a lane;
/// they load rows of 16 bytes for 8x8 matrices, lane after lane down the rows, the address order of `ldmatrix`.
fn tile(rows: u32, columns: u32) -> Vec<SharedMemoryAccessor> {
    let across = (columns - 3).min(5);
    let stored = plane(
        [rows, columns],
        &[along(1, 0..3), along(1, 3 + across..columns), along(0, 5 - across + 2..rows)].concat(),
        &[along(1, 3..3 + across), along(0, 0..5 - across)].concat(),
        &along(0, 5 - across..5 - across + 2),
    );
    let loaded = plane(
        [rows, columns],
        &[along(1, 0..3), along(1, 4..columns), along(0, 6..rows)].concat(),
        &[along(0, 0..4), along(1, 3..4)].concat(),
        &along(0, 4..6),
    );
    vec![SharedMemoryAccessor::store(stored), SharedMemoryAccessor::load(loaded)]
}

/// Returns the memory layout of a CuTe swizzle over a row-major or column-major matrix.
fn functor(text: &str, sizes: [u32; 2]) -> MemoryLayout {
    use tilewright_layout::{Dim, Space};
    let layout = text.parse().expect("CuTe's notation");
    let permuted =
        cute::to_linear(&layout, Dim::LANE, Dim::OFFSET).expect("a linear layout").invert().expect("a bijection");
    let mut ins = Space::default();
    ins.push(Dim::OFFSET, sizes[0] + sizes[1]).expect("a dim");
    let outs = [(Dim::tensor(0), 1 << sizes[0]), (Dim::tensor(1), 1 << sizes[1])];
    let outs = Space::from_sizes(&outs).expect("sizes");
    MemoryLayout::from_linear(LinearLayout::from_columns(ins, outs, permuted.columns()).expect("as many columns"))
}

/// Checks that the layouts of CUTLASS and of Hexcute's search are found for tiles of 16-bit rows: the same swizzle, or
/// one as good.
#[test]
fn functors_of_hexcute_are_found() {
    let a100 = description(A100);
    for (columns, known) in [
        (5, "Swizzle<2,3,3> o 0 o (128,32):(32,1)"),
        (6, "Swizzle<3,3,3> o 0 o (128,64):(64,1)"),
        (7, "Swizzle<3,3,4> o 0 o (128,128):(128,1)"),
    ] {
        let accessors = tile(7, columns);
        let theirs = taken(&accessors, &functor(known, [7, columns]), 16, &a100);
        let choice = proven(&accessors, 16, &SharedLayoutSearchOptions::default(), &a100);
        let chosen = choice.chosen();
        assert_eq!(
            (chosen.weighted_wavefronts(), chosen.conflict_wavefronts(), choice.wavefronts_above_bound()),
            (theirs, 0, 0),
            "{known}"
        );
        assert_eq!(chosen.kind, SharedLayoutKind::Functor, "nothing simpler does");
        let text = cute::from_tensor_layout(&chosen.to_layout()).expect("a functor").to_string();
        assert_eq!(text, known, "the fewest bits, of these the highest, and the nearest that change them");
        assert_eq!(chosen.functor.map(|swizzle| swizzle.to_string()), text.split(' ').next().map(str::to_owned));
    }
}

/// Checks the choice with an additional transposed reader by words, which has twice the weight of the others.
#[test]
fn several_readers_share_a_layout() {
    let a100 = description(A100);
    let columns = plane(
        [6, 6],
        &[along(1, 0..1), along(1, 2..6)].concat(),
        &along(0, 0..5),
        &[along(0, 5..6), along(1, 1..2)].concat(),
    );
    let accessors = [tile(6, 6), vec![SharedMemoryAccessor::load(columns).with_weight(2)]].concat();
    let choice = proven(&accessors, 16, &SharedLayoutSearchOptions::default(), &a100);
    let chosen = choice.chosen();
    assert_eq!(choice.wavefronts_above_best_known(), 0);
    let weighted: Vec<u64> = chosen.accessors.iter().zip([1, 1, 2]).map(|(f, weight)| f.wavefronts * weight).collect();
    assert_eq!(weighted.iter().sum::<u64>(), chosen.weighted_wavefronts());
    // The best layout for two of the accessors does not take fewer wavefronts for all three.
    for pair in [[0, 1], [0, 2], [1, 2]] {
        let pair: Vec<SharedMemoryAccessor> = pair.iter().map(|&at| accessors[at].clone()).collect();
        let of_two = choose_shared_layout(&pair, 16, &SharedLayoutSearchOptions::default(), &a100).expect("a choice");
        let for_all: u64 = (accessors.iter())
            .map(|one| one.weight * taken(std::slice::from_ref(one), &of_two.chosen().memory, 16, &a100))
            .sum();
        assert!(chosen.weighted_wavefronts() <= for_all, "{for_all}");
    }
}

/// Returns the load of an operand of AMD's matrix instructions with 32 rows: each of 64 lanes loads 16 bytes; 32 lanes
/// are rows, and two lanes share a row.
fn operand(rows: u32, columns: u32) -> LinearLayout {
    plane(
        [rows, columns],
        &[along(1, 0..3), along(1, 4..columns), along(0, 6..rows)].concat(),
        &[along(0, 0..5), along(1, 3..4)].concat(),
        &[along(0, 5..6)].concat(),
    )
}

/// Checks that the chosen padding takes no more bytes than the padding in Triton Bespoke Layouts of 16-bit rows of 128
/// bytes, one vector for each row.
#[test]
fn padding_of_a_vector_a_row_is_matched() {
    let mi300x = description(MI300X);
    let stored = plane(
        [6, 6],
        &[along(1, 0..3), along(0, 4..6)].concat(),
        &[along(1, 3..6), along(0, 0..3)].concat(),
        &along(0, 3..4),
    );
    let accessors = [SharedMemoryAccessor::store(stored), SharedMemoryAccessor::load(operand(6, 6))];
    let choice = proven(&accessors, 16, &SharedLayoutSearchOptions::only_kind(SharedLayoutKind::Padding), &mi300x);
    let chosen = choice.chosen();
    let plain = choice.candidates.iter().find(|candidate| candidate.kind == SharedLayoutKind::Plain).expect("rows");
    let known = MemoryLayout { padding: vec![Padding { interval: 64, padding: 8 }], ..plain.memory.clone() };
    assert_eq!(chosen.weighted_wavefronts(), taken(&accessors, &known, 16, &mi300x));
    assert_eq!((chosen.conflict_wavefronts(), choice.wavefronts_above_bound()), (0, 0));
    assert!(chosen.bytes <= known.allocated_elements() * 2, "{:?}", chosen.memory.padding);
    assert!(plain.conflict_wavefronts() > 0);
}

/// Checks copies of 16 bytes a lane straight to shared memory: a warp writes 1 KiB at a time, eight rows.
#[test]
fn copies_to_shared_memory_pad_or_permute() {
    let mi355x = description(MI355X);
    let fetched = plane(
        [6, 6],
        &[along(1, 0..3), along(0, 4..6)].concat(),
        &[along(1, 3..6), along(0, 0..3)].concat(),
        &along(0, 3..4),
    );
    let copy = WarpAddressedSharedCopy { global: GlobalTensor::row_major(&[64, 64], 16), access_bits: 128 };
    let accessors = [SharedMemoryAccessor::store(fetched).with_copy(copy), SharedMemoryAccessor::load(operand(6, 6))];
    let choice = proven(&accessors, 16, &SharedLayoutSearchOptions::default(), &mi355x);
    let of = |kind: SharedLayoutKind| choice.candidates.iter().find(|c| c.kind == kind).expect("a candidate");
    assert_eq!(
        (choice.chosen().kind, choice.chosen().conflict_wavefronts(), choice.wavefronts_above_bound()),
        (SharedLayoutKind::PermutedGlobal, 0, 0)
    );
    let fetch = of(SharedLayoutKind::PermutedGlobal).fetch.as_ref().expect("what is fetched");
    assert_eq!(fetch.transactions, fetch.straight_transactions);
    assert!(of(SharedLayoutKind::Padding).memory.padding.iter().all(|p| p.interval >= 512));
    assert!(of(SharedLayoutKind::Padding).weighted_wavefronts() <= of(SharedLayoutKind::Plain).weighted_wavefronts());
}
