//! Programs with asynchronous copies, which use loads to LDS on AMD GPUs.
#![allow(clippy::unwrap_used)]

use crate::targets::target;
use tilewright_vendor_testkit::copied_program::{AsyncCopyProgram, print_kernel};
use tilewright_vendor_testkit::prelude::*;

/// The tested program. Consecutive lanes access consecutive elements in both memories, and read data that other lanes
/// have copied.
const PROGRAM: AsyncCopyProgram = AsyncCopyProgram {
    pointers: "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 32], warpsPerCTA = [4, 1], order = [1, 0]}>",
    read: "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 2], warpsPerCTA = [1, 4], order = [0, 1]}>",
    shared: "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>",
    lanes: 64,
    other: None,
    divisibility: 16,
    outstanding: 1,
    waits_at_end: true,
};

fn is_asynchronous(program: &AsyncCopyProgram) -> bool {
    print_kernel(&program.kernel(&target("mi300x"))).contains("instruction \"global_load_lds_dword\"")
}

#[test]
fn tiles_are_loaded_to_lds_while_others_are_read() {
    assert!(is_asynchronous(&PROGRAM));
    PROGRAM.is_right(&target("mi300x"), 32).unwrap();
    let module = Module { kernels: vec![PROGRAM.kernel(&target("mi300x"))] };
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], ..CompileOptions::default() };
    let artifact = target("mi300x").compile(&module, &options).unwrap();
    let assembly = artifact.payload_text(CodeFormat::Assembly).unwrap();
    assert!(assembly.contains("global_load_lds_dword"), "{assembly}");
}

#[test]
fn what_is_read_before_its_wait_is_a_fault() {
    let fault = AsyncCopyProgram { outstanding: 2, ..PROGRAM }.is_right(&target("mi300x"), 32).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::InFlight { .. }), "{fault}");
}

/// Checks that tiles that need masks or scattered LDS addresses are loaded to registers and stored: loads to LDS
/// support neither.
#[test]
fn tiles_that_no_row_copies_are_loaded_and_stored() {
    let masked = AsyncCopyProgram { other: Some(0), ..PROGRAM };
    let swizzled = AsyncCopyProgram {
        shared: "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 16, order = [1, 0]}>",
        ..PROGRAM
    };
    let across = AsyncCopyProgram {
        shared: "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>",
        ..PROGRAM
    };
    for program in [masked, swizzled, across] {
        assert!(!is_asynchronous(&program));
        let rows = if program.other.is_some() { 17 } else { 32 };
        program.is_right(&target("mi300x"), rows).unwrap();
    }
}
