//! Tests of runs on the emulator: the host's buffers are read and changed, and faults are errors that leave them
//! unchanged.

#![allow(unsafe_code, reason = "the interface is called as C calls it")]

use std::ffi::CStr;
use std::ptr::{null, null_mut};

// Links the Intel plugin's targets into this test, so that no plugin is loaded.
use tilewright_intel as _;

use tilewright_c::*;

/// Stores `value` plus the index to each of the first `count` elements.
const PROGRAM: &str = "tt.func @fill(%to: !tt.ptr<i32>, %value: i32, %count: i32) {
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %most = tt.splat %count : i32 -> tensor<64xi32>
  %inside = arith.cmpi slt, %i, %most : tensor<64xi32>
  %base = tt.splat %to : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %at = tt.addptr %base, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %all = tt.splat %value : i32 -> tensor<64xi32>
  %sum = arith.addi %all, %i : tensor<64xi32>
  tt.store %at, %sum, %inside : tensor<64x!tt.ptr<i32>> loc(\"fill.py\":7:4)
  tt.return
}";

/// Calls `tw_run` on `PROGRAM` for a count of elements, from element `first` of 32; returns the error, if any, and the
/// buffer after the call.
fn run(first: u64, count: u64, max_steps: u64) -> (Option<(u32, String)>, Vec<i32>, u64) {
    let (mut session, mut code, mut buffer) = (null_mut(), null_mut(), vec![-1_i32; 32]);
    let no = tw_option { key: c"discover".as_ptr(), value: c"no".as_ptr() };
    let kernel = tw_option { key: c"emit".as_ptr(), value: c"kernel".as_ptr() };
    let scalar = |value| tw_argument { kind: TW_ARGUMENT_SCALAR, width: 32, buffer: 0, value };
    let arguments =
        [tw_argument { kind: TW_ARGUMENT_BUFFER, width: 0, buffer: 0, value: 4 * first }, scalar(100), scalar(count)];
    let buffers = [tw_buffer { data: buffer.as_mut_ptr().cast(), size: 4 * buffer.len() }];
    let launch = tw_launch {
        struct_size: size_of::<tw_launch>(),
        grid: [1, 1, 1],
        arguments: arguments.as_ptr(),
        argument_count: arguments.len(),
        buffers: buffers.as_ptr(),
        buffer_count: buffers.len(),
        max_steps,
    };
    let mut report = tw_run_report {
        struct_size: size_of::<tw_run_report>(),
        steps: 0,
        sectors_loaded: 0,
        sectors_stored: 0,
        wavefronts_loaded: 0,
        wavefronts_stored: 0,
    };
    // SAFETY: everything lives as long as the calls.
    unsafe {
        assert!(tw_session_create(&raw const no, 1, None, null_mut(), &raw mut session).is_null());
        let (text, length) = (PROGRAM.as_ptr().cast(), PROGRAM.len());
        let error = tw_compile(session, c"max1550".as_ptr(), text, length, &raw const kernel, 1, &raw mut code);
        assert!(error.is_null(), "{:?}", CStr::from_ptr(tw_error_message(error)));
        let error = tw_run(session, code, &raw const launch, &raw mut report);
        let failed = (!error.is_null()).then(|| {
            (tw_error_code(error), CStr::from_ptr(tw_error_message(error)).to_str().expect("UTF-8").to_owned())
        });
        tw_error_destroy(error);
        assert!(!tw_run(session, code, null(), null_mut()).is_null(), "a launch that is null");
        tw_code_destroy(code);
        tw_session_destroy(session);
        (failed, buffer, report.sectors_stored)
    }
}

#[test]
fn a_run_changes_the_buffers_of_the_host() {
    let (error, buffer, sectors) = run(2, 20, 0);
    assert_eq!(error, None);
    let expected: Vec<i32> = (0..32).map(|at| if (2..22).contains(&at) { 100 + at - 2 } else { -1 }).collect();
    assert_eq!(buffer, expected);
    assert!(sectors > 0);
}

#[test]
fn a_fault_is_an_error_with_its_place() {
    let (error, buffer, _) = run(0, 40, 0);
    let (code, message) = error.expect("40 of 32 elements");
    assert_eq!(code, TW_ERROR_FAULT);
    for expected in ["out of bounds", "\"fill.py\":7:4", "block (0, 0, 0)"] {
        assert!(message.contains(expected), "{message}");
    }
    assert!(buffer.iter().all(|&value| value == -1), "the buffers of a run that failed are unchanged");
    let (code, message) = run(0, 8, 3).0.expect("a limit of three operations");
    assert!(code == TW_ERROR_FAULT && message.contains("more than 3 operations"), "{message}");
}
