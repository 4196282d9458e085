//! Programs with asynchronous copies, which use `cp.async`.

use crate::prelude::*;
use tilewright_vendor_testkit::copied_program::{AsyncCopyProgram, print_kernel};

/// The tested program: each lane copies four adjacent elements, and reads elements that other lanes copied.
const PROGRAM: AsyncCopyProgram = AsyncCopyProgram {
    pointers: "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
    read: "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>",
    shared: "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
    lanes: 32,
    other: Some(0),
    divisibility: 16,
    outstanding: 1,
    waits_at_end: true,
};

fn copies(program: &AsyncCopyProgram) -> Vec<String> {
    let text = print_kernel(&program.kernel(&target("a100")));
    let mut names: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_once("instruction \"cp.async."))
        .map(|(_, name)| name.split('"').next().unwrap().to_owned())
        .collect();
    names.dedup();
    names
}

#[test]
fn tiles_are_copied_sixteen_bytes_a_lane_while_others_are_read() {
    assert_eq!(copies(&PROGRAM), ["cg.shared.global.16"]);
    for rows in [0, 17, 32] {
        PROGRAM.is_right(&target("a100"), rows).unwrap();
    }
    let module = Module { kernels: vec![PROGRAM.kernel(&target("a100"))] };
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], ..CompileOptions::default() };
    let artifact = target("a100").compile(&module, &options).unwrap();
    let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    for line in ["cp.async.cg.shared.global", "cp.async.commit_group;", "cp.async.wait_group 1;"] {
        assert!(ptx.contains(line), "no {line} in\n{ptx}");
    }
}

#[test]
fn what_is_read_before_its_wait_is_a_fault() {
    let fault = AsyncCopyProgram { outstanding: 2, ..PROGRAM }.is_right(&target("a100"), 32).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::InFlight { .. }), "{fault}");
}

#[test]
fn copies_are_as_wide_as_addresses_allow() {
    let narrow = AsyncCopyProgram { divisibility: 4, ..PROGRAM };
    assert_eq!(copies(&narrow), ["ca.shared.global.4"]);
    narrow.is_right(&target("a100"), 17).unwrap();
    let half = AsyncCopyProgram {
        shared: "#ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 16, order = [1, 0]}>",
        ..PROGRAM
    };
    assert_eq!(copies(&half), ["ca.shared.global.8"]);
    half.is_right(&target("a100"), 17).unwrap();
}

#[test]
fn all_of_a_tile_is_copied_where_nothing_is_left_out() {
    let unmasked = AsyncCopyProgram { other: None, ..PROGRAM };
    assert_eq!(copies(&unmasked), ["cg.shared.global.16"]);
    unmasked.is_right(&target("a100"), 32).unwrap();
}

/// Checks that masked tiles filled with a number other than zero are loaded to registers and stored, because `cp.async`
/// can fill with zeros only.
#[test]
fn tiles_that_are_filled_with_numbers_are_loaded_and_stored() {
    let filled = AsyncCopyProgram { other: Some(7), ..PROGRAM };
    assert_eq!(copies(&filled), Vec::<String>::new());
    let text = print_kernel(&filled.kernel(&target("a100")));
    assert!(!text.contains("commit copies") && !text.contains("wait copies"), "{text}");
    filled.is_right(&target("a100"), 17).unwrap();
    // A synchronous copy is complete before any wait.
    AsyncCopyProgram { outstanding: 2, ..filled }.is_right(&target("a100"), 17).unwrap();
}

#[test]
fn scattered_elements_of_shared_memory_are_copied_one_by_one() {
    let across = AsyncCopyProgram {
        shared: "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>",
        ..PROGRAM
    };
    assert_eq!(copies(&across), ["ca.shared.global.4"]);
    across.is_right(&target("a100"), 17).unwrap();
}

/// Checks that a block waits, before it exits, for copies that the program leaves in flight.
#[test]
fn a_program_may_end_without_a_wait() {
    AsyncCopyProgram { waits_at_end: false, ..PROGRAM }.is_right(&target("a100"), 32).unwrap();
}

/// Checks that an iteration has two block barriers: one before the copy, after the loads of the previous iteration, and
/// one before the load, after the wait.
#[test]
fn an_iteration_has_two_barriers() {
    let text = print_kernel(&PROGRAM.kernel(&target("a100")));
    assert_eq!(text.matches("barrier block all").count(), 2, "{text}");
}
