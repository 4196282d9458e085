//! Addresses that loops compute.

use crate::compile::ptx_of_text;
use tilewright_vendor_testkit::kernels::{count, extract_lines_between};

/// Checks that an iteration adds to a pointer only the part of its offset that changes: the 64-bit sum of a row's
/// offset, which is scaled inside of the loop too, and the index takes two more additions.
#[test]
fn the_invariant_part_of_an_offset_is_added_before_the_loop() {
    let ptx = ptx_of_text(
        "kernel k(%0 p: ptr.global, %1 n: i32, %2 stride: i64) lanes 32 warps 4 {
  %3: i32 = constant 0
  %4: i32 = constant 64
  %5: i64 = constant 2
  %6: i32 = special lane
  for %3 to %1 step %4 (%7: i32) {
    %8: i64 = cast extend_s %6
    %9: i64 = binary mul %8, %2
    %10: i32 = binary xor %7, %6
    %11: i64 = cast extend_s %10
    %12: i64 = binary add %9, %11
    %13: i64 = binary mul %12, %5
    %14: ptr.global = ptr_add %0, %13
    %15: f16 = load %14 align 2
    store %0, %15 align 2
    yield
  }
}",
    );
    let lines = extract_lines_between(&ptx, "nounroll", "ld.global");
    let offsets = (count(&lines, "mul.wide.s32"), count(&lines, "add.s64"), count(&lines, "shl.b64"));
    assert_eq!(offsets, (1, 1, 0), "{ptx}");
}

/// Checks that a word of the warp's index, equal in all lanes, is made uniform once, before the loop that uses it.
#[test]
fn a_word_of_the_warp_is_uniform_before_the_loop() {
    let ptx = ptx_of_text(
        "kernel k(%0 p: ptr.global, %1 n: i32) lanes 32 warps 8 {
  %2: i32 = constant 0
  %3: i32 = constant 1
  %4: i32 = constant 4
  %5: i32 = constant 11
  for %2 to %1 step %3 (%6: i32) {
    barrier block all
    %7: i32 = special warp
    %8: i32 = binary and %7, %4
    %9: i32 = binary shl %8, %5
    %10: i32 = assume_uniform warp %9
    %11: i32 = binary add %10, %6
    store %0, %11 align 4
    yield
  }
}",
    );
    let at = |what: &str| ptx.find(what).unwrap_or_else(|| panic!("no `{what}`: {ptx}"));
    assert!(at("shfl.sync.idx") < at("bar.sync"), "{ptx}");
    assert_eq!(ptx.matches("shfl.sync.idx").count(), 1, "{ptx}");
}
