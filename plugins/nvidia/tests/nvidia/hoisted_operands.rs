//! Operands of dots that are the same in each iteration of a loop are stored to shared memory once, before the loop.

use half::f16;

use crate::prelude::*;
use crate::virtual_device::bench::{Given, Shape, device_of, run_on};

/// Rows and columns of the matrices.
const SIZE: usize = 64;

/// Returns a program that computes `c = a`, `s = c * b^T` and `c += s * b`, the last two three times, in a loop without
/// loads.
fn program() -> String {
    let tile = TileAddressText { name: "t", rows: 64, columns: 64, pitch: 64, layout: None };
    let (half, float) = ("tensor<64x64xf16>", "tensor<64x64xf32>");
    let body = format!(
        "    %av = tt.load %a_at : tensor<64x64x!tt.ptr<f16>>
    %bv = tt.load %b_at : tensor<64x64x!tt.ptr<f16>>
    %zero = arith.constant dense<0.0> : {float}
    %first = arith.extf %av : {half} to {float}
    %from = arith.constant 0 : i32
    %to = arith.constant 3 : i32
    %step = arith.constant 1 : i32
    %all = scf.for %i = %from to %to step %step iter_args(%sum = %first) -> ({float})  : i32 {{
      %x = arith.truncf %sum : {float} to {half}
      %bt = tt.trans %bv {{order = array<i32: 1, 0>}} : {half} -> {half}
      %s = tt.dot %x, %bt, %zero : {half} * {half} -> {float}
      %y = arith.truncf %s : {float} to {half}
      %next = tt.dot %y, %bv, %sum : {half} * {half} -> {float}
      scf.yield %next : {float}
    }}
    tt.store %c_at, %all : tensor<64x64x!tt.ptr<f32>>"
    );
    tile.function(&[("a", "f16"), ("b", "f16"), ("c", "f32")], &body)
}

/// Runs the program on the emulator and from PTX, checks the results, and returns how each operand that is stored
/// before the loop is stored and read. B shifts columns cyclically by five, so that `b^T * b` is the identity, and `b *
/// b` is not: each iteration doubles the sum.
fn run_checked(name: &str, stages: u32) -> Vec<String> {
    let a: Vec<f32> = (0..SIZE * SIZE).map(|at| (at * 5 % 7) as f32 - 3.0).collect();
    let b: Vec<f32> = (0..SIZE * SIZE).map(|at| f32::from((at / SIZE + 5) % SIZE == at % SIZE)).collect();
    let eightfold: Vec<f32> = a.iter().map(|value| 8.0 * value).collect();
    let bytes =
        |numbers: &[f32]| numbers.iter().flat_map(|&number| f16::from_f32(number).to_le_bytes()).collect::<Vec<u8>>();
    let floats = |bytes: &[u8]| {
        bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect::<Vec<f32>>()
    };
    let inputs = [bytes(&a), bytes(&b), vec![0; 4 * SIZE * SIZE]];
    let (target, mut device) = device_of(name);
    let mut lines = Vec::new();
    let mut on_stage = |stage: CompilationStageOutput<'_>| {
        if let CompilationStageOutput::Layouts(assigned) = stage {
            lines.clone_from(&assigned.report.functions[0].loops);
        }
    };
    let mut options = ProgramOptions::default();
    options.stages = Some(stages);
    let kernel = compiler(&target).compile_kernel(&program(), &options, &mut on_stage).unwrap();
    let buffers = inputs.clone().map(InitialBuffer::Bytes);
    let (left, _) = run_block(&target, &kernel, &buffers, &[]).unwrap();
    assert!(floats(&left[2]) == eightfold, "{name}: the emulator's result");
    let shared_bytes = kernel.shared_bytes();
    let ptx = assembly(&target, vec![kernel]);
    let shape = Shape { shared_bytes, ..Shape::warps(4) };
    let (left, _) = run_on(&mut device, &ptx, "f", shape, &inputs.map(Given::Buffer)).unwrap();
    assert!(floats(&left[2]) == eightfold, "{name}: the result from PTX");
    let stored = lines.iter().flat_map(|line| &line.loads).filter(|load| load.is_invariant);
    stored.filter_map(|load| load.by.clone()).collect()
}

#[test]
fn one_buffer_before_the_loop_serves_an_operand_and_its_transpose() {
    for stages in [1, 3] {
        let by = run_checked("h100", stages);
        assert!(matches!(&by[..], [by] if by.matches("wgmma").count() == 2), "{stages} stages: {by:?}");
    }
}

/// Four warps hold 64 registers of B each, and as many of its transpose, next to two accumulators of 32.
#[test]
fn each_iteration_loads_an_operand_that_leaves_too_few_registers() {
    let by = run_checked("a100", 1);
    assert!(matches!(&by[..], [by] if by.contains("ldmatrix")), "{by:?}");
}
