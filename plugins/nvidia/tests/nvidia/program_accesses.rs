//! Widths of global-memory accesses in PTX: contiguity across axes, and tensors of bools.

use crate::prelude::*;
use tilewright_vendor_testkit::program_accesses::{BoolProgram, check_bool_programs, check_table_3};

/// Reads accesses such as `ld.global.v2.b32`, possibly predicated.
fn read(line: &str) -> Option<(Direction, u32)> {
    let mnemonic = line.split_whitespace().find(|word| !word.starts_with(['@', '{']))?;
    let (direction, rest) = match mnemonic.split_once(".global")? {
        ("ld", rest) => (Direction::Load, rest),
        ("st", rest) => (Direction::Store, rest),
        _ => return None,
    };
    let parts: Vec<&str> = rest.split('.').collect();
    let elements = parts.iter().find_map(|part| part.strip_prefix('v')?.parse::<u32>().ok()).unwrap_or(1);
    let bits: u32 = parts.last()?.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()).parse().ok()?;
    Some((direction, elements * bits))
}

#[test]
fn accesses_are_read_from_ptx() {
    assert_eq!(read("\tld.global.v2.b32 \t{%r1, %r2}, [%rd3];"), Some((Direction::Load, 64)));
    assert_eq!(read("\t@%p1 st.global.b8 \t[%rd3], %rs1;"), Some((Direction::Store, 8)));
    assert_eq!(read("\tld.param.b64 \t%rd1, [f_param_0];"), None);
}

#[test]
fn seed_table_3_widths_of_programs() {
    check_table_3(&target("gh200"), read);
}

/// Triton 3.9.0's accesses for `cuda:90` and four warps.
#[test]
fn bools_are_accessed_as_widely_as_by_triton() {
    let program = |name, loads, stores| BoolProgram { name, loads, stores };
    check_bool_programs(
        &target("h100"),
        read,
        &[
            program("bool_where", &[128, 128, 128, 128, 64], &[128, 128]),
            program("bool_copy", &[128], &[128]),
            program("bool_not", &[32], &[32]),
            program("bool_logic", &[64, 64], &[64, 64, 64]),
            program("bool_compare", &[128, 128], &[64]),
            program("bool_load_mask", &[32, 32, 32, 32, 8, 8, 8, 8], &[32, 32, 32, 32]),
            program("bool_store_mask", &[128, 64], &[16; 8]),
            program("bool_count", &[128], &[32]),
            program("bool_any_all", &[128], &[8, 8]),
            program("bool_transpose", &[128], &[128]),
            program("bool_outer", &[128, 128, 32, 8, 8], &[128, 128]),
            program("bool_loop", &[32], &[32]),
        ],
    );
}
