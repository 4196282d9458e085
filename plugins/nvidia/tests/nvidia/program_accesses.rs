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

/// Triton's accesses are those for `cuda:90` and four warps. `bool_loop` is missing: LLVM copies its loop for a pitch of 1,
/// so that accesses do not count.
#[test]
fn bools_are_accessed_as_widely_as_by_triton() {
    check_bool_programs(
        &target("h100"),
        read,
        &[
            BoolProgram {
                name: "bool_where",
                loads: &[128, 128, 128, 128, 32, 32],
                stores: &[128, 128],
                triton_loads: &[128, 128, 128, 128, 64],
                triton_stores: &[128, 128],
                reason: "a lane has four words of each load of floats, so that warps load whole sectors",
            },
            BoolProgram {
                name: "bool_copy",
                loads: &[128],
                stores: &[128],
                triton_loads: &[128],
                triton_stores: &[128],
                reason: "",
            },
            BoolProgram {
                name: "bool_not",
                loads: &[32],
                stores: &[32],
                triton_loads: &[32],
                triton_stores: &[32],
                reason: "",
            },
            BoolProgram {
                name: "bool_logic",
                loads: &[64, 64],
                stores: &[64, 64, 64],
                triton_loads: &[64, 64],
                triton_stores: &[64, 64, 64],
                reason: "",
            },
            BoolProgram {
                name: "bool_compare",
                loads: &[128, 128],
                stores: &[64],
                triton_loads: &[128, 128],
                triton_stores: &[64],
                reason: "",
            },
            BoolProgram {
                name: "bool_load_mask",
                loads: &[32, 32, 32, 32, 8, 8, 8, 8],
                stores: &[32; 4],
                triton_loads: &[32, 32, 32, 32, 8, 8, 8, 8],
                triton_stores: &[32; 4],
                reason: "",
            },
            BoolProgram {
                name: "bool_store_mask",
                loads: &[16, 16, 16, 16, 16, 16, 16, 16, 8, 8, 8, 8, 8, 8, 8, 8],
                stores: &[16; 8],
                triton_loads: &[128, 64],
                triton_stores: &[16; 8],
                reason: "masked stores of single elements are coalesced, and loads have their layout",
            },
            BoolProgram {
                name: "bool_count",
                loads: &[128],
                stores: &[32],
                triton_loads: &[128],
                triton_stores: &[32],
                reason: "",
            },
            BoolProgram {
                name: "bool_any_all",
                loads: &[128],
                stores: &[128, 8],
                triton_loads: &[128],
                triton_stores: &[8, 8],
                reason: "",
            },
            BoolProgram {
                name: "bool_transpose",
                loads: &[128],
                stores: &[128],
                triton_loads: &[128],
                triton_stores: &[128],
                reason: "",
            },
            BoolProgram {
                name: "bool_outer",
                loads: &[128, 128, 32, 8, 8],
                stores: &[128, 128],
                triton_loads: &[128, 128, 32, 8, 8],
                triton_stores: &[128, 128],
                reason: "",
            },
        ],
    );
}
