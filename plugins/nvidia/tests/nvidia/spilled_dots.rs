//! Dots whose accumulators need more registers than a lane has are compiled with spills and a warning.

use half::f16;

use crate::prelude::*;
use crate::virtual_device::bench::{Given, Shape, device_of, run_on};

/// Sizes M, N and K; 128 lanes hold 256 accumulators each, one more than the registers of a lane.
const SIZES: [u64; 3] = [64, 512, 32];

/// Returns a program that multiplies f16 matrices of [`SIZES`].
fn program() -> String {
    let [m, n, k] = SIZES;
    let tile = |name, rows, columns| TileAddressText { name, rows, columns, pitch: columns, layout: None };
    let tiles = [("a", m, k, "f16"), ("b", k, n, "f16"), ("c", m, n, "f32")].map(|(name, rows, columns, element)| {
        let tile = tile(name, rows, columns);
        format!("    {}{}", tile.offsets(), tile.addresses(&format!("{name}_at"), name, element))
    });
    let pointer = |name, element| format!("%{name}: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}");
    format!(
        "module {{\n  tt.func public @f({}, {}, {}) {{\n{}
    %av = tt.load %a_at : tensor<{m}x{k}x!tt.ptr<f16>>
    %bv = tt.load %b_at : tensor<{k}x{n}x!tt.ptr<f16>>
    %zero = arith.constant dense<0.0> : tensor<{m}x{n}xf32>
    %product = tt.dot %av, %bv, %zero : tensor<{m}x{k}xf16> * tensor<{k}x{n}xf16> -> tensor<{m}x{n}xf32>
    tt.store %c_at, %product : tensor<{m}x{n}x!tt.ptr<f32>>
    tt.return\n  }}\n}}",
        pointer("a", "f16"),
        pointer("b", "f16"),
        pointer("c", "f32"),
        tiles.concat()
    )
}

/// Returns the rows of two matrices of small integers, and their exact product.
fn matrices() -> [Vec<f32>; 3] {
    let [m, n, k] = SIZES.map(|size| size as usize);
    let numbers = |count: usize, step: usize| (0..count).map(|at| (at * step % 7) as f32 - 3.0).collect::<Vec<_>>();
    let (a, b) = (numbers(m * k, 5), numbers(k * n, 3));
    let element = |row: usize, column: usize| (0..k).map(|at| a[row * k + at] * b[at * n + column]).sum::<f32>();
    let product =
        (0..m).flat_map(|row| (0..n).map(move |column| (row, column))).map(|(row, column)| element(row, column));
    let product = product.collect();
    [a, b, product]
}

#[test]
fn accumulators_beyond_a_lanes_registers_are_spilled_with_a_warning() {
    let [a, b, product] = matrices();
    let f16_bytes =
        |numbers: &[f32]| numbers.iter().flat_map(|&number| f16::from_f32(number).to_le_bytes()).collect::<Vec<u8>>();
    let floats = |bytes: &[u8]| {
        bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect::<Vec<f32>>()
    };
    let inputs = [f16_bytes(&a), f16_bytes(&b), vec![0; 4 * product.len()]];
    for (name, instruction) in [("h100", "wgmma"), ("a100", "mma.sync")] {
        let (target, mut device) = device_of(name);
        let (mut warnings, mut registers) = (Vec::new(), 0);
        let mut on_stage = |stage: CompilationStageOutput<'_>| {
            if let CompilationStageOutput::Layouts(assigned) = stage {
                warnings = assigned.report.warnings().map(str::to_owned).collect();
                let dot = assigned.report.functions[0].dots[0].clone();
                assert!(dot.to_string().contains(&format!(", spills {} ", dot.spilled_registers)), "{dot}");
                registers = dot.registers;
            }
        };
        let kernel = compiler(&target).compile_kernel(&program(), &ProgramOptions::default(), &mut on_stage).unwrap();
        assert!(
            matches!(&warnings[..], [one] if one.starts_with("%product (tt.dot") && one.contains("which has 255")
                && one.contains(&format!("up to {registers} registers"))),
            "{warnings:?}"
        );
        let buffers = inputs.clone().map(InitialBuffer::Bytes);
        let (left, _) = run_block(&target, &kernel, &buffers, &[]).unwrap();
        assert!(floats(&left[2]) == product, "{name}: the emulator's product");
        let shared_bytes = kernel.shared_bytes();
        let ptx = assembly(&target, vec![kernel]);
        assert!(ptx.contains(instruction), "{name}: {ptx}");
        let shape = Shape { shared_bytes, ..Shape::warps(4) };
        let (left, _) = run_on(&mut device, &ptx, "f", shape, &inputs.clone().map(Given::Buffer)).unwrap();
        assert!(floats(&left[2]) == product, "{name}: the product from PTX");
    }
}
