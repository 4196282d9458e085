//! The PTX of conversions, looked at: what a lane stores to shared memory and loads from it, the
//! shuffles and the barriers are those of the plan, and nothing goes to local memory.
#![allow(clippy::unwrap_used)]

#[path = "../../llvm/tests/conversions/mod.rs"]
mod conversions;

use conversions::{Case, Movement, Planned, blocked};
use tilewright::movement::Path;
use tilewright::target::TargetDescription;
use tilewright::vendor::Emit;
use tilewright_nvidia::{NvidiaTarget, object};

fn h100() -> NvidiaTarget {
    let text = include_str!("../../../targets/h100.toml");
    NvidiaTarget::new(TargetDescription::from_toml("h100.toml", text).unwrap()).unwrap()
}

/// An operand of `mma.sync`, for four warps along the rows of the result.
fn mma_operand(index: u32, k_width: u32) -> String {
    format!(
        "#ttg.dot_op<{{opIdx = {index}, parent = #ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, \
         warpsPerCTA = [4, 1], instrShape = [16, 8]}}>, kWidth = {k_width}}}>"
    )
}

fn case(name: &'static str, path: Path, bits: u32, shape: &'static [u64], src: String, dst: String) -> Case {
    Case { name, path, bits, shape, src, dst }
}

fn cases() -> Vec<Case> {
    let rows = |size: u64| blocked(&[1, size], &[4, 8], &[4, 1], &[1, 0]);
    let columns = |size: u64| blocked(&[size, 1], &[8, 4], &[1, 4], &[0, 1]);
    let wide = |order: [u64; 2]| blocked(&[1, 1], &[4, 8], &[4, 1], &order);
    let single = |order: [u64; 2]| blocked(&[1, 4], &[4, 8], &[1, 1], &order);
    let in_lane = |order: [u64; 3]| blocked(&[1, 2, 4], &[32, 1, 1], &[4, 1, 1], &order);
    vec![
        case("blocked to mma operand a", Path::Shared, 16, &[128, 64], rows(8), mma_operand(0, 2)),
        case("blocked to mma operand b", Path::Shared, 16, &[128, 64], rows(8), mma_operand(1, 2)),
        case("bytes to mma operand a", Path::Shared, 8, &[128, 64], rows(16), mma_operand(0, 4)),
        case("words across warps", Path::Shared, 32, &[64, 64], rows(4), columns(4)),
        case("64-bit elements across warps", Path::Shared, 64, &[64, 64], rows(2), columns(2)),
        case("16 warps, more than is at hand at once", Path::Shared, 32, &[256, 128], long([16, 1]), long([8, 2])),
        case("a source that warps replicate", Path::Shared, 16, &[8, 64], rows(8), columns(1)),
        case(
            "a source whose copies nobody can share out",
            Path::Shared,
            32,
            &[8, 8],
            wide([1, 0]),
            blocked(&[1, 1], &[8, 4], &[1, 4], &[1, 0]),
        ),
        case(
            "words of one warp",
            Path::Shared,
            32,
            &[16, 32],
            single([1, 0]),
            blocked(&[4, 1], &[4, 8], &[1, 1], &[1, 0]),
        ),
        case("lanes permuted", Path::Shuffle, 32, &[16, 8], wide([1, 0]), wide([0, 1])),
        case("lanes permuted, bytes packed", Path::Shuffle, 8, &[4, 32], single([1, 0]), single([0, 1])),
        case("lanes permuted, 64-bit elements", Path::Shuffle, 64, &[16, 8], wide([1, 0]), wide([0, 1])),
        case("registers renamed", Path::Register, 16, &[128, 4, 8], in_lane([2, 1, 0]), in_lane([1, 2, 0])),
        case("nothing to do", Path::None, 16, &[128, 64], rows(8), rows(8)),
    ]
}

fn long(warps: [u64; 2]) -> String {
    let threads = if warps[1] == 1 { [4, 8] } else { [8, 4] };
    blocked(&[1, 4], &threads, &warps, &[1, 0])
}

/// Bits that a PTX access moves for one lane: `ld.shared.v4.b32` moves 128.
fn bits(mnemonic: &str) -> u64 {
    mnemonic.split('.').fold(1, |bits, part| match part.split_at(1) {
        ("v" | "b" | "u" | "s", number) => bits * number.parse::<u64>().unwrap_or(1),
        _ => bits,
    })
}

/// The instructions of the kernel: mnemonics, behind their predicates.
fn instructions(ptx: &str) -> Vec<&str> {
    let body = ptx.split_once(".entry convert").unwrap().1;
    let words = body.lines().map(str::trim).filter(|line| line.ends_with(';') || line.ends_with(':'));
    words.filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@'))).collect()
}

fn movement(ptx: &str) -> Movement {
    let mut movement = Movement::default();
    for mnemonic in instructions(ptx) {
        match mnemonic {
            _ if mnemonic.starts_with("st.shared") => movement.stored_bits += bits(mnemonic),
            _ if mnemonic.starts_with("ld.shared") => movement.loaded_bits += bits(mnemonic),
            _ if mnemonic.starts_with("shfl.sync.idx.b32") => movement.exchanges += 1,
            _ if mnemonic.starts_with("bar.warp.sync") => movement.warp_barriers += 1,
            _ if mnemonic.starts_with("bar.sync") || mnemonic.starts_with("barrier") => movement.block_barriers += 1,
            _ => {}
        }
        for other in ["ld.local", "st.local", "shfl.sync.b", "ldmatrix", "stmatrix", "atom", "red", "call"] {
            assert!(!mnemonic.starts_with(other), "{mnemonic}: {ptx}");
        }
    }
    assert!(!ptx.contains(".local"), "no local memory: {ptx}");
    movement
}

/// Every instruction is issued once, so that what is written is what is done: no branch at all,
/// or, where lanes sit out stores, branches forward around what they sit out.
fn goes_straight(ptx: &str, planned: &Planned) {
    let lines: Vec<&str> = ptx.lines().map(str::trim).collect();
    let branches: Vec<(usize, &str)> = lines.iter().copied().enumerate().filter(|(_, l)| l.contains("bra ")).collect();
    assert!(planned.replicated || branches.is_empty(), "{ptx}");
    for (at, branch) in branches {
        let label = format!("{}:", branch.trim_end_matches(';').split_whitespace().last().unwrap());
        assert!(lines[at..].iter().any(|line| line.starts_with(&label)), "{branch} goes back: {ptx}");
    }
}

#[test]
fn the_ptx_moves_what_the_plan_says() {
    let target = h100();
    for case in cases() {
        let planned = case.planned(&target);
        let artifact = planned.compiled(&target, &[Emit::Assembly]);
        let ptx = artifact.text(Emit::Assembly).unwrap();
        let found = movement(ptx);
        assert!(planned.is_done_by(found), "{}: {found:?}, planned {:?}: {ptx}", case.name, planned.movement());
        goes_straight(ptx, &planned);
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
        let found = movement(artifact.text(Emit::Assembly).unwrap());
        assert_eq!((found.stored_bits, found.loaded_bits, found.exchanges), (1024, loaded_bits, 0), "{}", case.name);
        assert_eq!(planned.plan.shared_bytes, 128 * 64 * 2);
    }
}

#[test]
fn the_cases_are_what_they_are_for() {
    let target = h100();
    let of = |name: &str| cases().iter().find(|case| case.name == name).unwrap().planned(&target);
    assert!(of("16 warps, more than is at hand at once").plan.counts.barriers > 1, "several rounds");
    assert!(of("a source that warps replicate").replicated);
    let left_out = of("a source whose copies nobody can share out");
    assert!(left_out.replicated);
    assert_eq!(left_out.kernel.to_string().matches(" if ").count(), 1, "a predicated store: {}", left_out.kernel);
    let packed = of("lanes permuted, bytes packed").plan.counts.exchanges;
    let split = of("lanes permuted, 64-bit elements").plan.counts.exchanges;
    assert_eq!((packed, split), (1, 2), "4 bytes a lane in one exchange; 8 bytes a lane in two");
    assert_eq!(of("words of one warp").movement().block_barriers, 0);
}

/// What is read here reads real PTX.
#[test]
fn widths_are_read_from_mnemonics() {
    for (mnemonic, expected) in
        [("st.shared.v4.b32", 128), ("ld.shared.b16", 16), ("ld.shared.v2.b64", 128), ("st.shared.u8", 8)]
    {
        assert_eq!(bits(mnemonic), expected, "{mnemonic}");
    }
}

#[test]
fn the_vendors_assembler_spills_nothing() {
    let Some(ptxas) = object::assembler() else {
        eprintln!("no ptxas here (TILEWRIGHT_PTXAS or PATH): spills in machine code are not looked for");
        return;
    };
    let target = h100();
    for case in cases() {
        let artifact = case.planned(&target).compiled(&target, &[Emit::Assembly]);
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("convert.ptx");
        std::fs::write(&file, artifact.text(Emit::Assembly).unwrap()).unwrap();
        let mut command = std::process::Command::new(&ptxas);
        let output = command.args(["-v", "-arch=sm_90a", "-o"]).arg(directory.path().join("cubin")).arg(&file).output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}: {said}", case.name);
        let none = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads";
        assert!(said.contains(none), "{}: {said}", case.name);
    }
    eprintln!("assembled by {}", ptxas.display());
}
