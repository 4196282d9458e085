//! Masked accesses, divisions by unknown divisors and casts toward zero in the assembly.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_vendor_testkit::kernels::{count, extract_lines_between, module};
use tilewright_vendor_testkit::prelude::*;

/// Returns the lines of the assembly of a kernel with these parameters and this body.
fn assembly(name: &str, parameters: &str, body: &str) -> Vec<String> {
    let lanes = if name.starts_with("mi") { 64 } else { 32 };
    let text = format!("kernel k({parameters}) lanes {lanes} warps 4 {{{body}\n}}");
    let kernels =
        tilewright_kernel::text::parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).kernels;
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 3, ..CompileOptions::default() };
    let artifact = target(name).compile(&module(kernels), &options).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let assembly = artifact.payload_text(CodeFormat::Assembly).unwrap();
    extract_lines_between(assembly, "\nk:", ".section").into_iter().map(str::to_owned).collect()
}

fn counts<const N: usize>(lines: &[String], starts: [&str; N]) -> [usize; N] {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    starts.map(|start| count(&lines, start))
}

const BRANCH_LOAD_STORE: [&str; 4] = ["s_and_saveexec", "buffer_load_dword", "global_load_dword", "global_store_dword"];

/// Loads at `%0 + %2 * 4 + offset * 4` under the predicate `%1 > lane`, and stores there in all lanes.
fn load_and_store(offset: &str) -> String {
    format!(
        "
    %3: i32 = special lane
    %4: i1 = compare lt_s %3, %1
    %5: i32 = constant 4
    %6: i32 = binary mul %2, %5
    %7: ptr.global = ptr_add %0, %6
    %8: i32 = binary mul {offset}, %5
    %9: ptr.global = ptr_add %7, %8
    %10: i32 = load %9 align 4 if %4
    %11: i32 = unary pop_count %10
    store %9, %11 align 4"
    )
}

const PARAMETERS: &str = "%0 p: ptr.global, %1 n: i32, %2 first: i32";

#[test]
fn masked_loads_at_bounded_offsets_from_a_scalar_have_no_branch() {
    for name in ["mi250", "mi300x", "mi355x"] {
        let lines = assembly(name, PARAMETERS, &load_and_store("%3"));
        assert_eq!(counts(&lines, BRANCH_LOAD_STORE), [0, 1, 0, 1], "{lines:#?}");
        // Lanes outside have the offset 2^31, beyond the number of records.
        assert!(lines.iter().any(|line| line.starts_with("v_bfrev_b32") && line.ends_with(", 1")), "{lines:#?}");
        assert!(lines.iter().any(|line| line.starts_with("s_mov_b32") && line.ends_with("0x7ffffffc")), "{lines:#?}");
    }
    let lines = assembly("rx7900xtx", PARAMETERS, &load_and_store("%3"));
    assert_eq!(counts(&lines, ["s_and_saveexec", "buffer_load", "global_load"]), [1, 0, 1], "{lines:#?}");
}

/// A scalar branch also skips the address and what uses the value.
#[test]
fn masked_accesses_under_scalar_predicates_stay_in_branches() {
    let body = load_and_store("%3").replace("lt_s %3, %1", "lt_s %2, %1");
    let lines = assembly("mi300x", PARAMETERS, &body);
    assert_eq!(counts(&lines, ["s_cbranch", "buffer_load", "global_load"]), [1, 0, 1], "{lines:#?}");
}

/// The offset of a lane may be negative, or 2^31 and more: a buffer has no such offsets.
#[test]
fn masked_accesses_at_unbounded_offsets_stay_in_branches() {
    for (origin, offset) in [
        ("%20: i32 = special lane\n%21: i32 = binary sub %20, %5", "%21"),
        ("%20: i32 = special lane\n%22: i32 = constant 24\n%21: i32 = binary shl %20, %22", "%21"),
        ("%20: i32 = special lane\n%21: i32 = binary mul %20, %1", "%21"),
    ] {
        let body = load_and_store(offset).replace("    %8:", &format!("{origin}\n    %8:"));
        let lines = assembly("mi300x", PARAMETERS, &body);
        let [_, buffer, global, _] = counts(&lines, BRANCH_LOAD_STORE);
        assert_eq!([buffer, global], [0, 1], "{body}\n{lines:#?}");
    }
}

/// A load whose result elsewhere is that of another load under the same predicate has a branch of its own.
#[test]
fn adjacent_accesses_under_one_predicate_have_one_branch() {
    let head = "
    %3: i32 = special lane
    %4: i1 = compare lt_s %3, %1
    %5: i32 = binary mul %3, %2
    %6: ptr.global = ptr_add %0, %5
    %7: i32 = load %6 align 4 if %4
    %8: i32 = load %6 + 64 align 4 if %4";
    let summed = "\n%9: i32 = binary add %7, %8\n store %0, %9 align 4";
    let lines = assembly("mi300x", PARAMETERS, &format!("{head}{summed}"));
    assert_eq!(counts(&lines, BRANCH_LOAD_STORE)[..3], [1, 0, 2], "{lines:#?}");
    let other = head.replace("64 align 4 if %4", "64 align 4 if %4 else %7");
    for (body, branches) in [(format!("{other}{summed}"), 2), (format!("{head}\n store %6 + 128, %8 align 4 if %4"), 1)]
    {
        let lines = assembly("mi300x", PARAMETERS, &body);
        assert_eq!(counts(&lines, ["s_and_saveexec"]), [branches], "{lines:#?}");
    }
}

#[test]
fn divisors_have_no_guard() {
    for scalar in [true, false] {
        let divisor = if scalar { "%2" } else { "%5" };
        let body = format!(
            "
    %3: i32 = special lane
    %4: i32 = binary xor %3, %1
    %5: i32 = binary xor %3, %2
    %6: i32 = binary div_s {}, {divisor}
    store %0, %6 align 4",
            if scalar { "%1" } else { "%4" }
        );
        let lines = assembly("mi300x", PARAMETERS, &body);
        let guards = lines.iter().filter(|line| line.contains("_cmp_eq_") || line.contains("0x80000000"));
        assert_eq!(guards.count(), 0, "{lines:#?}");
        assert_eq!(counts(&lines, ["v_rcp_iflag_f32", "s_mul_hi_u32"]), [1, if scalar { 2 } else { 0 }], "{lines:#?}");
    }
}

#[test]
fn two_numbers_are_cast_toward_zero_by_one_instruction() {
    let body = "
    %3: 2xf32 = load %0 align 8
    %4: 2xf16 = cast round_z %3
    store %0, %4 align 4";
    for name in ["mi250", "mi300x", "rx7900xtx"] {
        let lines = assembly(name, PARAMETERS, body);
        let casts = lines.iter().filter(|line| line.contains("pkrtz") || line.contains("pk_rtz"));
        assert_eq!(casts.count(), 1, "{lines:#?}");
    }
}
