//! MMAs of a loop that are in flight while the next tiles are copied.

use crate::overlap::program::{Matrices, assembles, text};
use crate::prelude::*;

/// A pipelined loop: each iteration issues its MMA, waits for the previous iteration's MMA, and copies the next tiles
/// over the tiles that the previous MMA read.
pub struct Pipelined {
    /// Number of MMAs that an iteration leaves in flight.
    outstanding: u32,
    pending: bool,
}

pub const PIPELINED: Pipelined = Pipelined { outstanding: 1, pending: true };

impl Pipelined {
    pub fn with_outstanding(self, outstanding: u32) -> Self {
        Self { outstanding, ..self }
    }

    pub fn text(&self) -> String {
        let Self { outstanding, pending } = self;
        let pending = if *pending { ", isAsync = true" } else { "" };
        let body = format!(
            "
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %as = ttg.local_alloc : () -> !ttg.memdesc<2x64x32xf16, #sa, #smem, mutable>
    %bs = ttg.local_alloc : () -> !ttg.memdesc<2x32x64xf16, #sb, #smem, mutable>
    %a0 = ttg.memdesc_index %as[%c0] : !ttg.memdesc<2x64x32xf16, #sa, #smem, mutable> -> !ttg.memdesc<64x32xf16, #sa, #smem, mutable>
    %b0 = ttg.memdesc_index %bs[%c0] : !ttg.memdesc<2x32x64xf16, #sb, #smem, mutable> -> !ttg.memdesc<32x64xf16, #sb, #smem, mutable>
    %copy_a = ttg.async_copy_global_to_local %from_a, %a0 : tensor<64x32x!tt.ptr<f16>, #pa> -> <64x32xf16, #sa, #smem, mutable>
    %copy_b = ttg.async_copy_global_to_local %from_b, %b0 : tensor<32x64x!tt.ptr<f16>, #pb> -> <32x64xf16, #sb, #smem, mutable>
    %group = ttg.async_commit_group tokens %copy_a, %copy_b
    %acc_sum = scf.for %k = %c0 to %iterations step %c1 iter_args(%sum = %zero) -> (tensor<64x64xf32, #mma>) : i32 {{
      %there = ttg.async_wait {{num = 0 : i32}}
      %slot = arith.remsi %k, %c2 : i32
      %a_own = ttg.memdesc_index %as[%slot] : !ttg.memdesc<2x64x32xf16, #sa, #smem, mutable> -> !ttg.memdesc<64x32xf16, #sa, #smem, mutable>
      %b_own = ttg.memdesc_index %bs[%slot] : !ttg.memdesc<2x32x64xf16, #sb, #smem, mutable> -> !ttg.memdesc<32x64xf16, #sb, #smem, mutable>
      %x = ttg.local_load %a_own : !ttg.memdesc<64x32xf16, #sa, #smem, mutable> -> tensor<64x32xf16, #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = 2}}>>
      %issued = ttng.warp_group_dot %x, %b_own, %sum {{inputPrecision = 0 : i32{pending}}} : tensor<64x32xf16, #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = 2}}>> * !ttg.memdesc<32x64xf16, #sb, #smem, mutable> -> tensor<64x64xf32, #mma>
      %done = tw.mma_wait %issued {{outstanding = {outstanding} : i32}} : tensor<64x64xf32, #mma>
      %next = arith.addi %k, %c1 : i32
      %next_slot = arith.remsi %next, %c2 : i32
      %step_a = arith.muli %next, %c32 : i32
      %steps_a = tt.splat %step_a : i32 -> tensor<64x32xi32, #pa>
      %next_a = tt.addptr %from_a, %steps_a : tensor<64x32x!tt.ptr<f16>, #pa>, tensor<64x32xi32, #pa>
      %step_b = arith.muli %next, %c2048 : i32
      %steps_b = tt.splat %step_b : i32 -> tensor<32x64xi32, #pb>
      %next_b = tt.addptr %from_b, %steps_b : tensor<32x64x!tt.ptr<f16>, #pb>, tensor<32x64xi32, #pb>
      %a_next = ttg.memdesc_index %as[%next_slot] : !ttg.memdesc<2x64x32xf16, #sa, #smem, mutable> -> !ttg.memdesc<64x32xf16, #sa, #smem, mutable>
      %b_next = ttg.memdesc_index %bs[%next_slot] : !ttg.memdesc<2x32x64xf16, #sb, #smem, mutable> -> !ttg.memdesc<32x64xf16, #sb, #smem, mutable>
      %more_a = ttg.async_copy_global_to_local %next_a, %a_next : tensor<64x32x!tt.ptr<f16>, #pa> -> <64x32xf16, #sa, #smem, mutable>
      %more_b = ttg.async_copy_global_to_local %next_b, %b_next : tensor<32x64x!tt.ptr<f16>, #pb> -> <32x64xf16, #sb, #smem, mutable>
      %more = ttg.async_commit_group tokens %more_a, %more_b
      scf.yield %done : tensor<64x64xf32, #mma>
    }}
    %all = tw.mma_wait %acc_sum {{outstanding = 0 : i32}} : tensor<64x64xf32, #mma>
    %last = ttg.async_wait {{num = 0 : i32}}
"
        );
        Matrices::text(4, &body)
    }
}

#[test]
fn an_mma_is_in_flight_while_the_next_tiles_are_copied() {
    let kernel = Matrices::kernel("h100", &PIPELINED.text()).unwrap();
    let written = text(&kernel);
    assert!(written.contains("ready_token products"), "{written}");
    // One wait in the loop, which leaves the iteration's own MMA in flight, and one after it.
    let waits: Vec<&str> = written.lines().filter(|line| line.contains("wait products")).map(str::trim).collect();
    assert_eq!(waits.len(), 2, "{waits:?}");
    assert!(waits[0].starts_with("wait products 1") && waits[1].contains("wait products 0 %"), "{waits:?}");
    Matrices::is_right("h100", &kernel, 5).unwrap();
    Matrices::is_right("h100", &kernel, 0).unwrap();
    assembles("h100", kernel);
}

/// Checks that a copy over tiles that an MMA in flight may still read is a fault, which names the copy and the MMA.
#[test]
fn tiles_are_not_copied_over_those_that_are_read() {
    let kernel = Matrices::kernel("h100", &PIPELINED.with_outstanding(2).text()).unwrap();
    let fault = Matrices::is_right("h100", &kernel, 5).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::InFlight { .. }), "{fault}");
}

/// Checks that on targets with synchronous MMAs the program has the same results, with and without the wait operation.
#[test]
fn mmas_are_synchronous_on_other_targets() {
    let kernel = Matrices::kernel("a100", &PIPELINED.text()).unwrap();
    assert!(!text(&kernel).contains("products"));
    Matrices::is_right("a100", &kernel, 5).unwrap();
    let kernel = Matrices::kernel("h100", &Pipelined { pending: false, ..PIPELINED }.text()).unwrap();
    assert!(!text(&kernel).contains("ready_token products"));
    Matrices::is_right("h100", &kernel, 5).unwrap();
}

/// Checks that an accumulator with a use before the wait is waited for before that use.
#[test]
fn used_accumulators_are_waited_for() {
    let used = PIPELINED
        .text()
        .replace("scf.yield %done", "%twice = arith.addf %issued, %zero : tensor<64x64xf32, #mma>\nscf.yield %twice");
    let kernel = Matrices::kernel("h100", &used).unwrap();
    assert!(!text(&kernel).contains("ready_token products"));
    Matrices::is_right("h100", &kernel, 5).unwrap();
}
