//! Gathers of tiles that fill the registers of a lane: loads are placed where a round needs them.

use crate::targets::target;
use tilewright_vendor_testkit::prelude::*;

/// Returns a program that gathers a tile of `rows` x 256 words along its rows.
fn program(rows: u64) -> String {
    let tile = TileAddressText { name: "", rows, columns: 256, pitch: 256, layout: None };
    let addresses = [("src", "f32"), ("idx", "i32"), ("y", "f32")]
        .map(|(name, ty)| tile.addresses(&format!("{name}_at"), name, ty));
    let ty = |element: &str| format!("tensor<{rows}x256x{element}>");
    format!(
        "module {{
  tt.func public @f(%src: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}, %idx: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}) {{
    {}{}
    %xv = tt.load %src_at : {pointers}
    %iv = tt.load %idx_at : {index_pointers}
    %g = tt.gather %xv[%iv] {{axis = 1 : i32}} : ({values}, {indices}) -> {values}
    tt.store %y_at, %g : {pointers}
    tt.return
  }}
}}",
        tile.offsets(),
        addresses.concat(),
        pointers = ty("!tt.ptr<f32>"),
        index_pointers = ty("!tt.ptr<i32>"),
        values = ty("f32"),
        indices = ty("i32"),
    )
}

/// Checks a gather in four rounds whose tile and indices take all registers of a lane: the results are right, and LLVM
/// spills no register. With all loads before the first round it spilled 88.
#[test]
fn a_gather_in_rounds_spills_nothing() {
    const ROWS: usize = 256;
    let target = target("mi300x");
    let kernel = program_kernel(&target, &program(ROWS as u64)).expect("it compiles");
    let index = |at: usize| (at * 7 + at / 256) % 256;
    let words =
        |number: &dyn Fn(usize) -> u32| (0..ROWS * 256).flat_map(|at| number(at).to_le_bytes()).collect::<Vec<u8>>();
    let source = words(&|at| (at as f32).to_bits());
    let buffers = [source, words(&|at| index(at) as u32), vec![0; ROWS * 256 * 4]].map(InitialBuffer::Bytes);
    let (left, _) = run_block(&target, &kernel, &buffers, &[]).expect("no faults");
    assert!(left[2] == words(&|at| ((at / 256 * 256 + index(at)) as f32).to_bits()), "the gathered words");
    let code = assembly(&target, vec![kernel]);
    let spilled = code.lines().find_map(|line| line.trim().strip_prefix(".vgpr_spill_count:")).map(str::trim);
    assert_eq!(spilled, Some("0"), "the registers that LLVM spills");
}
