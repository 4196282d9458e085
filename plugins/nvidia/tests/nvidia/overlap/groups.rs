//! Warp specialization: producer warps copy tiles and consumer warps multiply them; mbarriers synchronize both.

use crate::overlap::program::{Matrices, assembles, text};
use crate::prelude::*;

/// A warp-specialized program: the number of warps and buffers, and how producers and consumers synchronize.
#[derive(Clone, Copy)]
struct Groups {
    multiply: u32,
    bring: u32,
    /// Whether MMAs stay in flight while consumers wait for the next tiles.
    pending: bool,
    /// Whether producers wait until a buffer has been read before they copy into it.
    waits_for_empty: bool,
    /// Whether consumers signal that they have read a buffer.
    signals_empty: bool,
    /// The attributes of the operation, which state the registers of partitions.
    attributes: &'static str,
}

const GROUPS: Groups =
    Groups { multiply: 4, bring: 1, pending: false, waits_for_empty: true, signals_empty: true, attributes: "" };

const TILE_A: &str = "!ttg.memdesc<64x32xf16, #sa, #smem, mutable>";
const TILE_B: &str = "!ttg.memdesc<32x64xf16, #sb, #smem, mutable>";
const TILES_A: &str = "!ttg.memdesc<2x64x32xf16, #sa, #smem, mutable>";
const TILES_B: &str = "!ttg.memdesc<2x32x64xf16, #sb, #smem, mutable>";
const PHASE: &str = "!ttg.memdesc<1xi64, #flat, #smem, mutable>";
const PHASES: &str = "!ttg.memdesc<2x1xi64, #flat, #smem, mutable>";

/// Returns statements that allocate two buffers of each tile. Each buffer has a "full" and an "empty" mbarrier, which
/// the operation `init` initializes.
fn buffers(init: &str) -> String {
    let mut text = format!("%as = ttg.local_alloc : () -> {TILES_A}\n    %bs = ttg.local_alloc : () -> {TILES_B}\n");
    for name in ["full", "empty"] {
        text += &format!("    %{name} = ttg.local_alloc : () -> {PHASES}\n");
        for buffer in 0..2 {
            text += &format!("    %{name}{buffer} = ttg.memdesc_index %{name}[%c{buffer}] : {PHASES} -> {PHASE}\n");
            text += &format!("    {init} %{name}{buffer}, 1 : {PHASE}\n");
        }
    }
    text
}

impl Groups {
    fn text(self) -> String {
        let Self { multiply, bring, pending, waits_for_empty, signals_empty, attributes } = self;
        let empty =
            if waits_for_empty { format!("tw.mbarrier_wait %is_empty, %before : {PHASE}") } else { String::new() };
        let read = if signals_empty { format!("tw.mbarrier_arrive %is_empty, 1 : {PHASE}") } else { String::new() };
        let of_a = "tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>";
        let of_b = "tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>";
        // Warp groups read operand B in shared memory.
        let product = if multiply == 4 {
            let marked = if pending { ", isAsync = true" } else { "" };
            format!(
                "%issued = ttng.warp_group_dot %x, %b_own, %sum {{inputPrecision = 0 : i32{marked}}} : {of_a} * {TILE_B} \
                 -> tensor<64x64xf32, #mma>"
            )
        } else {
            let marked = if pending { " {tw.pending}" } else { "" };
            format!(
                "%y = ttg.local_load %b_own : {TILE_B} -> {of_b}
        %issued = tt.dot %x, %y, %sum{marked} : {of_a} * {of_b} -> tensor<64x64xf32, #mma>"
            )
        };
        let (pointers, buffers) = (Matrices::pointers(bring, ["pa", "pb"]), buffers("tw.mbarrier_init"));
        let body = format!(
            "
    {buffers}
    %all = ttg.warp_specialize(%a, %b, %iterations, %as, %bs, %full, %empty){attributes}
    default {{
      %d0 = arith.constant 0 : i32
      %d1 = arith.constant 1 : i32
      %d2 = arith.constant 2 : i32
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
      %acc_sum = scf.for %k = %d0 to %iterations step %d1 iter_args(%sum = %zero) -> (tensor<64x64xf32, #mma>) : i32 {{
        %slot = arith.remsi %k, %d2 : i32
        %phase = arith.divsi %k, %d2 : i32
        %is_full = ttg.memdesc_index %full[%slot] : {PHASES} -> {PHASE}
        %is_empty = ttg.memdesc_index %empty[%slot] : {PHASES} -> {PHASE}
        tw.mbarrier_wait %is_full, %phase : {PHASE}
        %a_own = ttg.memdesc_index %as[%slot] : {TILES_A} -> {TILE_A}
        %b_own = ttg.memdesc_index %bs[%slot] : {TILES_B} -> {TILE_B}
        %x = ttg.local_load %a_own : {TILE_A} -> {of_a}
        {product}
        %done = tw.mma_wait %issued {{outstanding = 0 : i32}} : tensor<64x64xf32, #mma>
        {read}
        scf.yield %done : tensor<64x64xf32, #mma>
      }}
      ttg.warp_yield %acc_sum : tensor<64x64xf32, #mma>
    }}
    partition0(%pa: !tt.ptr<f16>, %pb: !tt.ptr<f16>, %count: i32, %to_a: {TILES_A}, %to_b: {TILES_B}, %filled: {PHASES}, %emptied: {PHASES}) num_warps({bring}) {{
      %e0 = arith.constant 0 : i32
      %e1 = arith.constant 1 : i32
      %e2 = arith.constant 2 : i32
      %e32 = arith.constant 32 : i32
      %e2048 = arith.constant 2048 : i32
      {pointers}
      scf.for %k = %e0 to %count step %e1 : i32 {{
        %slot = arith.remsi %k, %e2 : i32
        %phase = arith.divsi %k, %e2 : i32
        %before = arith.addi %phase, %e1 : i32
        %is_full = ttg.memdesc_index %filled[%slot] : {PHASES} -> {PHASE}
        %is_empty = ttg.memdesc_index %emptied[%slot] : {PHASES} -> {PHASE}
        {empty}
        %step_a = arith.muli %k, %e32 : i32
        %steps_a = tt.splat %step_a : i32 -> tensor<64x32xi32, #pa{bring}>
        %next_a = tt.addptr %from_a, %steps_a : tensor<64x32x!tt.ptr<f16>, #pa{bring}>, tensor<64x32xi32, #pa{bring}>
        %step_b = arith.muli %k, %e2048 : i32
        %steps_b = tt.splat %step_b : i32 -> tensor<32x64xi32, #pb{bring}>
        %next_b = tt.addptr %from_b, %steps_b : tensor<32x64x!tt.ptr<f16>, #pb{bring}>, tensor<32x64xi32, #pb{bring}>
        %a_next = ttg.memdesc_index %to_a[%slot] : {TILES_A} -> {TILE_A}
        %b_next = ttg.memdesc_index %to_b[%slot] : {TILES_B} -> {TILE_B}
        %copy_a = ttg.async_copy_global_to_local %next_a, %a_next : tensor<64x32x!tt.ptr<f16>, #pa{bring}> -> <64x32xf16, #sa, #smem, mutable>
        %copy_b = ttg.async_copy_global_to_local %next_b, %b_next : tensor<32x64x!tt.ptr<f16>, #pb{bring}> -> <32x64xf16, #sb, #smem, mutable>
        %group = ttg.async_commit_group tokens %copy_a, %copy_b
        %there = ttg.async_wait %group {{num = 0 : i32}}
        tw.mbarrier_arrive %is_full, 1 : {PHASE}
      }}
      ttg.warp_return
    }} : (!tt.ptr<f16>, !tt.ptr<f16>, i32, {TILES_A}, {TILES_B}, {PHASES}, {PHASES}) -> tensor<64x64xf32, #mma>
"
        );
        let pointers_of = if bring == multiply { String::new() } else { Matrices::aliases(bring) };
        Matrices::around(multiply, &body, &pointers_of)
    }

    fn kernel(self) -> Kernel {
        Matrices::kernel("h100", &self.text()).unwrap_or_else(|error| panic!("{error}"))
    }
}

#[test]
fn some_warps_bring_what_others_multiply() {
    for (multiply, bring) in [(4, 1), (4, 4), (8, 2)] {
        let kernel = Groups { multiply, bring, ..GROUPS }.kernel();
        assert_eq!(kernel.launch.warps, multiply + bring);
        for iterations in [0, 1, 2, 5] {
            Matrices::is_right("h100", &kernel, iterations)
                .unwrap_or_else(|fault| panic!("{multiply} and {bring}: {fault}"));
        }
        // Barriers of all warps are only before and after the partitions.
        let written = text(&kernel);
        assert!(!written.contains("barrier block"), "{written}");
        assert_eq!(written.matches(&format!("named_barrier 0, {}\n", multiply + bring)).count(), 4, "{written}");
        let ptx = assembles("h100", kernel);
        assert!(ptx.contains("bar.sync") || ptx.contains("barrier.sync"), "{ptx}");
    }
}

/// Checks the registers that partitions hand over. Triton 3.9.0 compiles the same requests to the same numbers of
/// `setmaxnreg`, and to `.maxnreg 168` for eight warps and one.
#[test]
fn partitions_hand_registers_over() {
    let requested = " attributes {requestedRegisters = array<i32: 24>}";
    let actual = " attributes {actualRegisters = array<i32: 216, 40>}";
    // The number of warps of both partitions, the attributes; the warps of the block, the registers of the launch, of
    // the default partition and of the other.
    for (multiply, bring, attributes, warps, launch, most, least) in [
        (8, 1, requested, 12, 168, 240, 24),
        (8, 2, requested, 12, 168, 240, 24),
        (4, 4, requested, 8, 248, 256, 24),
        (8, 1, actual, 12, 160, 216, 40),
        (4, 1, actual, 8, 128, 216, 40),
    ] {
        let kernel = Groups { multiply, bring, attributes, ..GROUPS }.kernel();
        assert_eq!((kernel.launch.warps, kernel.launch.registers), (warps, launch));
        for iterations in [0, 1, 5] {
            Matrices::is_right("h100", &kernel, iterations).unwrap_or_else(|fault| panic!("{fault}"));
        }
        // Idle warps change with the other partition.
        let changes = text(&kernel).matches(&format!("set_max_registers release {least}\n")).count();
        assert_eq!(changes, if bring == 4 { 1 } else { 2 }, "{}", text(&kernel));
        let ptx = assembles("h100", kernel);
        let lines = [
            format!(".maxnreg {launch}"),
            format!("setmaxnreg.inc.sync.aligned.u32 \t{most};"),
            format!("setmaxnreg.dec.sync.aligned.u32 \t{least};"),
        ];
        let ptx = ptx.replace("u32 ", "u32 \t").replace("\t\t", "\t");
        assert!(lines.iter().all(|line| ptx.contains(line)), "{ptx}");
    }
}

#[test]
fn invalid_registers_of_partitions_are_rejected() {
    for (attributes, expected) in [
        ("actualRegisters = array<i32: 240>", "1 numbers of registers; expected 2, one for each partition"),
        ("requestedRegisters = array<i32: 24, 24>", "2 numbers of registers; expected 1"),
        ("actualRegisters = array<i32: 250, 24>", "a partition of 250 registers; expected 24 to 256 in steps of 8"),
        ("requestedRegisters = array<i32: 264>", "a partition of 264 registers"),
        ("actualRegisters = array<i32: 256, 256>", "need 256 registers of a lane on average; a block has 168"),
    ] {
        let attributes = format!(" attributes {{{attributes}}}").leak();
        let text = Groups { multiply: 8, attributes, ..GROUPS }.text();
        let error = Matrices::kernel("h100", &text).expect_err("invalid registers");
        assert!(error.to_string().contains(expected), "{attributes}: {error}");
    }
}

#[test]
fn warpgroup_mmas_read_tiles_in_shared_memory() {
    let kernel = Groups { pending: true, bring: 4, ..GROUPS }.kernel();
    assert!(text(&kernel).contains("ready_token products"));
    Matrices::is_right("h100", &kernel, 5).unwrap();
    assembles("h100", kernel);
}

/// Checks the faults of producers that do not wait for an empty buffer: a tile overwrites one that is being read, or
/// phases get ahead of the waiting warps.
#[test]
fn tiles_are_not_brought_over_others() {
    for pending in [false, true] {
        let kernel = Groups { waits_for_empty: false, pending, ..GROUPS }.kernel();
        let fault = Matrices::is_right("h100", &kernel, 5).unwrap_err();
        let found = matches!(
            fault.kind,
            FaultKind::Race { .. } | FaultKind::InFlight { .. } | FaultKind::NeverCompletes { .. }
        );
        assert!(found, "{fault}");
    }
}

/// Checks the fault of a wait for an mbarrier's phase that gets no arrival.
#[test]
fn a_phase_without_arrivals_is_detected() {
    let kernel = Groups { signals_empty: false, ..GROUPS }.kernel();
    let fault = Matrices::is_right("h100", &kernel, 5).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::NeverCompletes { .. }), "{fault}");
}

/// Checks copies that arrive at the mbarrier themselves, once for each issuing lane; the mbarrier expects as many
/// arrivals as lanes.
#[test]
fn copies_arrive_for_their_lanes() {
    let written = GROUPS.text();
    let waits = written.find("%group = ").unwrap()..written.find("tw.mbarrier_arrive %is_full, 1").unwrap();
    let arriving = written
        .replace(&written[waits], "")
        .replace("tw.mbarrier_arrive %is_full, 1 :", "ttng.async_copy_mbarrier_arrive %is_full {noIncrement} :");
    let counted = |full: &str| {
        let text = ["%full0, 1 :", "%full1, 1 :"].iter().fold(arriving.clone(), |text, init| {
            assert!(text.contains(init), "{text}");
            text.replace(init, &init.replace("1 :", &format!("{full} :")))
        });
        Matrices::kernel("h100", &text).unwrap_or_else(|error| panic!("{error}"))
    };
    let kernel = counted("32");
    for iterations in [0, 1, 2, 5] {
        Matrices::is_right("h100", &kernel, iterations).unwrap_or_else(|fault| panic!("{iterations}: {fault}"));
    }
    assembles("h100", kernel);
    let fault = Matrices::is_right("h100", &counted("33"), 5).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::NeverCompletes { .. }), "{fault}");
}

#[test]
fn targets_without_them_say_so() {
    let wrong = |gpu_model: &str, text: &str| match Matrices::kernel(gpu_model, text) {
        Err(error @ ProgramError::Lower { .. }) if error.is_unsupported() => error.to_string(),
        other => panic!("{other:?}"),
    };
    let message = wrong("a100", &GROUPS.text());
    assert!(message.contains("no mbarriers"), "{message}");
}

/// Returns a program in Triton's operations: TMA copies by descriptors, whose bytes an mbarrier's phase expects, and a
/// dot that is waited for.
fn of_triton(bring: u32) -> String {
    let (bytes, buffers) = (2 * (64 * 32 + 32 * 64), buffers("ttng.init_barrier"));
    let body = format!(
        "
    %rows = arith.constant 64 : i32
    %k_all = arith.constant 224 : i32
    %one = arith.constant 1 : i64
    %pitch_a = arith.constant 224 : i64
    %pitch_b = arith.constant 64 : i64
    %da = tt.make_tensor_descriptor %a, [%rows, %k_all], [%pitch_a, %one] : <f16>, <64x32xf16, #sa>
    %db = tt.make_tensor_descriptor %b, [%k_all, %rows], [%pitch_b, %one] : <f16>, <32x64xf16, #sb>
    {buffers}
    %all = ttg.warp_specialize(%da, %db, %iterations, %as, %bs, %full, %empty)
    default {{
      %d0 = arith.constant 0 : i32
      %d1 = arith.constant 1 : i32
      %d2 = arith.constant 2 : i32
      %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
      %acc_sum = scf.for %k = %d0 to %iterations step %d1 iter_args(%sum = %zero) -> (tensor<64x64xf32, #mma>) : i32 {{
        %slot = arith.remsi %k, %d2 : i32
        %round = arith.divsi %k, %d2 : i32
        %phase = arith.andi %round, %d1 : i32
        %is_full = ttg.memdesc_index %full[%slot] : {PHASES} -> {PHASE}
        %is_empty = ttg.memdesc_index %empty[%slot] : {PHASES} -> {PHASE}
        ttng.wait_barrier %is_full, %phase : {PHASE}
        %a_own = ttg.memdesc_index %as[%slot] : {TILES_A} -> {TILE_A}
        %b_own = ttg.memdesc_index %bs[%slot] : {TILES_B} -> {TILE_B}
        %issued = ttng.warp_group_dot %a_own, %b_own, %sum {{inputPrecision = 0 : i32, isAsync = true}} : {TILE_A} * {TILE_B} -> tensor<64x64xf32, #mma>
        %done = ttng.warp_group_dot_wait %issued {{pendings = 0 : i32}} : tensor<64x64xf32, #mma>
        ttng.arrive_barrier %is_empty, 1 : {PHASE}
        scf.yield %done : tensor<64x64xf32, #mma>
      }}
      ttg.warp_yield %acc_sum : tensor<64x64xf32, #mma>
    }}
    partition0(%ta: !tt.tensordesc<64x32xf16, #sa>, %tb: !tt.tensordesc<32x64xf16, #sb>, %count: i32, %to_a: {TILES_A}, %to_b: {TILES_B}, %filled: {PHASES}, %emptied: {PHASES}) num_warps({bring}) {{
      %e0 = arith.constant 0 : i32
      %e1 = arith.constant 1 : i32
      %e2 = arith.constant 2 : i32
      %e32 = arith.constant 32 : i32
      %true = arith.constant true
      scf.for %k = %e0 to %count step %e1 : i32 {{
        %slot = arith.remsi %k, %e2 : i32
        %round = arith.divsi %k, %e2 : i32
        %before = arith.addi %round, %e1 : i32
        %phase = arith.andi %before, %e1 : i32
        %is_full = ttg.memdesc_index %filled[%slot] : {PHASES} -> {PHASE}
        %is_empty = ttg.memdesc_index %emptied[%slot] : {PHASES} -> {PHASE}
        ttng.wait_barrier %is_empty, %phase : {PHASE}
        ttng.barrier_expect %is_full, {bytes}, %true : {PHASE}
        %from = arith.muli %k, %e32 : i32
        %a_next = ttg.memdesc_index %to_a[%slot] : {TILES_A} -> {TILE_A}
        %b_next = ttg.memdesc_index %to_b[%slot] : {TILES_B} -> {TILE_B}
        ttng.async_tma_copy_global_to_local %ta[%e0, %from] %a_next, %is_full, %true : !tt.tensordesc<64x32xf16, #sa>, {PHASE} -> {TILE_A}
        ttng.async_tma_copy_global_to_local %tb[%from, %e0] %b_next, %is_full, %true : !tt.tensordesc<32x64xf16, #sb>, {PHASE} -> {TILE_B}
      }}
      ttg.warp_return
    }} : (!tt.tensordesc<64x32xf16, #sa>, !tt.tensordesc<32x64xf16, #sb>, i32, {TILES_A}, {TILES_B}, {PHASES}, {PHASES}) -> tensor<64x64xf32, #mma>
"
    );
    Matrices::around(4, &body, "")
}

#[test]
fn programs_of_triton_with_groups_of_warps_are_exact() {
    for bring in [1, 4] {
        let kernel = Matrices::kernel("h100", &of_triton(bring)).unwrap_or_else(|error| panic!("{error}"));
        assert!(text(&kernel).contains("ready_token products"));
        for iterations in [0, 3, 6] {
            Matrices::is_right("h100", &kernel, iterations)
                .unwrap_or_else(|fault| panic!("{bring}, {iterations}: {fault}"));
        }
        assembles("h100", kernel);
    }
}
