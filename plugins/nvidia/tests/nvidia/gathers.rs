//! Gathers along lines (rows of a tensor) within a warp, as in the Linear Layouts paper, section 5.5 and Figure 8:
//! short lines use shuffles, and longer ones shared memory, once the shuffles cost more.

use crate::prelude::*;
use tilewright_plan::movement::{ConversionKind, GatherPlan, gather_candidates, plan_gather};
use tilewright_vendor_testkit::layouts::{format_blocked_layout, resolve_distributed};

const ROWS: u64 = 64;

/// Returns the layout of 64 lines of `length` elements over four warps. Each line is in one warp, with as many lanes
/// along it as it has elements, at most a whole warp; registers hold the rest.
fn lines(target: &NvidiaTarget, length: u64) -> LinearLayout {
    let lanes = length.min(32);
    let text = format_blocked_layout(&[1, 1], &[32 / lanes, lanes], &[4, 1], &[1, 0]);
    resolve_distributed(target, &text, &[ROWS, length])
}

/// Returns the plans of a gather by shuffles and through shared memory, after both have run on the emulator.
fn both(target: &NvidiaTarget, length: u64, bits: u32) -> (GatherPlan, GatherPlan) {
    let (layout, axis) = (lines(target, length), Dim::tensor(1));
    let (candidates, rejected) = gather_candidates(&layout, &layout, axis, bits, target.description()).unwrap();
    assert_eq!((candidates.len(), rejected.len()), (2, 0), "{rejected:?}");
    for gather_plan in &candidates {
        let result = build_gather_case(([&layout, &layout], axis), bits, gather_plan, target.description())
            .and_then(|case| check_emulated(&case, target.description()));
        result.unwrap_or_else(|wrong| panic!("{length} of {bits} bits, {}: {wrong}", gather_plan.path));
    }
    let chosen = plan_gather(&layout, &layout, axis, bits, target.description()).unwrap();
    assert_eq!(chosen.path, candidates[0].path);
    let of = |path| candidates.iter().find(|gather_plan| gather_plan.path == path).unwrap().clone();
    (of(ConversionKind::Shuffle), of(ConversionKind::Shared))
}

/// Returns the shuffles and selects of a lane, counted by hand. A lane has `ROWS * length / 128` results; for each
/// result it shuffles as many registers as it holds of a line, and selects one.
fn shuffles_by_hand(length: u64) -> (u64, u64) {
    let (results, rounds) = (ROWS * length / 128, (length / 32).max(1));
    (results * rounds, results * (rounds - 1))
}

#[test]
fn the_path_of_a_gather_flips_once_with_the_line_length() {
    let target = target("h100");
    let mut table = vec![
        "| elements of a line | type | by shuffles | through shared memory | chosen |".to_owned(),
        "|--:|---|--:|--:|---|".to_owned(),
    ];
    for bits in [16, 32] {
        let mut chosen = Vec::new();
        for length in (1..8).map(|bits| 1u64 << bits) {
            let (shuffled, shared) = both(&target, length, bits);
            let counts = shuffled.stats.counts;
            assert_eq!((counts.shuffles, counts.selects), shuffles_by_hand(length), "{length}");
            // Every lane stores its elements and loads its results, with one barrier of the warp between.
            let counts = shared.stats.counts;
            assert_eq!((counts.barriers, counts.warp_barriers, counts.shuffles), (0, 1, 0));
            assert_eq!(counts.shared_loads, ROWS * length / 128);
            let cheaper = shuffled.expected_cycles <= shared.expected_cycles;
            chosen.push(cheaper);
            let path = if cheaper { ConversionKind::Shuffle } else { ConversionKind::Shared };
            table.push(format!(
                "| {length} | {bits} bits | {:.0} | {:.0} | {path} |",
                shuffled.expected_cycles, shared.expected_cycles
            ));
        }
        assert!(chosen[0] && !chosen[chosen.len() - 1], "short lines by shuffles, long ones not: {chosen:?}");
        assert!(chosen.is_sorted_by_key(|by_shuffle| !by_shuffle), "one crossover: {chosen:?}");
    }
    golden::check_section(&shared_data::workspace().join("docs/reductions.md"), "gathers", &table.join("\n"));
}

/// Checks that lines whose parts are in several warps are gathered through shared memory, since shuffles do not cross
/// warps.
#[test]
fn lines_across_warps_go_through_shared_memory() {
    let target = target("h100");
    let layout = resolve_distributed(&target, &format_blocked_layout(&[1, 1], &[1, 32], &[1, 4], &[1, 0]), &[4, 128]);
    let (candidates, rejected) = gather_candidates(&layout, &layout, Dim::tensor(1), 32, target.description()).unwrap();
    assert_eq!(candidates.iter().map(|gather_plan| gather_plan.path).collect::<Vec<_>>(), [ConversionKind::Shared]);
    assert_eq!(rejected[0].reason, "warps need elements of other warps");
}
