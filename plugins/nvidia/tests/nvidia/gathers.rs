//! Seed 000, section 5.5 and Figure 8: lines that lie within a warp are gathered by exchanges as long as
//! they are short, and through shared memory from where the rounds of exchange cost more.

use crate::prelude::*;
use tilewright_plan::movement::{Gather, Path, gather, gathers};
use tilewright_vendor_testkit::layouts::{blocked, distributed};

const ROWS: u64 = 64;

/// 64 lines of so many elements over four warps, each line in one warp: as many lanes along it as it has
/// elements, the rest in registers.
fn lines(target: &NvidiaTarget, length: u64) -> LinearLayout {
    let lanes = length.min(32);
    let text = blocked(&[1, 1], &[32 / lanes, lanes], &[4, 1], &[1, 0]);
    distributed(target, &text, &[ROWS, length])
}

/// Both ways of a gather, each run on the emulator: by exchange, and through shared memory.
fn both(target: &NvidiaTarget, length: u64, bits: u32) -> (Gather, Gather) {
    let (layout, axis) = (lines(target, length), Dim::tensor(1));
    let (ways, rejected) = gathers(&layout, &layout, axis, bits, target.description()).unwrap();
    assert_eq!((ways.len(), rejected.len()), (2, 0), "{rejected:?}");
    for way in &ways {
        let proof = gather_case(([&layout, &layout], axis), bits, way, target.description())
            .and_then(|case| check_emulated(&case, target.description()));
        proof.unwrap_or_else(|wrong| panic!("{length} of {bits} bits, {}: {wrong}", way.path));
    }
    let chosen = gather(&layout, &layout, axis, bits, target.description()).unwrap();
    assert_eq!(chosen.path, ways[0].path);
    let of = |path| ways.iter().find(|way| way.path == path).unwrap().clone();
    (of(Path::Shuffle), of(Path::Shared))
}

/// By hand: a lane has `ROWS * length / 128` results; for each it asks as many registers of a line as
/// there are on a lane, and selects.
fn exchanges_by_hand(length: u64) -> (u64, u64) {
    let (results, rounds) = (ROWS * length / 128, (length / 32).max(1));
    (results * rounds, results * (rounds - 1))
}

#[test]
fn the_way_flips_where_the_costs_say() {
    let target = target("h100");
    let mut table = vec![
        "| elements of a line | type | by exchange | through shared memory | chosen |".to_owned(),
        "|--:|---|--:|--:|---|".to_owned(),
    ];
    for bits in [16, 32] {
        let mut chosen = Vec::new();
        for length in (1..8).map(|bits| 1u64 << bits) {
            let (shuffled, shared) = both(&target, length, bits);
            let counts = shuffled.stats.counts;
            assert_eq!((counts.exchanges, counts.selects), exchanges_by_hand(length), "{length}");
            // Every lane stores what it holds and loads its results; one barrier lies between.
            assert_eq!((shared.stats.counts.barriers, shared.stats.counts.exchanges), (1, 0));
            assert_eq!(shared.stats.counts.shared_loads, ROWS * length / 128);
            let cheaper = shuffled.expected_slots() <= shared.expected_slots();
            chosen.push(cheaper);
            let path = if cheaper { Path::Shuffle } else { Path::Shared };
            table.push(format!(
                "| {length} | {bits} bits | {:.1} | {:.1} | {path} |",
                shuffled.expected_slots(),
                shared.expected_slots()
            ));
        }
        assert!(chosen[0] && !chosen[chosen.len() - 1], "short lines by exchange, long ones not: {chosen:?}");
        assert!(chosen.is_sorted_by_key(|by_exchange| !by_exchange), "one crossover: {chosen:?}");
    }
    golden::check_section(&shared_data::workspace().join("docs/reductions.md"), "gathers", &table.join("\n"));
}

/// Where warps hold parts of a line, exchanges cannot reach them.
#[test]
fn lines_across_warps_go_through_shared_memory() {
    let target = target("h100");
    let layout = distributed(&target, &blocked(&[1, 1], &[1, 32], &[1, 4], &[1, 0]), &[4, 128]);
    let (ways, rejected) = gathers(&layout, &layout, Dim::tensor(1), 32, target.description()).unwrap();
    assert_eq!(ways.iter().map(|way| way.path).collect::<Vec<_>>(), [Path::Shared]);
    assert_eq!(rejected[0].reason, "warps want elements of other warps");
}
