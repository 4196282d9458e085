//! Operands of dots are stored to shared memory in the order that they have in global memory.

use half::f16;

use crate::prelude::*;
use crate::virtual_device::bench::{Given, Shape, device_of, run_on};

/// Rows and columns of the matrices.
const SIZE: usize = 64;

/// Returns a program that computes `c = triu(a^T) * b`, where the mask of the triangle selects elements of `a^T`.
fn program() -> String {
    let tile = TileAddressText { name: "t", rows: 64, columns: 64, pitch: 64, layout: None };
    let body = "    %av = tt.load %a_at : tensor<64x64x!tt.ptr<f16>>
    %bv = tt.load %b_at : tensor<64x64x!tt.ptr<f16>>
    %none = arith.constant dense<0.0> : tensor<64x64xf16>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %down = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %along = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %row = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
    %column = tt.broadcast %along : tensor<1x64xi32> -> tensor<64x64xi32>
    %upper = arith.cmpi sle, %row, %column : tensor<64x64xi32>
    %turned = tt.trans %av {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %x = arith.select %upper, %turned, %none : tensor<64x64xi1>, tensor<64x64xf16>
    %y = tt.dot %x, %bv, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    tt.store %c_at, %y : tensor<64x64x!tt.ptr<f32>>";
    tile.function(&[("a", "f16"), ("b", "f16"), ("c", "f32")], body)
}

/// Checks that a selected operand is stored by whole vectors, without transposing it. B shifts columns cyclically by
/// five, so that each product is an element of the triangle.
#[test]
fn a_selected_operand_is_stored_in_the_order_of_global_memory() {
    let a: Vec<f32> = (0..SIZE * SIZE).map(|at| (at * 5 % 7) as f32 - 3.0).collect();
    let b: Vec<f32> = (0..SIZE * SIZE).map(|at| f32::from((at / SIZE + 5) % SIZE == at % SIZE)).collect();
    let mut product = vec![0.0; SIZE * SIZE];
    for (row, column) in (0..SIZE).flat_map(|row| (row..SIZE).map(move |column| (row, column))) {
        product[row * SIZE + (column + 5) % SIZE] = a[column * SIZE + row];
    }
    let bytes =
        |numbers: &[f32]| numbers.iter().flat_map(|&number| f16::from_f32(number).to_le_bytes()).collect::<Vec<u8>>();
    let (target, mut device) = device_of("h100");
    let kernel = program_kernel(&target, &program()).unwrap_or_else(|error| panic!("{error}"));
    let shape = Shape { shared_bytes: kernel.shared_bytes(), ..Shape::warps(4) };
    let ptx = assembly(&target, vec![kernel]);
    assert!(!ptx.contains("st.shared.b16"), "{ptx}");
    let arguments = [bytes(&a), bytes(&b), vec![0; 4 * SIZE * SIZE]].map(Given::Buffer);
    let (left, _) = run_on(&mut device, &ptx, "f", shape, &arguments).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
    let stored: Vec<f32> = left[2].chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
    assert!(stored == product, "the result from PTX");
}
