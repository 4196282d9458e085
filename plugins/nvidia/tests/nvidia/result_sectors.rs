//! Stores of the results of dots: sectors of global memory.

use half::f16;

use crate::prelude::*;
use crate::virtual_device::bench::{Given, Shape, device_of, run_on};

/// Rows and columns of the tile.
const SIZE: usize = 32;

/// Returns a program that computes `c = a * b`, where rows of `c` are 80 elements apart, a multiple of a sector's 16.
fn program() -> String {
    let tile = TileAddressText { name: "t", rows: 32, columns: 32, pitch: 80, layout: None };
    let body = "    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %columns = arith.constant dense<32> : tensor<32x32xi32>
    %rows = arith.constant dense<2560> : tensor<32x32xi32>
    %y:3 = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %zero, %pa = %a_at, %pb = %b_at) -> (tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>) : i32 {
      %av = tt.load %pa : tensor<32x32x!tt.ptr<f16>>
      %bv = tt.load %pb : tensor<32x32x!tt.ptr<f16>>
      %next = tt.dot %av, %bv, %sum : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
      %na = tt.addptr %pa, %columns : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
      %nb = tt.addptr %pb, %rows : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
      scf.yield %next, %na, %nb : tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>
    }
    %z = arith.truncf %y#0 : tensor<32x32xf32> to tensor<32x32xf16>
    tt.store %c_at, %z : tensor<32x32x!tt.ptr<f16>>";
    tile.function(&[("a", "f16"), ("b", "f16"), ("c", "f16")], body)
}

/// Checks that a dot whose columns two warps divide stores each sector once: the columns of a warp lie side by side,
/// and its lanes swap elements. B shifts columns cyclically by five, over two steps of K.
#[test]
fn warps_store_full_sectors_of_a_dot() {
    let matrix = |rows: usize, columns: usize, element: &dyn Fn(usize, usize) -> f32| -> Vec<u8> {
        let at = |at: usize| if at % 80 < columns { element(at / 80, at % 80) } else { 0.0 };
        (0..80 * rows).flat_map(|index| f16::from_f32(at(index)).to_le_bytes()).collect()
    };
    let a = |row: usize, column: usize| ((row * SIZE + column) * 5 % 7) as f32 - 3.0;
    let b = |row: usize, column: usize| f32::from(u8::from((row + 5) % (2 * SIZE) == column));
    let product = |row: usize, column: usize| a(row, (column + 2 * SIZE - 5) % (2 * SIZE));
    let (target, mut device) = device_of("a100");
    let kernel = program_kernel(&target, &program()).unwrap_or_else(|error| panic!("{error}"));
    let shape = Shape { shared_bytes: kernel.shared_bytes(), ..Shape::warps(4) };
    let ptx = assembly(&target, vec![kernel]);
    let (given, empty) = ([matrix(SIZE, 2 * SIZE, &a), matrix(2 * SIZE, SIZE, &b)], vec![0; 2 * 80 * SIZE]);
    let [a, b] = given.map(Given::Buffer);
    let arguments = [a, b, Given::Buffer(empty)];
    let (left, report) =
        run_on(&mut device, &ptx, "f", shape, &arguments).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    assert!(left[2] == matrix(SIZE, SIZE, &product), "the result from PTX");
    assert_eq!(report.transactions_stored, (SIZE * SIZE * 2 / 32) as u64, "{ptx}");
}
