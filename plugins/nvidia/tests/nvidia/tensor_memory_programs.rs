//! Programs with accumulators in tensor memory: synchronous MMAs compute correct results.

use crate::prelude::*;

/// The tested program: the accumulator starts empty in the first iteration and keeps its value in the second; the last
/// MMA is predicated off.
const PROGRAM: &str = r#"#p = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#l = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#sh = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @accumulate(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %count: i32) {
    %false = arith.constant false
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %more = arith.cmpi ne, %count, %c0 : i32
    PLACES
    %xv = tt.load %xp : tensor<128x64x!tt.ptr<f16>, #p>
    %yv = tt.load %yp : tensor<64x64x!tt.ptr<f16>, #p>
    %a = ttg.local_alloc %xv : (tensor<128x64xf16, #p>) -> !ttg.memdesc<128x64xf16, #sh, #smem>
    %b = ttg.local_alloc %yv : (tensor<64x64xf16, #p>) -> !ttg.memdesc<64x64xf16, #sh, #smem>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %acc, %token = ttng.tmem_alloc : () -> (!ttg.memdesc<128x64xf32, #tm, #ttng.tensor_memory, mutable>, !ttg.async.token)
    %done:2 = scf.for %iteration = %c0 to %c2 step %c1 iter_args(%use = %false, %dep = %token) -> (i1, !ttg.async.token)  : i32 {
      %mma = ttng.tc_gen5_mma %a, %b, %acc[%dep], %use, %true, %bar[%true] {is_async} : !ttg.memdesc<128x64xf16, #sh, #smem>, !ttg.memdesc<64x64xf16, #sh, #smem>, !ttg.memdesc<128x64xf32, #tm, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
      ttng.wait_barrier %bar, %iteration : !ttg.memdesc<1xi64, #bar, #smem, mutable>
      scf.yield %true, %mma : i1, !ttg.async.token
    }
    %last = ttng.tc_gen5_mma %a, %b, %acc[%done#1], %true, %more : !ttg.memdesc<128x64xf16, #sh, #smem>, !ttg.memdesc<64x64xf16, #sh, #smem>, !ttg.memdesc<128x64xf32, #tm, #ttng.tensor_memory, mutable>
    %acc_sum, %left = ttng.tmem_load %acc[%last] : !ttg.memdesc<128x64xf32, #tm, #ttng.tensor_memory, mutable> -> tensor<128x64xf32, #l>
    %out = ttg.convert_layout %acc_sum : tensor<128x64xf32, #l> -> tensor<128x64xf32, #p>
    tt.store %zp, %out : tensor<128x64x!tt.ptr<f32>, #p>
    tt.return
  }
}
"#;

fn program() -> String {
    let tile = |name, rows| TileAddressText { name, rows, columns: 64, pitch: 64, layout: Some("#p") };
    let (own, of_b) = (tile("", 128), tile("_b", 64));
    let offsets_text = [
        own.offsets(),
        of_b.offsets(),
        own.addresses("xp", "x", "f16"),
        of_b.addresses("yp", "y", "f16"),
        own.addresses("zp", "z", "f32"),
    ];
    PROGRAM.replace("PLACES", &offsets_text.concat())
}

/// Returns a matrix of small integers, as numbers and as the bytes of binary16.
fn matrix(rows: usize, columns: usize, by: usize) -> (Vec<i32>, Vec<u8>) {
    let numbers: Vec<i32> = (0..rows * columns).map(|at| (at * by / 3 % 5) as i32 - 2).collect();
    let bits = |number: &i32| [0xc000u16, 0xbc00, 0, 0x3c00, 0x4000][(number + 2) as usize].to_le_bytes();
    let bytes = numbers.iter().flat_map(bits).collect();
    (numbers, bytes)
}

/// Returns a program with two warp partitions: one issues the MMA, the other waits for both mbarriers at which it
/// arrives.
fn in_groups() -> String {
    let program = program();
    let ends = ["    %done:2 = ", "    %out = ttg.convert_layout"].map(|line| program.find(line).unwrap());
    let (phase, result) = ("!ttg.memdesc<1xi64, #bar, #smem, mutable>", "tensor<128x64xf32, #l>");
    let accumulator = "!ttg.memdesc<128x64xf32, #tm, #ttng.tensor_memory, mutable>";
    let operand_types = "!ttg.memdesc<128x64xf16, #sh, #smem>, !ttg.memdesc<64x64xf16, #sh, #smem>";
    let groups = format!(
        "    %second = ttg.local_alloc : () -> {phase}
    ttng.init_barrier %second, 1 : {phase}
    %acc_sum = ttg.warp_specialize(%a, %b, %acc, %bar, %second, %more)
    default {{
      %first = arith.constant 0 : i32
      ttng.wait_barrier %bar, %first : {phase}
      ttng.wait_barrier %second, %first : {phase}
      %loaded = ttng.tmem_load %acc : {accumulator} -> {result}
      ttg.warp_yield %loaded : {result}
    }}
    partition0(%pa: !ttg.memdesc<128x64xf16, #sh, #smem>, %pb: !ttg.memdesc<64x64xf16, #sh, #smem>, %pacc: {accumulator}, %pbar: {phase}, %psecond: {phase}, %pmore: i1) num_warps(4) {{
      %no = arith.constant false
      %yes = arith.constant true
      ttng.tc_gen5_mma %pa, %pb, %pacc, %no, %yes, %pbar[%yes], %psecond[%pmore] {{is_async}} : {operand_types}, {accumulator}, {phase}, {phase}
      ttg.warp_return
    }} : ({operand_types}, {accumulator}, {phase}, {phase}, i1) -> {result}
"
    );
    format!("{}{groups}{}", &program[..ends[0]], &program[ends[1]..])
}

/// Checks that a wait for an MMA at an mbarrier completes on the MMA's arrival, and never without an arrival.
#[test]
fn mmas_arrive_at_their_mbarriers() {
    let target = target("h100");
    let kernel = program_kernel(&target, &in_groups()).unwrap_or_else(|error| panic!("{error}"));
    let found = accumulator(&target, &kernel, 1).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(found, expected(1));
    let fault = accumulator(&target, &kernel, 0).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::NeverCompletes { .. }), "{fault}");
}

#[test]
fn tensor_memory_accumulators_add_all_mmas() {
    let target = target("h100");
    let kernel = program_kernel(&target, &program()).unwrap_or_else(|error| panic!("{error}"));
    for more in [0, 1] {
        let found = accumulator(&target, &kernel, more).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(found, expected(2 + more));
    }
}

/// Returns the accumulator that the kernel leaves on the emulator.
fn accumulator(target: &dyn Target, kernel: &Kernel, more: u64) -> Result<Vec<f32>, Fault> {
    let [a, b] = [matrix(128, 64, 7), matrix(64, 64, 11)].map(|(_, bytes)| InitialBuffer::Bytes(bytes));
    let (left, _) = run_block(target, kernel, &[a, b, InitialBuffer::Empty(4 * 128 * 64)], &[more])?;
    Ok(left[2].chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect())
}

/// Returns the product of the matrices, `times` times.
fn expected(times: u64) -> Vec<f32> {
    let (a, b) = (matrix(128, 64, 7).0, matrix(64, 64, 11).0);
    let dot = |index: usize| -> i32 { (0..64).map(|k| a[index / 64 * 64 + k] * b[k * 64 + index % 64]).sum() };
    (0..128 * 64).map(|index| (dot(index) * times as i32) as f32).collect()
}

/// A program of one block multicasts to itself.
#[test]
fn multicast_mmas_of_one_block_arrive_at_its_mbarrier() {
    let target = target("h100");
    let multicast = program().replace("{is_async}", "{is_async, multicast}");
    let [kernel, plain] = [multicast, program()].map(|text| program_kernel(&target, &text).unwrap());
    assert_eq!(kernel, plain);
}
