//! The PTX of conversions, looked at: what a lane stores to shared memory and loads from it, the
//! shuffles and the barriers are those of the plan, and nothing goes to local memory.
#![allow(clippy::unwrap_used)]

use crate::ptx;
use tilewright_vendor_testkit::conversions;
use tilewright_vendor_testkit::layouts;

use conversions::Case;
use layouts::blocked;
use tilewright_nvidia::NvidiaTarget;
use tilewright_plan::movement::Path;
use tilewright_plugin::Emit;
use tilewright_target::TargetDescription;

pub fn h100() -> NvidiaTarget {
    let text = include_str!("../../../../targets/h100.toml");
    NvidiaTarget::new(TargetDescription::from_toml("h100.toml", text).unwrap()).unwrap()
}

/// The result of `mma.sync`, for four warps along its rows.
fn result() -> String {
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>".to_owned()
}

/// An operand of the same.
fn mma_operand(index: u32, k_width: u32) -> String {
    format!("#ttg.dot_op<{{opIdx = {index}, parent = {}, kWidth = {k_width}}}>", result())
}

pub fn cases() -> Vec<Case> {
    let rows = |size: u64| blocked(&[1, size], &[4, 8], &[4, 1], &[1, 0]);
    let columns = |size: u64| blocked(&[size, 1], &[8, 4], &[1, 4], &[0, 1]);
    let wide = |order: [u64; 2]| blocked(&[1, 1], &[4, 8], &[4, 1], &order);
    let single = |order: [u64; 2]| blocked(&[1, 4], &[4, 8], &[1, 1], &order);
    let one = |order: [u64; 2]| blocked(&[1, 1], &[8, 4], &[1, 4], &order);
    let pairs = || blocked(&[1, 2], &[8, 4], &[2, 2], &[1, 0]);
    let in_lane = |order: [u64; 3]| blocked(&[1, 2, 4], &[32, 1, 1], &[4, 1, 1], &order);
    vec![
        Case::new("blocked to mma operand a", Path::Shared, 16, &[128, 64], rows(8), mma_operand(0, 2)),
        Case::new("blocked to mma operand b", Path::Shared, 16, &[128, 64], rows(8), mma_operand(1, 2)),
        Case::new("bytes to mma operand a", Path::Shared, 8, &[128, 64], rows(16), mma_operand(0, 4)),
        Case::new("words across warps", Path::Shared, 32, &[64, 64], rows(4), columns(4)),
        Case::new("64-bit elements across warps", Path::Shared, 64, &[64, 64], rows(2), columns(2)),
        Case::new("16 warps, more than is at hand at once", Path::Shared, 32, &[256, 128], long([16, 1]), long([8, 2])),
        Case::new("a source that warps replicate", Path::Shared, 16, &[8, 64], rows(8), columns(1)),
        Case::new(
            "a source whose copies nobody can share out",
            Path::Shared,
            32,
            &[8, 8],
            wide([1, 0]),
            blocked(&[1, 1], &[8, 4], &[1, 4], &[1, 0]),
        ),
        Case::new(
            "words of one warp",
            Path::Shared,
            32,
            &[16, 32],
            single([1, 0]),
            blocked(&[4, 1], &[4, 8], &[1, 1], &[1, 0]),
        ),
        Case::new("lanes permuted", Path::Shuffle, 32, &[16, 8], wide([1, 0]), wide([0, 1])),
        Case::new("lanes permuted, bytes packed", Path::Shuffle, 8, &[4, 32], single([1, 0]), single([0, 1])),
        Case::new("lanes permuted, 64-bit elements", Path::Shuffle, 64, &[16, 8], wide([1, 0]), wide([0, 1])),
        Case::new("registers renamed", Path::Register, 16, &[128, 4, 8], in_lane([2, 1, 0]), in_lane([1, 2, 0])),
        Case::new("nothing to do", Path::None, 16, &[128, 64], rows(8), rows(8)),
        // Matrices that are not transposed take as many wavefronts as plain accesses of a swizzled layout, and
        // the plan takes those.
        Case::new("columns of rows, read as transposed matrices", Path::Shared, 16, &[64, 64], rows(8), columns(8))
            .by_tiles()
            .showing(&["st.shared.v4.b32", "ldmatrix.sync.aligned.m8n8.x4.trans"]),
        Case::new("columns of rows, stored as transposed matrices", Path::Shared, 16, &[32, 32], rows(4), columns(8))
            .by_tiles()
            .showing(&["stmatrix.sync.aligned.m8n8.x4.trans", "ld.shared.v4.b32"]),
        Case::new("copies spread, then read as matrices", Path::Shared, 16, &[16, 16], rows(8), mma_operand(1, 2))
            .by_tiles()
            .showing(&["st.shared.b32", "ldmatrix.sync.aligned.m8n8.x4.trans"]),
        Case::new("results of a product, stored as one matrix", Path::Shared, 16, &[16, 16], result(), columns(2))
            .by_tiles()
            .showing(&["stmatrix.sync.aligned.m8n8.x1.trans"]),
        Case::new("four rounds with little scratch", Path::Shared, 32, &[64, 64], rows(4), columns(4)).within(4096),
        Case::new("single bytes", Path::Shared, 8, &[16, 8], wide([1, 0]), one([0, 1]))
            .showing(&["st.shared.b8", "ld.shared"]),
        Case::new("single elements of 16 bits", Path::Shared, 16, &[16, 8], wide([1, 0]), one([0, 1]))
            .showing(&["st.shared.b16", "ld.shared"]),
        Case::new("pairs of words", Path::Shared, 32, &[16, 16], rows(2), pairs())
            .showing(&["st.shared.v2.b32", "ld.shared.v2.b32"]),
    ]
}

fn long(warps: [u64; 2]) -> String {
    let threads = if warps[1] == 1 { [4, 8] } else { [8, 4] };
    blocked(&[1, 4], &threads, &warps, &[1, 0])
}

#[test]
fn the_ptx_moves_what_the_plan_says() {
    let target = h100();
    for case in cases() {
        let planned = case.planned(&target);
        let artifact = planned.compiled(&target, &[Emit::Assembly]);
        let code = artifact.text(Emit::Assembly).unwrap();
        let found = ptx::movement(code, "convert");
        assert!(planned.is_done_by(found), "{}: {found:?}, planned {:?}: {code}", case.name, planned.movement());
        ptx::goes_straight(code, planned.replicated);
        case.is_shown(&ptx::instructions(code, "convert"));
    }
}

#[test]
fn twenty_conversions_and_every_path_are_looked_at() {
    let cases = cases();
    assert!(cases.len() >= 20);
    for path in [Path::None, Path::Register, Path::Shuffle, Path::Shared] {
        assert!(cases.iter().any(|case| case.path == path), "{path}");
    }
    for bits in [8, 16, 32, 64] {
        assert!(cases.iter().any(|case| case.bits == bits), "{bits}");
    }
}

/// The figures of the two conversions that matter most, by hand. 128x64 elements of 16 bits over
/// 128 lanes are 64 elements a lane: 1024 bits stored. Operand a holds each element once; of operand
/// b each of the four warps, which lie along the rows, wants everything.
#[test]
fn operands_of_mma_are_stored_once_and_loaded_by_all_that_want_them() {
    for (index, loaded_bits) in [(0, 1024), (1, 4096)] {
        let case = &cases()[index];
        let planned = case.planned(&h100());
        let artifact = planned.compiled(&h100(), &[Emit::Assembly]);
        let found = ptx::movement(artifact.text(Emit::Assembly).unwrap(), "convert");
        assert_eq!((found.stored_bits, found.loaded_bits, found.exchanges), (1024, loaded_bits, 0), "{}", case.name);
        assert_eq!(planned.plan.figures.shared_bytes, 128 * 64 * 2);
    }
}

#[test]
fn the_cases_are_what_they_are_for() {
    let target = h100();
    let of = |name: &str| cases().iter().find(|case| case.name == name).unwrap().planned(&target);
    assert!(of("16 warps, more than is at hand at once").plan.figures.counts.barriers > 1, "several rounds");
    assert!(of("a source that warps replicate").replicated);
    let left_out = of("a source whose copies nobody can share out");
    assert!(left_out.replicated);
    assert_eq!(left_out.kernel.to_string().matches(" if ").count(), 1, "a predicated store: {}", left_out.kernel);
    let packed = of("lanes permuted, bytes packed").plan.figures.counts.exchanges;
    let split = of("lanes permuted, 64-bit elements").plan.figures.counts.exchanges;
    assert_eq!((packed, split), (1, 2), "4 bytes a lane in one exchange; 8 bytes a lane in two");
    assert_eq!(of("words of one warp").movement().block_barriers, 0);
}
