//! Loads and stores of tiles in shared memory by `ldmatrix` and `stmatrix`: operands and accumulators of `mma.sync` in
//! swizzled, padded and bulk-copied layouts. Counts of accesses are those of Triton 3.9.0's PTX for the same layouts,
//! unless noted.

use crate::layouts::{dot_operand, mma, nvmma_shared};
use crate::prelude::*;
use tilewright_vendor_testkit::accesses::layouts::format_blocked_layout;
use tilewright_vendor_testkit::accesses::{Case, count, format_swizzled_layout};

const ROWS: &str = "ldmatrix.sync.aligned.m8n8.x4.shared.b16";
const COLUMNS: &str = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16";
const BYTE_COLUMNS: &str = "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8";

/// Returns the layout of a result of `mma.sync` by four warps along its rows.
fn result() -> String {
    mma(2, &[4, 1], &[16, 8])
}

/// Returns the layout of a tile of `bits`-bit elements that bulk tensor copies write.
fn bulk(transposed: bool, bits: u32) -> String {
    nvmma_shared(128, transposed, bits)
}

const A: &[u64] = &[128, 64];
const B: &[u64] = &[64, 128];

/// Returns a case of 16-bit elements. Each warp needs 32 rows of 64 elements of operand A, which are 4096 bytes and
/// take 32 wavefronts. Each warp needs all of operand B, four times as much.
fn f16_case(name: &'static str, index: u64, memory: String, by: &'static str, wavefronts: u64) -> Case {
    let (shape, accesses) = if index == 0 { (A, 8) } else { (B, 32) };
    Case {
        name,
        bits: 16,
        shape,
        registers: dot_operand(index, &result(), 2),
        memory,
        by: Some(by),
        accesses,
        wavefronts,
    }
}

fn bytes(name: &'static str, index: u64, memory: String, by: &'static str) -> Case {
    let (shape, accesses) = if index == 0 { (A, 4) } else { (B, 16) };
    let wavefronts = 4 * accesses;
    Case {
        name,
        bits: 8,
        shape,
        registers: dot_operand(index, &result(), 4),
        memory,
        by: Some(by),
        accesses,
        wavefronts,
    }
}

fn loads_of_ampere() -> Vec<Case> {
    let (k_of_a, m_of_a) = ([1, 0], [0, 1]);
    vec![
        f16_case("a, k contiguous", 0, format_swizzled_layout(8, 1, 8, k_of_a), ROWS, 32),
        f16_case("a, m contiguous", 0, format_swizzled_layout(8, 1, 8, m_of_a), COLUMNS, 32),
        f16_case("b, k contiguous", 1, format_swizzled_layout(8, 1, 8, [0, 1]), ROWS, 128),
        f16_case("b, n contiguous", 1, format_swizzled_layout(8, 1, 8, [1, 0]), COLUMNS, 128),
        // Rows of 128 bytes occupy the same banks: eight wavefronts a matrix.
        f16_case("a, not swizzled", 0, format_swizzled_layout(1, 1, 1, k_of_a), ROWS, 256),
        // Rows of 128 bytes with 16 bytes of padding. Triton: 32 plain 32-bit loads, as many wavefronts.
        f16_case(
            "a, padded",
            0,
            "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [128, 64]}>".to_owned(),
            ROWS,
            32,
        ),
        bytes("bytes of a, k contiguous", 0, format_swizzled_layout(16, 2, 4, k_of_a), ROWS),
    ]
}

/// Checks the loads of the cases on a target, and that the code has as many accesses as Triton's.
fn are_loaded(target: &NvidiaTarget, cases: impl IntoIterator<Item = Case>) {
    for case in cases {
        let ptx = case.loaded(target).assembly(target);
        assert_eq!(count(&ptx, case.by.unwrap()), case.accesses, "{}: {ptx}", case.name);
    }
}

/// Checks the stores of the cases on a target, and that the code has as many accesses as Triton's.
fn are_stored(target: &NvidiaTarget, cases: impl IntoIterator<Item = Case>) {
    for case in cases {
        let ptx = case.stored(target).assembly(target);
        assert_eq!(count(&ptx, case.by.unwrap()), case.accesses, "{}: {ptx}", case.name);
    }
}

#[test]
fn operands_are_loaded_by_ldmatrix() {
    are_loaded(&target("a100"), loads_of_ampere());
}

#[test]
fn operands_in_bulk_copied_memory_are_loaded_by_ldmatrix() {
    let cases = [
        f16_case("a, k contiguous", 0, bulk(false, 16), ROWS, 32),
        f16_case("a, m contiguous", 0, bulk(true, 16), COLUMNS, 32),
        f16_case("b, n contiguous", 1, bulk(false, 16), COLUMNS, 128),
    ];
    are_loaded(&target("h100"), cases);
}

#[test]
fn transposed_bytes_are_loaded_by_ldmatrix_where_there_is_one() {
    let case = || bytes("bytes of a, m contiguous", 0, format_swizzled_layout(16, 1, 8, [0, 1]), BYTE_COLUMNS);
    for name in ["b200", "rtx5090"] {
        let cases = [
            case(),
            bytes("bytes of b, n contiguous", 1, format_swizzled_layout(16, 1, 8, [1, 0]), BYTE_COLUMNS),
            bytes("bytes of a in bulk-copied memory", 0, bulk(true, 8), BYTE_COLUMNS),
        ];
        are_loaded(&target(name), cases);
    }
    // Without `ldmatrix` every byte is loaded separately, as in Triton.
    let plain = Case { by: None, accesses: 64, wavefronts: 128, ..case() };
    plain.loaded(&target("a100"));
}

#[test]
fn accumulators_are_stored_by_stmatrix() {
    let rows = Some("stmatrix.sync.aligned.m8n8.x4.shared.b16");
    let columns = Some("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16");
    let case = |name, memory, by| {
        let registers = mma(3, &[4, 1], &[16, 64, 16]);
        Case { name, bits: 16, shape: A, registers, memory, by, accesses: 8, wavefronts: 32 }
    };
    let cases = [
        case("to bulk-copied memory", bulk(false, 16), rows),
        case("to bulk-copied memory, transposed", bulk(true, 16), columns),
        case("to swizzled memory", format_swizzled_layout(8, 1, 8, [1, 0]), rows),
        case("to swizzled memory, transposed", format_swizzled_layout(8, 1, 8, [0, 1]), columns),
    ];
    are_stored(&target("h100"), cases);
}

#[test]
fn bytes_are_stored_transposed_by_stmatrix_where_there_is_one() {
    let by = "stmatrix.sync.aligned.m16n8.x4.trans.shared.b8";
    let case = bytes("result", 0, format_swizzled_layout(16, 1, 8, [0, 1]), by);
    are_stored(&target("b200"), [Case { registers: result(), accesses: 4, ..case }]);
}

/// Returns the address registers and the immediates of loads from shared memory.
fn addresses(ptx: &str) -> (BTreeSet<&str>, BTreeSet<u64>) {
    let loads = ptx.lines().map(str::trim).filter(|line| line.starts_with("ld.shared") || line.starts_with("ldmatrix"));
    let address = |line| {
        let (_, address) = str::split_once(line, '[').unwrap();
        address.split_once(']').unwrap().0
    };
    loads
        .map(address)
        .map(|address| address.split_once('+').map_or((address, 0), |(r, i)| (r, i.parse().unwrap())))
        .unzip()
}

/// Checks that a lane computes one address, and all other addresses differ by immediates, if register bits share no
/// offset bit with thread bits.
#[test]
fn one_address_is_computed_and_all_else_is_immediate() {
    let target = target("h100");
    let by_rows = || f16_case("by rows", 0, format_swizzled_layout(1, 1, 1, [1, 0]), ROWS, 256);
    let registers = format_blocked_layout(&[1, 8], &[4, 8], &[4, 1], &[1, 0]);
    let plain = Case { name: "plain", registers, by: None, wavefronts: 32, ..by_rows() };
    for case in [plain, by_rows()] {
        let ptx = case.loaded(&target).assembly(&target);
        let (registers, immediates) = addresses(&ptx);
        assert_eq!((registers.len(), immediates.len() as u64), (1, case.accesses), "{}: {ptx}", case.name);
    }
}
