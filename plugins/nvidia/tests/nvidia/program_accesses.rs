//! Widths of global-memory accesses in PTX: contiguity across axes, tensors of bools, accesses of several operations.

use std::collections::BTreeSet;

use crate::prelude::*;
use crate::virtual_device::bench::{Given, Shape, device_of, run_on};
use half::f16;
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

/// A program that rotates pairs of adjacent numbers in place, as rotary embeddings do: it loads and stores the even and
/// the odd elements by separate operations. `offset` is the distance of the first pair from the pointer, in elements.
fn rotate_pairs(offset: u32) -> String {
    format!(
        "module {{
  tt.func public @f(%x: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}) {{
    %i = tt.make_range {{end = 256 : i32, start = 0 : i32}} : tensor<256xi32>
    %two = arith.constant dense<2> : tensor<256xi32>
    %one = arith.constant dense<1> : tensor<256xi32>
    %by = arith.constant dense<{offset}> : tensor<256xi32>
    %double = arith.muli %i, %two : tensor<256xi32>
    %even = arith.addi %double, %by : tensor<256xi32>
    %odd = arith.addi %even, %one : tensor<256xi32>
    %xs = tt.splat %x : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
    %pa = tt.addptr %xs, %even : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
    %pb = tt.addptr %xs, %odd : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
    %a = tt.load %pa : tensor<256x!tt.ptr<f16>>
    %b = tt.load %pb : tensor<256x!tt.ptr<f16>>
    %sum = arith.addf %a, %b : tensor<256xf16>
    %difference = arith.subf %a, %b : tensor<256xf16>
    tt.store %pa, %difference : tensor<256x!tt.ptr<f16>>
    tt.store %pb, %sum : tensor<256x!tt.ptr<f16>>
    tt.return
  }}
}}
"
    )
}

/// Checks that accesses of adjacent elements by several operations are merged if the first one is aligned for both, and
/// that elements keep their values.
#[test]
fn pairs_of_adjacent_elements_are_accessed_together() {
    let target = target("h100");
    for (offset, bits) in [(0, 32), (1, 16)] {
        let kernel = compiler(&target).compile_kernel(
            &rotate_pairs(offset),
            &ProgramOptions::default().with_warps(4),
            &mut |_| {},
        );
        let kernel = kernel.unwrap_or_else(|error| panic!("{error}"));
        let ptx = assembly(&target, vec![kernel]);
        let widths: BTreeSet<u32> = ptx.lines().filter_map(read).map(|(_, bits)| bits).collect();
        assert_eq!(widths, BTreeSet::from([bits]), "{offset}: {ptx}");
        let number = |index: u32| f16::from_bits(0x3c00 + index as u16).to_f32();
        let given: Vec<u8> = (0..514).flat_map(|index| (0x3c00 + index as u16).to_le_bytes()).collect();
        let (_, mut device) = device_of("h100");
        let (left, _) = run_on(&mut device, &ptx, "f", Shape::warps(4), &[Given::Buffer(given)]).unwrap();
        for pair in 0..256 {
            let at = |index: u32| {
                let bytes = &left[0][2 * index as usize..][..2];
                f16::from_le_bytes([bytes[0], bytes[1]]).to_f32()
            };
            let (even, odd) = (2 * pair + offset, 2 * pair + offset + 1);
            let rounded = |value: f32| f16::from_f32(value).to_f32();
            assert_eq!(at(even), rounded(number(even) - number(odd)), "pair {pair}");
            assert_eq!(at(odd), rounded(number(even) + number(odd)), "pair {pair}");
        }
    }
}

/// A program that adds to each element the number of its row, whose length is an argument: `x[i] += rows[i / n]`.
const ADD_TO_ROWS: &str = "module {
  tt.func public @f(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %rows: !tt.ptr<i32> {tt.divisibility = 16 : i32}, \
    %n: i32 {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %by = tt.splat %n : i32 -> tensor<1024xi32>
    %row = arith.divsi %i, %by : tensor<1024xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %px = tt.addptr %xs, %i : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
    %a = tt.load %px : tensor<1024x!tt.ptr<i32>>
    %starts = tt.splat %rows : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %pr = tt.addptr %starts, %row : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
    %b = tt.load %pr : tensor<1024x!tt.ptr<i32>>
    %sum = arith.addi %a, %b : tensor<1024xi32>
    tt.store %px, %sum : tensor<1024x!tt.ptr<i32>>
    tt.return
  }
}
";

/// Checks that a lane of a layout with 16-byte accesses divides once and loads the number of the row once for each
/// access, as the elements of one access have one row.
#[test]
fn equal_elements_are_computed_and_loaded_once() {
    let target = target("h100");
    let kernel = compiler(&target).compile_kernel(ADD_TO_ROWS, &ProgramOptions::default().with_warps(4), &mut |_| {});
    let ptx = assembly(&target, vec![kernel.unwrap_or_else(|error| panic!("{error}"))]);
    let widths: Vec<u32> = ptx.lines().filter_map(read).map(|(_, bits)| bits).collect();
    let [wide, narrow] = [128, 32].map(|width| widths.iter().filter(|&&bits| bits == width).count());
    assert_eq!((wide, narrow, widths.len()), (4, 2, 6), "{ptx}");
    assert_eq!(ptx.lines().filter(|line| line.contains("div.s32")).count(), 2, "{ptx}");
    let words = |from: u32, count: u32| (from..from + count).flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    let given = [Given::Buffer(words(0, 1024)), Given::Buffer(words(5000, 64)), Given::Word(16)];
    let (_, mut device) = device_of("h100");
    let (left, _) = run_on(&mut device, &ptx, "f", Shape::warps(4), &given).unwrap();
    let expected: Vec<u8> = (0..1024u32).flat_map(|i| (i + 5000 + i / 16).to_le_bytes()).collect();
    assert_eq!(left[0], expected);
}
