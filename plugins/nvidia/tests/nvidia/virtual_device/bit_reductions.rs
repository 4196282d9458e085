//! Programs that reduce tensors of `i1` by bitwise operations: one instruction for all lanes of a warp. Memory after a
//! run on the virtual device, and on the emulator, is compared with counts by hand.

use super::bench::{Given, Shape, device_of, run_on};
use crate::prelude::*;
use tilewright_vendor_testkit::emulated;
use tilewright_vendor_testkit::programs::program_kernel;

/// The number of elements; more than one for each lane of a block.
const SIZE: u32 = 512;

/// Returns a program that reduces, for each of the first `SIZE` numbers, whether it is less than `%n`.
fn program(operation: &str) -> String {
    format!(
        "tt.func public @k(%z: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %n: i32) {{
  %i = tt.make_range {{end = {SIZE} : i32, start = 0 : i32}} : tensor<{SIZE}xi32>
  %ns = tt.splat %n : i32 -> tensor<{SIZE}xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<{SIZE}xi32>
  %r = \"tt.reduce\"(%m) <{{axis = 0 : i32}}> ({{
  ^bb0(%a: i1, %b: i1):
    %c = arith.{operation} %a, %b : i1
    tt.reduce.return %c : i1
  }}) : (tensor<{SIZE}xi1>) -> i1
  %w = arith.extui %r : i1 to i32
  tt.store %z, %w : !tt.ptr<i32>
  tt.return
}}"
    )
}

/// Returns the reduction of `count` true elements and `SIZE - count` false ones.
fn reduced(operation: &str, count: u32) -> bool {
    match operation {
        "ori" => count > 0,
        "andi" => count == SIZE,
        _ => !count.is_multiple_of(2),
    }
}

#[test]
fn bits_are_reduced_by_one_instruction_for_a_warp() {
    for (name, operation) in
        ["a100", "h100"].into_iter().flat_map(|name| ["ori", "andi", "xori"].map(|one| (name, one)))
    {
        let (target, mut device) = device_of(name);
        let kernel = program_kernel(&target, &program(operation)).unwrap();
        let options = CompileOptions { emit: vec![CodeFormat::Assembly], optimisation: 2, ..CompileOptions::default() };
        let artifact = target.compile(&Module { kernels: vec![kernel.clone()] }, &options).unwrap();
        let ptx = artifact.payload_text(CodeFormat::Assembly).unwrap();
        let instruction = format!("redux.sync.{}.b32", &operation[..operation.len() - 1]);
        assert_eq!(ptx.matches(&instruction).count(), 1, "{name} {operation}: {ptx}");
        for count in [0, 1, 2, 33, SIZE - 1, SIZE] {
            let expected = vec![u32::from(reduced(operation, count)).to_le_bytes().to_vec()];
            let before = vec![0xEE; 4];
            let given = [Given::Buffer(before.clone()), Given::Word(count)];
            let (left, _) = run_on(&mut device, ptx, "k", Shape::warps(kernel.launch.warps), &given).unwrap();
            assert_eq!(left, expected, "{name} {operation} of {count} on the virtual device");
            let given = [emulated::InitialBuffer::Bytes(before)];
            let (left, _) = emulated::run_block(&target, &kernel, &given, &[count.into()]).unwrap();
            assert_eq!(left, expected, "{name} {operation} of {count} on the emulator");
        }
    }
}
