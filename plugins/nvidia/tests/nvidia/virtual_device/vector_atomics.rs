//! Programs that add tensors atomically: adjacent elements by one instruction, between two fences. Memory after a run on
//! the virtual device, and on the emulator, is compared with numbers computed by hand.

use super::bench::{Given, Shape, device_of, run_on};
use crate::prelude::*;
use tilewright_vendor_testkit::emulated;
use tilewright_vendor_testkit::programs::program_kernel;

const SIZE: usize = 1024;

/// The number of elements that the program updates.
const COUNT: u32 = 1008;

/// Returns a program whose mask selects the elements before a number. It writes the old values to `%z` if `keeps`, and
/// the operands otherwise.
fn program(element: &str, order: &str, keeps: bool) -> String {
    let result = if keeps { "%old" } else { "%v" };
    format!(
        "tt.func public @k(%x: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, \
         %y: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, %z: !tt.ptr<{element}> {{tt.divisibility = 16 : i32}}, \
         %n: i32 {{tt.divisibility = 16 : i32}}) {{
  %i = tt.make_range {{end = {SIZE} : i32, start = 0 : i32}} : tensor<{SIZE}xi32>
  %ns = tt.splat %n : i32 -> tensor<{SIZE}xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<{SIZE}xi32>
  %xs = tt.splat %x : !tt.ptr<{element}> -> tensor<{SIZE}x!tt.ptr<{element}>>
  %xi = tt.addptr %xs, %i : tensor<{SIZE}x!tt.ptr<{element}>>, tensor<{SIZE}xi32>
  %ys = tt.splat %y : !tt.ptr<{element}> -> tensor<{SIZE}x!tt.ptr<{element}>>
  %yi = tt.addptr %ys, %i : tensor<{SIZE}x!tt.ptr<{element}>>, tensor<{SIZE}xi32>
  %zs = tt.splat %z : !tt.ptr<{element}> -> tensor<{SIZE}x!tt.ptr<{element}>>
  %zi = tt.addptr %zs, %i : tensor<{SIZE}x!tt.ptr<{element}>>, tensor<{SIZE}xi32>
  %v = tt.load %xi : tensor<{SIZE}x!tt.ptr<{element}>>
  %old = tt.atomic_rmw fadd, {order}, gpu, %yi, %v, %m : (tensor<{SIZE}x!tt.ptr<{element}>>, \
         tensor<{SIZE}x{element}>, tensor<{SIZE}xi1>) -> tensor<{SIZE}x{element}>
  tt.store %zi, {result} : tensor<{SIZE}x!tt.ptr<{element}>>
  tt.return
}}"
    )
}

/// Returns the bytes of small natural numbers as elements of a floating-point type.
fn bytes(element: &str, numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    let half = |number: u32| match number.checked_ilog2() {
        Some(exponent) => (exponent + 15) << 10 | (number << (10 - exponent) & 0x3ff),
        None => 0,
    };
    numbers
        .flat_map(|number| match element {
            "f16" => half(number).to_le_bytes()[..2].to_vec(),
            "bf16" => (number as f32).to_bits().to_le_bytes()[2..].to_vec(),
            _ => (number as f32).to_bits().to_le_bytes().to_vec(),
        })
        .collect()
}

/// Compiles the program and checks its memory after a run on the virtual device and the emulator; returns its PTX.
fn checked(name: &str, element: &str, order: &str, keeps: bool) -> String {
    let (target, mut device) = device_of(name);
    let kernel = program_kernel(&target, &program(element, order, keeps)).unwrap();
    let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 2, ..CompileOptions::default() };
    let artifact = target.compile(&Module { kernels: vec![kernel.clone()] }, &options).unwrap();
    let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap();
    let (x, y) = (|index: u32| index % 5, |index: u32| index % 7 + 1);
    let all = || 0..SIZE as u32;
    let [xs, ys] = [bytes(element, all().map(x)), bytes(element, all().map(y))];
    let added = bytes(element, all().map(|index| y(index) + if index < COUNT { x(index) } else { 0 }));
    let old = bytes(element, all().map(|index| if index < COUNT { y(index) } else { 0 }));
    let kept = if keeps { old } else { xs.clone() };
    let before = [xs.clone(), ys, vec![0xEE; xs.len()]];
    let mut given = before.clone().map(Given::Buffer).to_vec();
    given.push(Given::Word(COUNT));
    let (left, _) = run_on(&mut device, ptx, "k", Shape::warps(kernel.launch.warps), &given).unwrap();
    assert_eq!(left[1..], [added.clone(), kept.clone()], "{name} {element} on the virtual device");
    let given = before.map(emulated::InitialBuffer::Bytes);
    let (left, _) = emulated::run_block(&target, &kernel, &given, &[COUNT.into()]).unwrap();
    assert_eq!(left[1..], [added, kept], "{name} {element} on the emulator");
    ptx.to_owned()
}

#[test]
fn adjacent_elements_are_added_at_once() {
    for (name, element, instruction, count) in [
        ("h100", "f32", "add.v4.f32 ", 2),
        ("h100", "f16", "add.noftz.v4.f16x2 ", 1),
        ("h100", "bf16", "add.noftz.v4.bf16x2 ", 1),
        ("a100", "f32", "add.f32 ", 8),
        ("a100", "f16", "add.noftz.f16x2 ", 4),
    ] {
        for keeps in [false, true] {
            for order in ["relaxed", "acq_rel"] {
                let ptx = checked(name, element, order, keeps);
                assert_eq!(ptx.matches(instruction).count(), count, "{name} {element} {order}: {ptx}");
                let fences = if order == "relaxed" || count == 1 { 0 } else { 2 };
                assert_eq!(ptx.matches("fence.acq_rel.gpu").count(), fences, "{name} {element} {order}: {ptx}");
                let is_reduction = !keeps && (order == "relaxed" || count > 1);
                let word = if is_reduction { "red." } else { "atom." };
                assert_eq!(ptx.matches(word).count(), count, "{name} {element} {order}: {ptx}");
            }
        }
    }
}
