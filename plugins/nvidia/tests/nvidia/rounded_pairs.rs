//! Casts between `f32` and `bf16` take whole 32-bit words: numbers are rounded in pairs if they are extended again, and
//! the halves of a word are extended without taking it apart.

use half::bf16;

use crate::prelude::*;
use crate::virtual_device::bench::{Given, Shape, device_of, run_on};

/// Number of elements: eight of each lane.
const COUNT: usize = 1024;

/// Returns a program that rounds `x` to `bf16`, adds `y` in `f32`, and stores the totals.
fn program() -> String {
    let tile = TileAddressText { name: "t", rows: 8, columns: 128, pitch: 128, layout: None };
    let (narrow, single) = ("tensor<8x128xbf16>", "tensor<8x128xf32>");
    let body = format!(
        "    %xv = tt.load %x_at : tensor<8x128x!tt.ptr<f32>>
    %yv = tt.load %y_at : tensor<8x128x!tt.ptr<bf16>>
    %rounded = arith.truncf %xv : {single} to {narrow}
    %a = arith.extf %rounded : {narrow} to {single}
    %b = arith.extf %yv : {narrow} to {single}
    %total = arith.addf %a, %b : {single}
    tt.store %totals_at, %total : tensor<8x128x!tt.ptr<f32>>"
    );
    tile.function(&[("x", "f32"), ("y", "bf16"), ("totals", "f32")], &body)
}

#[test]
fn numbers_are_rounded_in_pairs_and_words_are_extended_by_shifts_and_masks() {
    let x: Vec<f32> = (0..COUNT).map(|at| (at as f32 - 400.5) * 1.017_3).collect();
    let y: Vec<bf16> = (0..COUNT).map(|at| bf16::from_f32((at * 37 % 101) as f32 - 50.0)).collect();
    let totals: Vec<f32> = x.iter().zip(&y).map(|(&x, &y)| bf16::from_f32(x).to_f32() + y.to_f32()).collect();
    let inputs = [
        x.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>(),
        y.iter().flat_map(|number| number.to_le_bytes()).collect(),
        vec![0; 4 * COUNT],
    ];
    for name in ["h100", "a100"] {
        let (target, mut device) = device_of(name);
        let kernel = compiler(&target).compile_kernel(&program(), &ProgramOptions::default(), &mut |_| {}).unwrap();
        let shared_bytes = kernel.shared_bytes();
        let ptx = assembly(&target, vec![kernel]);
        let counts = ["cvt.rn.bf16x2.f32", "cvt.rn.bf16.f32", "cvt.f32.bf16"].map(|name| ptx.matches(name).count());
        assert_eq!(counts, [4, 0, 0], "{name}: {ptx}");
        assert_eq!(ptx.matches(", -65536;").count(), 8, "{name}: the upper halves of eight words: {ptx}");
        let shape = Shape { shared_bytes, ..Shape::warps(4) };
        let (left, _) = run_on(&mut device, &ptx, "f", shape, &inputs.clone().map(Given::Buffer)).unwrap();
        let found: Vec<f32> =
            left[2].chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
        assert!(found == totals, "{name}");
    }
}
