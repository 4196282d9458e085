//! Widths of global-memory accesses in AMD assembly: contiguity across axes, and tensors of bools.

use crate::targets::target;
use tilewright_vendor_testkit::prelude::*;
use tilewright_vendor_testkit::program_accesses::{BoolProgram, check_bool_programs, check_table_3};

/// Reads accesses such as `global_load_dwordx2`, and those through buffer descriptors.
fn read(line: &str) -> Option<(Direction, u32)> {
    let mnemonic = line.split_whitespace().next()?;
    let access = mnemonic.strip_prefix("global_").or_else(|| mnemonic.strip_prefix("buffer_"))?;
    let load = access.strip_prefix("load_").map(|rest| (Direction::Load, rest));
    let (direction, rest) = load.or_else(|| Some((Direction::Store, access.strip_prefix("store_")?)))?;
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
    assert_eq!(read("\tbuffer_load_ushort v0, v1, s[4:7], 0 offen"), Some((Direction::Load, 16)));
    assert_eq!(read("\ts_load_dwordx4 s[0:3], s[4:5], 0x0"), None);
}

#[test]
fn seed_table_3_widths_of_programs() {
    check_table_3(&target("mi300x"), read);
}

/// Triton's accesses are those for `gfx942` and four warps. `bool_loop` is missing: LLVM copies its loop for a pitch of
/// 1, so that accesses do not count.
#[test]
fn bools_are_accessed_as_widely_as_by_triton() {
    check_bool_programs(
        &target("mi300x"),
        read,
        &[
            BoolProgram {
                name: "bool_where",
                loads: &[128, 128, 32],
                stores: &[128],
                triton_loads: &[128, 128, 32],
                triton_stores: &[128],
                reason: "",
            },
            BoolProgram {
                name: "bool_copy",
                loads: &[64],
                stores: &[64],
                triton_loads: &[64],
                triton_stores: &[64],
                reason: "",
            },
            BoolProgram {
                name: "bool_not",
                loads: &[16],
                stores: &[16],
                triton_loads: &[16],
                triton_stores: &[16],
                reason: "",
            },
            BoolProgram {
                name: "bool_logic",
                loads: &[32, 32],
                stores: &[32, 32, 32],
                triton_loads: &[32, 32],
                triton_stores: &[32, 32, 32],
                reason: "",
            },
            BoolProgram {
                name: "bool_compare",
                loads: &[64, 64],
                stores: &[32],
                triton_loads: &[64, 64],
                triton_stores: &[32],
                reason: "",
            },
            BoolProgram {
                name: "bool_load_mask",
                loads: &[32, 32, 8, 8],
                stores: &[32, 32],
                triton_loads: &[32, 32, 8, 8],
                triton_stores: &[32, 32],
                reason: "",
            },
            BoolProgram {
                name: "bool_store_mask",
                loads: &[16, 16, 16, 16, 8, 8, 8, 8],
                stores: &[16; 4],
                triton_loads: &[64, 32],
                triton_stores: &[16; 4],
                reason: "masked stores of single elements are coalesced, and loads have their layout",
            },
            BoolProgram {
                name: "bool_count",
                loads: &[64],
                stores: &[32],
                triton_loads: &[64],
                triton_stores: &[32],
                reason: "",
            },
            BoolProgram {
                name: "bool_any_all",
                loads: &[64],
                stores: &[64, 8],
                triton_loads: &[64],
                triton_stores: &[8, 8],
                reason: "",
            },
            BoolProgram {
                name: "bool_transpose",
                loads: &[64],
                stores: &[64],
                triton_loads: &[64],
                triton_stores: &[64],
                reason: "",
            },
            BoolProgram {
                name: "bool_outer",
                loads: &[128, 32, 8],
                stores: &[128],
                triton_loads: &[128, 32, 8],
                triton_stores: &[128],
                reason: "",
            },
        ],
    );
}
