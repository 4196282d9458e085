//! The arithmetic that uses up prefetched values comes before the loads of the next values, which take their registers.

use half::bf16;

use crate::prelude::*;
use crate::virtual_device::bench::{Given, Shape, device_of, run_on};

/// Size of each matrix along both axes, and the number of iterations.
const SIZE: usize = 32;
const ITERATIONS: usize = 4;

/// Returns a program whose loop adds up the greater ones of the elements of `x` and `y` in each column, and multiplies
/// both, rounded to `bf16`, by `w`. Ones replace the last row of `x` and `y`, so that asynchronous copies, which write
/// zeros, cannot prefetch them.
fn program() -> String {
    let tile = TileAddressText { name: "t", rows: 32, columns: 32, pitch: 32, layout: None };
    let [narrow, single, offsets] = ["bf16", "f32", "i32"].map(|element| format!("tensor<32x32x{element}>"));
    let pointers = |element: &str| format!("tensor<32x32x!tt.ptr<{element}>>");
    let body = format!(
        "    %none = arith.constant dense<0.000000e+00> : tensor<32xf32>
    %zero = arith.constant dense<0.000000e+00> : {single}
    %ones = arith.constant dense<1.000000e+00> : {single}
    %last_row = arith.constant dense<31> : tensor<32x1xi32>
    %is_loaded = arith.cmpi slt, %rowt, %last_row : tensor<32x1xi32>
    %mask = tt.broadcast %is_loaded : tensor<32x1xi1> -> tensor<32x32xi1>
    %first = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %last = arith.constant {ITERATIONS} : i32
    %elements = arith.constant {elements} : i32
    %w_tile = tt.load %w_at : {of_w}
    %all:3 = scf.for %i = %first to %last step %one iter_args(%a = %none, %b = %zero, %c = %zero)
        -> (tensor<32xf32>, {single}, {single}) : i32 {{
      %moved = arith.muli %i, %elements : i32
      %by = tt.splat %moved : i32 -> {offsets}
      %x_now = tt.addptr %x_at, %by : {of_x}, {offsets}
      %y_now = tt.addptr %y_at, %by : {of_x}, {offsets}
      %xv = tt.load %x_now, %mask, %ones : {of_x}
      %yv = tt.load %y_now, %mask, %ones : {of_x}
      %greater = arith.maxnumf %xv, %yv : {single}
      %column_totals = \"tt.reduce\"(%greater) <{{axis = 0 : i32}}> ({{
      ^bb0(%one_sum: f32, %other_sum: f32):
        %both = arith.addf %one_sum, %other_sum : f32
        tt.reduce.return %both : f32
      }}) : ({single}) -> tensor<32xf32>
      %total = arith.addf %a, %column_totals : tensor<32xf32>
      %xr = arith.truncf %xv : {single} to {narrow}
      %xw = tt.dot %xr, %w_tile, %b : {narrow} * {narrow} -> {single}
      %yr = arith.truncf %yv : {single} to {narrow}
      %yw = tt.dot %yr, %w_tile, %c : {narrow} * {narrow} -> {single}
      scf.yield %total, %xw, %yw : tensor<32xf32>, {single}, {single}
    }}
    %totals_base = tt.splat %totals : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %totals_to = tt.addptr %totals_base, %jt : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    tt.store %totals_to, %all#0 : tensor<32x!tt.ptr<f32>>
    tt.store %p_at, %all#1 : {of_x}
    tt.store %q_at, %all#2 : {of_x}",
        elements = SIZE * SIZE,
        of_w = pointers("bf16"),
        of_x = pointers("f32"),
    );
    let single = ["x", "y", "totals", "p", "q"].map(|name| (name, "f32"));
    tile.function(&[&[("w", "bf16")], &single[..]].concat(), &body)
}

/// Returns the sums of the greater ones of `x` and `y` in each column, of `x w` and of `y w` over all iterations, where
/// `x` and `y` have ones in their last rows.
fn expected(x: &[f32], y: &[f32], w: &[f32]) -> [Vec<f32>; 3] {
    let count = SIZE * SIZE;
    let dot = |a: &[f32], at: usize| -> f32 {
        let (row, column) = (at / SIZE, at % SIZE);
        let tiles = a.chunks(count);
        tiles.map(|tile| (0..SIZE).map(|k| tile[row * SIZE + k] * w[k * SIZE + column]).sum::<f32>()).sum()
    };
    let column = |column: usize| (column..x.len()).step_by(SIZE).map(|at| x[at].max(y[at])).sum();
    let totals = (0..SIZE).map(column);
    [totals.collect(), (0..count).map(|at| dot(x, at)).collect(), (0..count).map(|at| dot(y, at)).collect()]
}

#[test]
fn loads_take_the_registers_of_values_that_are_used_up() {
    // Small integers: all sums are exact.
    let numbers =
        |count: usize, step: usize| -> Vec<f32> { (0..count).map(|at| (at * step % 13) as f32 - 6.0).collect() };
    let count = SIZE * SIZE;
    let (x, y, w) = (numbers(ITERATIONS * count, 5), numbers(ITERATIONS * count, 7), numbers(count, 3));
    let bytes = |numbers: &[f32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let mut inputs = vec![w.iter().flat_map(|&number| bf16::from_f32(number).to_le_bytes()).collect()];
    inputs.extend([bytes(&x), bytes(&y)]);
    inputs.extend(vec![vec![0; 4 * count]; 3]);
    let with_ones = |numbers: &[f32]| -> Vec<f32> {
        let is_last = |at: usize| at % count / SIZE == SIZE - 1;
        numbers.iter().enumerate().map(|(at, &number)| if is_last(at) { 1.0 } else { number }).collect()
    };
    let (x, y) = (with_ones(&x), with_ones(&y));
    for name in ["h100", "a100"] {
        let (target, mut device) = device_of(name);
        let kernel = compiler(&target).compile_kernel(&program(), &ProgramOptions::default(), &mut |_| {}).unwrap();
        let shared_bytes = kernel.shared_bytes();
        let ptx = assembly(&target, vec![kernel]);
        let [rounded, loaded] = ["cvt.rn.bf16x2.f32", "ld.global"].map(|text| ptx.rfind(text).unwrap());
        assert!(rounded < loaded, "{name}: the loads of the next iteration come last: {ptx}");
        let shape = Shape { shared_bytes, ..Shape::warps(4) };
        let given: Vec<Given> = inputs.iter().cloned().map(Given::Buffer).collect();
        let (left, _) = run_on(&mut device, &ptx, "f", shape, &given).unwrap();
        for (left, expected) in left[3..].iter().zip(expected(&x, &y, &w)) {
            assert!(left.starts_with(&bytes(&expected)), "{name}");
        }
    }
}
