//! Costs of scans along the rows of 64x128 words over four warps, for layouts with registers, lanes or warps along the
//! axis. Each scan runs on the emulator, forward and reverse.

use crate::prelude::*;
use tilewright_vendor_testkit::layouts::{format_blocked_layout, resolve_distributed};

#[test]
fn scans_are_correct_and_cost_as_documented() {
    let plugin = target("h100");
    let target = plugin.description();
    let mut table = vec![
        "| the axis is in | shuffles | selects | wavefronts stored | loaded | block barriers | cycles of a block |"
            .to_owned(),
        "|---|--:|--:|--:|--:|--:|--:|".to_owned(),
    ];
    for (name, size, lanes, warps) in [
        ("128 registers", [1, 128], [32, 1], [4, 1]),
        ("4 registers and 32 lanes", [1, 4], [1, 32], [4, 1]),
        ("16 registers and 8 lanes", [1, 16], [4, 8], [4, 1]),
        ("8 registers, 4 lanes and 4 warps", [1, 8], [8, 4], [1, 4]),
        ("32 lanes and 4 warps", [1, 1], [1, 32], [1, 4]),
        ("32 registers and 4 warps", [1, 32], [32, 1], [1, 4]),
    ] {
        let src = resolve_distributed(&plugin, &format_blocked_layout(&size, &lanes, &warps, &[1, 0]), &[64, 128]);
        for direction in [ScanDirection::Forward, ScanDirection::Reverse] {
            let plan = plan_scan(&src, Dim::tensor(1), &[32], direction, target).unwrap();
            build_scan_case((&src, Dim::tensor(1)), &[32], (&plan, direction), target)
                .and_then(|case| check_emulated(&case, target))
                .unwrap_or_else(|wrong| panic!("{name}, {direction:?}: {wrong}"));
            let counts = plan.stats.counts;
            if direction == ScanDirection::Forward {
                table.push(format!(
                    "| {name} | {} | {} | {} | {} | {} | {:.0} |",
                    counts.shuffles,
                    counts.selects,
                    counts.wavefronts_stored,
                    counts.wavefronts_loaded,
                    counts.barriers,
                    plan.stats.cost
                ));
            }
        }
    }
    golden::check_section(&shared_data::workspace().join("docs/reductions.md"), "scans", &table.join("\n"));
}
