//! The layouts of `amd_rotating_shared`, compared element by element with the tables in Triton's description of the
//! attribute, and with the rule stated there.
#![allow(clippy::unwrap_used)]

use tilewright_amd_tables::families::AmdFamilies;
use tilewright_layout::spec_from_json;
use tilewright_vendor_testkit::prelude::*;

fn memory(text: &str, shape: &[u64]) -> MemoryLayout {
    let vendor_families = AmdFamilies::for_architecture("gfx942");
    let spec = if text.starts_with('{') {
        spec_from_json(&serde_json::from_str(text).unwrap()).unwrap()
    } else {
        parse_family_spec(text).unwrap()
    };
    match vendor_families.resolve(&spec, shape, &vendor_families).unwrap() {
        Layout::Memory(memory) => memory,
        other => panic!("{other:?} is not a memory layout"),
    }
}

/// Returns the row-major indices of the elements at successive memory offsets.
fn elements(memory: &MemoryLayout, columns: u64) -> Vec<u64> {
    let at = |offset| {
        let coordinates = memory.linear.apply(&[(Dim::OFFSET, offset), (Dim::BLOCK, 0)]).unwrap();
        coordinates[0].1 * columns + coordinates[1].1
    };
    (0..1 << memory.linear.in_bits(Dim::OFFSET)).map(at).collect()
}

fn spec(vec: u64, per_phase: u64, max_phase: u64, order: &str) -> String {
    format!(
        "#ttg.amd_rotating_shared<{{vec = {vec}, perPhase = {per_phase}, maxPhase = {max_phase}, order = {order}}}>"
    )
}

#[test]
fn the_tables_of_the_description() {
    let table = |per_phase, max_phase| elements(&memory(&spec(1, per_phase, max_phase, "[1, 0]"), &[8, 4]), 4);
    #[rustfmt::skip]
    assert_eq!(table(1, 2), [
        0, 1, 2, 3,  5, 4, 7, 6,  9, 8, 11, 10,  12, 13, 14, 15,
        16, 17, 18, 19,  21, 20, 23, 22,  25, 24, 27, 26,  28, 29, 30, 31,
    ]);
    #[rustfmt::skip]
    assert_eq!(table(2, 2), [
        0, 1, 2, 3,  4, 5, 6, 7,  9, 8, 11, 10,  13, 12, 15, 14,
        17, 16, 19, 18,  21, 20, 23, 22,  24, 25, 26, 27,  28, 29, 30, 31,
    ]);
    #[rustfmt::skip]
    assert_eq!(table(1, 4), [
        0, 1, 2, 3,  5, 4, 7, 6,  10, 11, 8, 9,  15, 14, 13, 12,
        17, 16, 19, 18,  20, 21, 22, 23,  27, 26, 25, 24,  30, 31, 28, 29,
    ]);
}

#[test]
fn elements_follow_the_swizzle_rule() {
    for (vec, per_phase, max_phase, [rows, columns]) in
        [(4, 2, 8, [256, 32]), (4, 1, 16, [64, 64]), (8, 1, 8, [128, 128]), (1, 1, 4, [4, 2]), (2, 4, 1, [16, 8])]
    {
        let memory = memory(&spec(vec, per_phase, max_phase, "[1, 0]"), &[rows, columns]);
        let phase = |row: u64| ((row / per_phase) % max_phase) ^ ((row / (per_phase * max_phase)) % max_phase);
        for (offset, element) in elements(&memory, columns).into_iter().enumerate() {
            let (row, column) = (element / columns, element % columns);
            // Groups of `vec` columns are xored; those beyond the row wrap around.
            let swizzled = column ^ ((vec * phase(row)) % columns);
            assert_eq!(offset as u64, row * columns + swizzled, "{vec} {per_phase} {max_phase}: ({row}, {column})");
        }
    }
}

#[test]
fn the_other_order_swaps_the_axes_and_further_axes_follow() {
    let by_rows = memory(&spec(4, 2, 8, "[1, 0]"), &[128, 32]).linear;
    let by_columns = memory(&spec(4, 2, 8, "[0, 1]"), &[32, 128]).linear;
    for offset in 0..4096 {
        let tensor_coordinates = |layout: &tilewright_layout::LinearLayout| {
            layout.apply(&[(Dim::OFFSET, offset), (Dim::BLOCK, 0)]).unwrap().iter().map(|o| o.1).collect::<Vec<_>>()
        };
        let (row, column) = (tensor_coordinates(&by_rows), tensor_coordinates(&by_columns));
        assert_eq!(row, [column[1], column[0]], "{offset}");
    }
    let batch = memory(&spec(4, 2, 8, "[2, 1, 0]"), &[2, 128, 32]).linear;
    let last = batch.bases_of(Dim::OFFSET).pop().unwrap();
    assert_eq!(last, [1, 0, 0]);
    let line = memory(&spec(4, 2, 8, "[0]"), &[64]).linear;
    assert_eq!(line.bases_of(Dim::OFFSET), [1, 2, 4, 8, 16, 32].map(|unit| vec![unit]));
}

#[test]
fn blocks_of_a_cluster_swizzle_their_own_share() {
    let json = r#"{"kind": "amd_rotating_shared", "vec": 2, "per_phase": 1, "max_phase": 4, "order": [1, 0],
        "cga_layout": [[0, 1]]}"#;
    let (both, one) = (memory(json, &[16, 32]), memory(&spec(2, 1, 4, "[1, 0]"), &[16, 16]));
    assert_eq!(both.linear.bases_of(Dim::OFFSET), one.linear.bases_of(Dim::OFFSET));
    assert_eq!(both.linear.bases_of(Dim::BLOCK), [[0, 16]]);
    assert_eq!(both.alignment, Some(16));
}

#[test]
fn rows_and_columns_are_both_read_without_conflicts() {
    // 64 rows of 64 elements of 16 bits, eight bytes at a time: 16 lanes read a row, or four columns of 16 consecutive
    // rows. Each phase of 16 lanes must access all 32 banks once.
    let memory = memory(&spec(4, 1, 16, "[1, 0]"), &[64, 64]);
    let elements = elements(&memory, 64);
    let offset = |row: u64, column: u64| elements.iter().position(|&e| e == row * 64 + column).unwrap() as u64;
    let banks = |positions: &mut dyn Iterator<Item = (u64, u64)>| {
        let words = positions.flat_map(|(row, column)| [0, 1].map(|word| offset(row, column) / 2 + word));
        words.map(|word| word % 32).collect::<std::collections::BTreeSet<_>>().len()
    };
    for start in [0, 16, 48] {
        assert_eq!(banks(&mut (0..16).map(|lane| (start, 4 * lane))), 32);
        assert_eq!(banks(&mut (0..16).map(|lane| (start + lane, 8))), 32);
        // Rows sixteen apart start at different phases, so that columns of every fourth row are free of conflicts too.
        assert_eq!(banks(&mut (0..16).map(|lane| (4 * lane + start / 16, 8))), 32);
    }
}
