//! Widths of global-memory accesses in AMD assembly: contiguity across axes, and tensors of bools.

use crate::targets::target;
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::program_accesses::{BoolProgram, check_bool_programs, check_table_3};

/// Reads accesses such as `global_load_dwordx2`.
fn read(line: &str) -> Option<(Direction, u32)> {
    let mnemonic = line.split_whitespace().next()?;
    let load = mnemonic.strip_prefix("global_load_").map(|rest| (Direction::Load, rest));
    let (direction, rest) = load.or_else(|| Some((Direction::Store, mnemonic.strip_prefix("global_store_")?)))?;
    let bits = match rest {
        "dwordx4" => 128,
        "dwordx3" => 96,
        "dwordx2" => 64,
        "dword" => 32,
        _ if rest.contains("short") => 16,
        _ if rest.contains("byte") => 8,
        other => panic!("the width of {other}"),
    };
    Some((direction, bits))
}

#[test]
fn accesses_are_read_from_assembly() {
    assert_eq!(read("\tglobal_load_dwordx2 v[0:1], v2, s[0:1]"), Some((Direction::Load, 64)));
    assert_eq!(read("\tglobal_store_byte_d16_hi v0, v1, s[2:3]"), Some((Direction::Store, 8)));
    assert_eq!(read("\ts_load_dwordx4 s[0:3], s[4:5], 0x0"), None);
}

#[test]
fn seed_table_3_widths_of_programs() {
    check_table_3(&target("mi300x"), read);
}

/// Triton 3.9.0's accesses for `gfx942` and four warps. It unrolls the loop of `bool_loop`.
#[test]
fn bools_are_accessed_as_widely_as_by_triton() {
    let program = |name, loads, stores| BoolProgram { name, loads, stores };
    check_bool_programs(
        &target("mi300x"),
        read,
        &[
            program("bool_where", &[128, 128, 32], &[128]),
            program("bool_copy", &[64], &[64]),
            program("bool_not", &[16], &[16]),
            program("bool_logic", &[32, 32], &[32, 32, 32]),
            program("bool_compare", &[64, 64], &[32]),
            program("bool_load_mask", &[32, 32, 8, 8], &[32, 32]),
            program("bool_store_mask", &[64, 32], &[16; 4]),
            program("bool_count", &[64], &[32]),
            program("bool_any_all", &[64], &[8, 8]),
            program("bool_transpose", &[64], &[64]),
            program("bool_outer", &[128, 32, 8], &[128]),
            program("bool_loop", &[16; 9], &[16, 16]),
        ],
    );
}
