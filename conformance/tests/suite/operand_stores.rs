//! Operands of dots that loads bring to shared memory in another order than global memory has.

use tilewright::run::KernelArgument;

use crate::programs::run;
use crate::served::targets;

/// Rows and columns of all matrices.
const SIZE: usize = 64;

/// A dot of `f32` matrices by rows, in a loop over chunks of 32 rows of B: MMA instructions of warp groups read `tf32`
/// along K only, so that B is transposed before it is stored to shared memory.
const PROGRAM: &str = "tt.func @multiplies(%a_in: !tt.ptr<f32> {tt.divisibility = 16 : i32},
    %b_in: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant 0 : i32
  %chunk = arith.constant 32 : i32
  %size = arith.constant 64 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %pitch = arith.constant dense<64> : tensor<64x1xi32>
  %pitch_b = arith.constant dense<64> : tensor<32x1xi32>
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %j = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %starts = arith.muli %rows, %pitch : tensor<64x1xi32>
  %as = tt.splat %a_in : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
  %a_rows = tt.addptr %as, %starts : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
  %a_row = tt.broadcast %a_rows : tensor<64x1x!tt.ptr<f32>> -> tensor<64x32x!tt.ptr<f32>>
  %bs = tt.splat %b_in : !tt.ptr<f32> -> tensor<1x64x!tt.ptr<f32>>
  %b_columns = tt.addptr %bs, %columns : tensor<1x64x!tt.ptr<f32>>, tensor<1x64xi32>
  %b_column = tt.broadcast %b_columns : tensor<1x64x!tt.ptr<f32>> -> tensor<32x64x!tt.ptr<f32>>
  %sum = scf.for %k = %zero to %size step %chunk iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<32xi32>
    %at = arith.addi %ks, %j : tensor<32xi32>
    %across = tt.expand_dims %at {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %a_across = tt.broadcast %across : tensor<1x32xi32> -> tensor<64x32xi32>
    %a_at = tt.addptr %a_row, %a_across : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
    %down = tt.expand_dims %at {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %b_starts = arith.muli %down, %pitch_b : tensor<32x1xi32>
    %b_down = tt.broadcast %b_starts : tensor<32x1xi32> -> tensor<32x64xi32>
    %b_at = tt.addptr %b_column, %b_down : tensor<32x64x!tt.ptr<f32>>, tensor<32x64xi32>
    %a = tt.load %a_at : tensor<64x32x!tt.ptr<f32>>
    %b = tt.load %b_at : tensor<32x64x!tt.ptr<f32>>
    %next = tt.dot %a, %b, %acc, inputPrecision = tf32 : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x1x!tt.ptr<f32>>
  %o_rows = tt.addptr %os, %starts : tensor<64x1x!tt.ptr<f32>>, tensor<64x1xi32>
  %o_row = tt.broadcast %o_rows : tensor<64x1x!tt.ptr<f32>> -> tensor<64x64x!tt.ptr<f32>>
  %o_across = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
  %o_at = tt.addptr %o_row, %o_across : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %o_at, %sum : tensor<64x64x!tt.ptr<f32>>
  tt.return
}";

/// Checks the product, and that the emulator counts no bank conflict of the stores: a wavefront for each 32 words of B.
#[test]
fn a_transposed_operand_is_stored_without_bank_conflicts() {
    // Small integers, whose products are exact in `tf32`.
    let a: Vec<i32> = (0..SIZE * SIZE).map(|index| (index * 7 % 13) as i32 - 6).collect();
    let b: Vec<i32> = (0..SIZE * SIZE).map(|index| (index * 5 % 11) as i32 - 5).collect();
    let entry = |row: usize, column: usize| (0..SIZE).map(|k| a[row * SIZE + k] * b[k * SIZE + column]).sum::<i32>();
    let words = |numbers: &[i32]| numbers.iter().map(|&number| (number as f32).to_bits()).collect::<Vec<u32>>();
    let product: Vec<i32> = (0..SIZE * SIZE).map(|index| entry(index / SIZE, index % SIZE)).collect();
    let given = [("a_in", 0), ("b_in", 1), ("out", 2)].map(|(name, at)| (name, KernelArgument::Buffer(at)));
    for target in targets(&["h100"]) {
        let ran = run(&*target, PROGRAM, &given, &[words(&a), words(&b), vec![0; SIZE * SIZE]]);
        assert_eq!(ran.words[2], words(&product));
        assert_eq!(ran.counts.wavefronts_stored, (SIZE * SIZE / 32) as u64);
    }
}
