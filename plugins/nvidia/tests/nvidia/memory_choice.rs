//! The choice of shared-memory layouts for NVIDIA's register layouts: the chosen layout is as good as `nvmma_shared`,
//! or equals it.

use crate::layouts::{dot_operand, mma, nvmma_shared};
use crate::prelude::*;
use tilewright_plan::movement::{SharedLayoutKind, SharedLayoutSearchOptions, choose_shared_layout};
use tilewright_vendor_testkit::layouts::{format_blocked_layout, resolve_distributed, resolve_memory};
use tilewright_vendor_testkit::memory_choice::{check, executed};

const ROWS: &str =
    "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";

fn operand(index: u64) -> String {
    dot_operand(index, &mma(2, &[2, 2], &[16, 8]), 2)
}

/// Returns the layout of a tile of 16 rows whose 16-byte segments are in two columns, by the lanes that give the
/// segments' addresses to `ldmatrix`.
fn matrix_rows() -> LinearLayout {
    let step = |axis: usize, bit: u32| if axis == 0 { vec![1u64 << bit, 0] } else { vec![0, 1u64 << bit] };
    let registers: Vec<_> = (0..3).map(|bit| step(1, bit)).chain([step(1, 4), step(1, 5)]).collect();
    let lanes: Vec<_> = (0..4).map(|bit| step(0, bit)).chain([step(1, 3)]).collect();
    let bases = [(Dim::REGISTER, registers), (Dim::LANE, lanes), (Dim::WARP, vec![step(0, 4), step(0, 5)])];
    LinearLayout::from_bases(&bases, &[(Dim::tensor(0), 64), (Dim::tensor(1), 64)]).unwrap()
}

/// Checks that for 16-bit tiles of 128-byte rows, the search finds the 128-byte swizzle of bulk tensor copies and
/// `wgmma`, as the same map.
#[test]
fn the_swizzle_of_128_bytes_is_found() {
    let target = target("a100");
    let accessors = [
        SharedMemoryAccessor::store(resolve_distributed(&target, ROWS, &[64, 64])),
        SharedMemoryAccessor::load(matrix_rows()),
    ];
    let choice =
        choose_shared_layout(&accessors, 16, &SharedLayoutSearchOptions::default(), target.description()).unwrap();
    let known = resolve_memory(&target, &nvmma_shared(128, false, 16), &[64, 64]);
    let chosen = choice.chosen();
    assert_eq!(
        (chosen.kind, choice.wavefronts_above_bound(), chosen.conflict_wavefronts()),
        (SharedLayoutKind::Functor, 0, 0)
    );
    assert_eq!(chosen.memory.linear.columns(), known.linear.columns());
    choice.candidates.iter().for_each(|candidate| check(candidate, &accessors, 16, target.description().into()));
}

/// Checks that both operands of matrix instructions, loaded by plain loads, take no more wavefronts than in
/// `nvmma_shared`.
#[test]
fn operands_are_no_worse_than_in_nvmma_shared() {
    let target = target("a100");
    let cases = [(0, false), (1, true), (1, false)];
    for (index, transposed) in cases {
        let columns = format_blocked_layout(&[8, 1], &[8, 4], &[1, 4], &[0, 1]);
        let stored = if transposed { columns.as_str() } else { ROWS };
        let accessors = [
            SharedMemoryAccessor::store(resolve_distributed(&target, stored, &[64, 64])),
            SharedMemoryAccessor::load(resolve_distributed(&target, &operand(index), &[64, 64])),
        ];
        let choice =
            choose_shared_layout(&accessors, 16, &SharedLayoutSearchOptions::default(), target.description()).unwrap();
        let known = resolve_memory(&target, &nvmma_shared(128, transposed, 16), &[64, 64]);
        let theirs: u64 = (accessors.iter())
            .map(|accessor| executed(&accessor.layout, accessor.direction, &known, 16, target.description().into()))
            .sum();
        assert!(
            choice.chosen().weighted_wavefronts() <= theirs,
            "operand {index}: {} and {theirs}",
            choice.chosen().weighted_wavefronts()
        );
        choice.candidates.iter().for_each(|candidate| check(candidate, &accessors, 16, target.description().into()));
    }
    assert_eq!(SharedMemoryAccessor::load(matrix_rows()).direction, Direction::Load);
}

/// Checks operands of `mma` from tiles that were stored along their rows, K-major and MN-major: `ldmatrix`, transposing
/// or not, loads them without conflicts from a layout that 16-byte stores fill without conflicts. Plain loads of
/// MN-major operands take more wavefronts under any swizzle functor.
#[test]
fn matrix_loads_are_free_of_conflicts_where_the_tile_lies() {
    for target in [target("a100"), target("h100")] {
        for (index, across) in [(0, false), (1, true)] {
            let accessors = [
                SharedMemoryAccessor::store(resolve_distributed(&target, ROWS, &[64, 64])),
                SharedMemoryAccessor::load(resolve_distributed(&target, &operand(index), &[64, 64])),
            ];
            let choice = choose_shared_layout(
                &accessors,
                16,
                &SharedLayoutSearchOptions::default(),
                build_plan_context(&target),
            )
            .unwrap();
            let chosen = choice.chosen();
            // 8 KiB by four warps; an operand of 64x64 by two: wavefronts of 128 bytes.
            let found: Vec<_> = chosen.accessors.iter().map(|f| (f.wavefronts, f.excess)).collect();
            assert_eq!((found, choice.wavefronts_above_bound()), (vec![(16, 0), (32, 0)], 0));
            let by = chosen.accessors[1].instruction.as_deref().unwrap_or_default();
            assert!(by.starts_with("ldmatrix") && by.contains(".trans") == across, "operand {index}: {by}");
            assert_eq!(chosen.accessors[0].instruction, None, "stores of 16 bytes need none");
            choice
                .candidates
                .iter()
                .for_each(|candidate| check(candidate, &accessors, 16, build_plan_context(&target)));
            let functor = SharedLayoutSearchOptions::only_kind(SharedLayoutKind::Functor);
            let plain = choose_shared_layout(&accessors, 16, &functor, target.description()).unwrap();
            let rows = choose_shared_layout(&accessors, 16, &functor, build_plan_context(&target)).unwrap();
            assert_eq!(
                (rows.wavefronts_above_bound(), rows.chosen().weighted_wavefronts()),
                (0, chosen.weighted_wavefronts())
            );
            assert!(!across || plain.chosen().weighted_wavefronts() > chosen.weighted_wavefronts());
        }
    }
}

/// Checks that `stmatrix`, on a target that has it, stores accumulators as 16-bit elements to row-major memory without
/// conflicts.
#[test]
fn matrix_stores_are_free_of_conflicts_where_the_tile_lies() {
    let target = target("h100");
    let accessors = [
        SharedMemoryAccessor::store(resolve_distributed(&target, &mma(2, &[2, 2], &[16, 8]), &[64, 64])),
        SharedMemoryAccessor::load(resolve_distributed(&target, ROWS, &[64, 64])),
    ];
    let choice =
        choose_shared_layout(&accessors, 16, &SharedLayoutSearchOptions::default(), build_plan_context(&target))
            .unwrap();
    let chosen = choice.chosen();
    let found: Vec<_> = chosen.accessors.iter().map(|f| (f.wavefronts, f.excess)).collect();
    assert_eq!((found, choice.wavefronts_above_bound()), (vec![(16, 0), (16, 0)], 0));
    let by = chosen.accessors[0].instruction.as_deref().unwrap_or_default();
    assert!(by.starts_with("stmatrix"), "{by}");
    choice.candidates.iter().for_each(|candidate| check(candidate, &accessors, 16, build_plan_context(&target)));
}
