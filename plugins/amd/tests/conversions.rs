//! The assembly of conversions, looked at: what a lane stores to shared memory and loads from it,
//! the exchanges and the barriers are those of the plan, and nothing goes to scratch.
#![allow(clippy::unwrap_used)]

#[path = "../../llvm/tests/conversions/mod.rs"]
mod conversions;

use conversions::{Case, Movement, Planned, blocked};
use tilewright::movement::Path;
use tilewright::target::TargetDescription;
use tilewright::vendor::Emit;
use tilewright_amd::AmdTarget;

const CDNA: [(&str, &str); 4] = [
    ("mi100.toml", include_str!("../../../targets/mi100.toml")),
    ("mi250.toml", include_str!("../../../targets/mi250.toml")),
    ("mi300x.toml", include_str!("../../../targets/mi300x.toml")),
    ("mi355x.toml", include_str!("../../../targets/mi355x.toml")),
];
/// Each with the version of its matrix instructions.
const RDNA: [(&str, &str, u32); 2] = [
    ("rx7900xtx.toml", include_str!("../../../targets/rx7900xtx.toml"), 1),
    ("rx9070xt.toml", include_str!("../../../targets/rx9070xt.toml"), 2),
];

fn target((file, text): (&str, &str)) -> AmdTarget {
    AmdTarget::new(TargetDescription::from_toml(file, text).unwrap()).unwrap()
}

fn mi250() -> AmdTarget {
    target(CDNA[1])
}

/// An operand of `v_mfma_f32_32x32x8` and of its kin for bytes, for two by two warps.
fn mfma_operand(index: u32, k_width: u32) -> String {
    format!(
        "#ttg.dot_op<{{opIdx = {index}, parent = #ttg.amd_mfma<{{version = 2, warpsPerCTA = [2, 2], \
         instrShape = [32, 32, 8], isTransposed = false}}>, kWidth = {k_width}}}>"
    )
}

fn case(name: &'static str, path: Path, bits: u32, shape: &'static [u64], src: String, dst: String) -> Case {
    Case { name, path, bits, shape, src, dst }
}

fn cases() -> Vec<Case> {
    let rows = |size: u64| blocked(&[1, size], &[8, 8], &[4, 1], &[1, 0]);
    let columns = |size: u64| blocked(&[size, 1], &[8, 8], &[1, 4], &[0, 1]);
    let wide = |order: [u64; 2]| blocked(&[1, 1], &[8, 8], &[4, 1], &order);
    let single = |order: [u64; 2]| blocked(&[1, 4], &[8, 8], &[1, 1], &order);
    let in_lane = |order: [u64; 3]| blocked(&[1, 2, 4], &[64, 1, 1], &[4, 1, 1], &order);
    vec![
        case("blocked to mfma operand a", Path::Shared, 16, &[128, 64], rows(8), mfma_operand(0, 4)),
        case("blocked to mfma operand b", Path::Shared, 16, &[128, 64], rows(8), mfma_operand(1, 4)),
        case("bytes to mfma operand a", Path::Shared, 8, &[128, 64], rows(8), mfma_operand(0, 4)),
        case("words across warps", Path::Shared, 32, &[64, 64], rows(4), columns(4)),
        case("64-bit elements across warps", Path::Shared, 64, &[64, 64], rows(2), columns(2)),
        case("16 warps, more than is at hand at once", Path::Shared, 32, &[256, 128], long([16, 1]), long([8, 2])),
        case("a source that warps replicate", Path::Shared, 16, &[16, 64], rows(8), columns(1)),
        case(
            "a source whose copies nobody can share out",
            Path::Shared,
            32,
            &[16, 8],
            wide([1, 0]),
            blocked(&[1, 1], &[16, 4], &[1, 4], &[1, 0]),
        ),
        case(
            "bytes of one warp",
            Path::Shared,
            8,
            &[32, 32],
            single([1, 0]),
            blocked(&[4, 1], &[8, 8], &[1, 1], &[1, 0]),
        ),
        case(
            "bytes of one warp, gathered and scattered",
            Path::Shuffle,
            8,
            &[32, 32],
            single([1, 0]),
            blocked(&[4, 1], &[8, 8], &[1, 1], &[1, 0]),
        ),
        case("lanes permuted", Path::Shuffle, 32, &[32, 8], wide([1, 0]), wide([0, 1])),
        case("lanes permuted, bytes packed", Path::Shuffle, 8, &[8, 32], single([1, 0]), single([0, 1])),
        case("lanes permuted, 64-bit elements", Path::Shuffle, 64, &[32, 8], wide([1, 0]), wide([0, 1])),
        case("registers renamed", Path::Register, 16, &[256, 4, 8], in_lane([2, 1, 0]), in_lane([1, 2, 0])),
        case("nothing to do", Path::None, 16, &[128, 64], rows(8), rows(8)),
    ]
}

/// For warps of 32 lanes, the operands being those of `v_wmma_f32_16x16x16` and of its kin for bytes.
fn cases_of_32_lanes(version: u32) -> Vec<Case> {
    let rows = |size: u64| blocked(&[1, size], &[8, 4], &[4, 1], &[1, 0]);
    let columns = |size: u64| blocked(&[size, 1], &[4, 8], &[1, 4], &[0, 1]);
    let wide = |order: [u64; 2]| blocked(&[1, 1], &[4, 8], &[4, 1], &order);
    let single = |order: [u64; 2]| blocked(&[1, 4], &[8, 4], &[1, 1], &order);
    let operand = |index: u32, k_width: u32| {
        format!(
            "#ttg.dot_op<{{opIdx = {index}, parent = #ttg.amd_wmma<{{version = {version}, isTranspose = false, \
             ctaLayout = {{warp = [[0, 1], [1, 0]]}}, instrShape = [16, 16, 16]}}>, kWidth = {k_width}}}>"
        )
    };
    let width = if version == 1 { 16 } else { 8 };
    vec![
        case("blocked to wmma operand a", Path::Shared, 16, &[128, 64], rows(8), operand(0, width)),
        case("blocked to wmma operand b", Path::Shared, 16, &[128, 64], rows(8), operand(1, width)),
        case("bytes to wmma operand a", Path::Shared, 8, &[128, 64], rows(8), operand(0, width)),
        case("words across warps", Path::Shared, 32, &[64, 64], rows(4), columns(4)),
        case("64-bit elements across warps", Path::Shared, 64, &[64, 64], rows(2), columns(2)),
        case("a source that warps replicate", Path::Shared, 16, &[16, 64], rows(8), columns(1)),
        case("lanes permuted", Path::Shuffle, 32, &[16, 8], wide([1, 0]), wide([0, 1])),
        case("lanes permuted, bytes packed", Path::Shuffle, 8, &[8, 16], single([1, 0]), single([0, 1])),
        case("nothing to do", Path::None, 16, &[128, 64], rows(8), rows(8)),
    ]
}

fn long(warps: [u64; 2]) -> String {
    let threads = if warps[1] == 1 { [4, 16] } else { [8, 8] };
    blocked(&[1, 4], &threads, &warps, &[1, 0])
}

/// Bits that an access to shared memory moves for one lane: `ds_read2st64_b32`, on RDNA
/// `ds_load_2addr_stride64_b32`, moves 64. `None` for a mnemonic of another kind.
fn bits(mnemonic: &str, access: &str) -> Option<u64> {
    let rest = mnemonic.strip_prefix(access)?;
    let pair = rest.strip_prefix('2').or_else(|| rest.strip_prefix("_2addr"));
    let (accesses, rest) = pair.map_or((1, rest), |rest| (2, rest));
    let far = rest.strip_prefix("st64").or_else(|| rest.strip_prefix("_stride64"));
    let rest = far.unwrap_or(rest).strip_prefix('_')?;
    let width = rest.trim_start_matches(['b', 'u', 'i']).split('_').next()?;
    Some(accesses * width.parse::<u64>().unwrap_or_else(|_| panic!("a width in {mnemonic}")))
}

/// The instructions of the kernel.
fn instructions(assembly: &str) -> Vec<&str> {
    let body = assembly.split_once("\nconvert:").unwrap().1.split_once(".section").unwrap().0;
    let lines = body.lines().map(str::trim).filter(|line| !line.starts_with([';', '.']) && !line.is_empty());
    lines.filter_map(|line| line.split_whitespace().next()).collect()
}

/// Barriers of one warp have no instruction here: lanes of a warp run together, and only the order
/// of instructions is kept.
fn movement(assembly: &str) -> Movement {
    let mut movement = Movement::default();
    for mnemonic in instructions(assembly) {
        let of = |cdna, rdna| bits(mnemonic, cdna).or_else(|| bits(mnemonic, rdna));
        if let Some(bits) = of("ds_write", "ds_store") {
            movement.stored_bits += bits;
        } else if let Some(bits) = of("ds_read", "ds_load") {
            movement.loaded_bits += bits;
        } else if mnemonic == "ds_bpermute_b32" || mnemonic.starts_with("v_permlane") && mnemonic.contains("_swap_b32")
        {
            movement.exchanges += 1;
        } else if mnemonic == "s_barrier" || mnemonic == "s_barrier_wait" {
            movement.block_barriers += 1;
        } else {
            // No other way between lanes, to shared memory, or to scratch.
            for other in ["ds_", "v_permlane", "v_readlane", "scratch_", "buffer_", "flat_"] {
                assert!(!mnemonic.starts_with(other), "{mnemonic}: {assembly}");
            }
            assert!(!mnemonic.contains("_dpp"), "{mnemonic}: {assembly}");
        }
    }
    movement
}

/// Every instruction is issued once, so that what is written is what is done: no branch at all,
/// or, where lanes sit out stores, branches forward around what they sit out.
fn goes_straight(assembly: &str, planned: &Planned) {
    let lines: Vec<&str> = assembly.lines().map(str::trim).collect();
    let is_branch = |line: &&str| line.starts_with("s_cbranch") || line.starts_with("s_branch");
    let branches: Vec<(usize, &str)> = lines.iter().copied().enumerate().filter(|(_, line)| is_branch(line)).collect();
    assert!(planned.replicated || branches.is_empty(), "{assembly}");
    for (at, branch) in branches {
        let label = format!("{}:", branch.split_whitespace().nth(1).unwrap());
        assert!(lines[at..].iter().any(|line| line.starts_with(&label)), "{branch} goes back: {assembly}");
    }
}

#[test]
fn the_assembly_moves_what_the_plan_says() {
    for product in CDNA {
        moves_what_the_plan_says(&target(product), cases());
    }
    for (file, text, version) in RDNA {
        moves_what_the_plan_says(&target((file, text)), cases_of_32_lanes(version));
    }
}

fn moves_what_the_plan_says(target: &AmdTarget, cases: Vec<Case>) {
    for case in cases {
        let planned = case.planned(target);
        let artifact = planned.compiled(target, &[Emit::Assembly]);
        let assembly = artifact.text(Emit::Assembly).unwrap();
        let found = movement(assembly);
        assert!(planned.is_done_by(found), "{}: {found:?}, planned {:?}: {assembly}", case.name, planned.movement());
        goes_straight(assembly, &planned);
        for line in [".private_segment_fixed_size: 0", ".sgpr_spill_count: 0", ".vgpr_spill_count: 0"] {
            assert!(assembly.contains(line), "{}: no `{line}` in {assembly}", case.name);
        }
    }
}

/// The figures of the two conversions that matter most, by hand. 128x64 elements of 16 bits over
/// 256 lanes are 32 elements a lane: 512 bits stored. Warps lie two by two, so each operand is
/// wanted by two warps each: twice as much is loaded.
#[test]
fn operands_of_mfma_are_stored_once_and_loaded_by_all_that_want_them() {
    for index in [0, 1] {
        let case = &cases()[index];
        let planned = case.planned(&mi250());
        let artifact = planned.compiled(&mi250(), &[Emit::Assembly]);
        let found = movement(artifact.text(Emit::Assembly).unwrap());
        assert_eq!((found.stored_bits, found.loaded_bits, found.exchanges), (512, 1024, 0), "{}", case.name);
        assert_eq!(planned.plan.shared_bytes, 128 * 64 * 2);
    }
}

#[test]
fn the_cases_are_what_they_are_for() {
    let target = mi250();
    let of = |name: &str| cases().iter().find(|case| case.name == name).unwrap().planned(&target);
    assert!(of("16 warps, more than is at hand at once").plan.counts.barriers > 1, "several rounds");
    assert!(of("a source that warps replicate").replicated);
    let left_out = of("a source whose copies nobody can share out");
    assert!(left_out.replicated);
    assert_eq!(left_out.kernel.to_string().matches(" if ").count(), 1, "a predicated store: {}", left_out.kernel);
    let packed = of("lanes permuted, bytes packed").plan.counts.exchanges;
    let split = of("lanes permuted, 64-bit elements").plan.counts.exchanges;
    assert_eq!((packed, split), (1, 2), "4 bytes a lane in one exchange; 8 bytes a lane in two");
    let gathered = of("bytes of one warp, gathered and scattered").plan.counts;
    assert!(gathered.permutes > 0, "{gathered:?}");
    // LLVM would drop the block barrier of a block of one warp; plans ask for none there.
    assert_eq!(of("bytes of one warp").movement().block_barriers, 0);
}

/// What is read here reads real assembly.
#[test]
fn widths_are_read_from_mnemonics() {
    for (mnemonic, expected) in [
        ("ds_write_b128", Some(128)),
        ("ds_write_b8_d16_hi", Some(8)),
        ("ds_write2_b64", Some(128)),
        ("ds_write2st64_b32", Some(64)),
        ("ds_write_b96", Some(96)),
        ("ds_bpermute_b32", None),
    ] {
        assert_eq!(bits(mnemonic, "ds_write"), expected, "{mnemonic}");
    }
    for (mnemonic, expected) in
        [("ds_store_b128", 128), ("ds_store_2addr_b64", 128), ("ds_store_2addr_stride64_b32", 64), ("ds_store_b8", 8)]
    {
        assert_eq!(bits(mnemonic, "ds_store"), Some(expected), "{mnemonic}");
    }
    assert_eq!(bits("ds_read_u16_d16_hi", "ds_read"), Some(16));
    assert_eq!(bits("ds_read_i8", "ds_read"), Some(8));
}
