//! A persistent program whose tiles depend on each other: each reads the tile that the one before it has stored.

use super::case_data::{Argument, build_case, input, updated};
use tilewright_verify::case::ProgramCase;

const TILES: usize = 5;
const SIZE: usize = 64;

/// Returns a program of one block and its case: tile `i + 1` of `x` is tile `i` times a matrix that moves columns by
/// one. The loop over tiles has the attributes `attributes`.
#[must_use]
pub fn tile_chain_program(attributes: &str) -> (ProgramCase, String) {
    let first = |row: usize, column: usize| ((row * 7 + column * 3) % 32) as f64 - 16.0;
    let moved = |row: usize, column: usize| if column == (row + 1) % SIZE { 1.0 } else { 0.0 };
    let rows = (TILES + 1) * SIZE;
    let elements = (0..rows).flat_map(|row| (0..SIZE).map(move |column| (row, column)));
    let after = elements.map(|(row, column)| first(row % SIZE, (column + SIZE - row / SIZE % SIZE) % SIZE)).collect();
    let before = |row: usize, column: usize| if row < SIZE { first(row, column) } else { 0.0 };
    let arguments = vec![
        ("x", updated("f16", [rows, SIZE], before, after)),
        ("b", input("f16", [SIZE, SIZE], |row, column| moved(column, row))),
        ("n", Argument::Integer(SIZE)),
    ];
    (build_case("tile_chain", [1, 1], 4, arguments), text(attributes))
}

fn text(attributes: &str) -> String {
    format!(
        "!t = !ttg.memdesc<64x64xf16, #tw.auto, #ttg.shared_memory, mutable>
module {{
  tt.func public @tile_chain(%x: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %b: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %n: i32 {{tt.divisibility = 64 : i32}}) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %tiles = arith.constant {TILES} : i32
    %zero = arith.constant 0.000000e+00 : f32
    %iterations = arith.divsi %n, %c64 : i32
    scf.for %tile = %c0 to %tiles step %c1 : i32 {{
      %next = arith.addi %tile, %c1 : i32
      %gx = tw.global_view %x, \"(64,64,?,?):(64,1,64,4096)\" : !tt.ptr<f16> -> !tw.view<64x64x?x?xf16>
      %gb = tw.global_view %b, \"(64,64,?):(1,64,64)\" : !tt.ptr<f16> -> !tw.view<64x64x?xf16>
      %gy = tw.global_view %x, \"(64,64,?):(64,1,4096)\" : !tt.ptr<f16> -> !tw.view<64x64x?xf16>
      %sa = tw.shared_tensor {{stages = 2 : i32}} : !t
      %sb = tw.shared_tensor {{stages = 2 : i32}} : !t
      %empty = tw.register_tensor %zero : tensor<64x64xf32>
      %all = scf.for %i = %c0 to %iterations step %c1 iter_args(%sum = %empty) -> (tensor<64x64xf32>) : i32 {{
        %xi = tw.slice %gx[%i, %tile] : !tw.view<64x64x?x?xf16> -> !tw.view<64x64xf16>
        %bi = tw.slice %gb[%i] : !tw.view<64x64x?xf16> -> !tw.view<64x64xf16>
        tw.copy %xi to %sa : (!tw.view<64x64xf16>, !t) -> ()
        tw.copy %bi to %sb : (!tw.view<64x64xf16>, !t) -> ()
        %ra = tw.copy %sa : (!t) -> tensor<64x64xf16>
        %rb = tw.copy %sb : (!t) -> tensor<64x64xf16>
        %d = tw.mma %ra, %rb, %sum : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
        scf.yield %d : tensor<64x64xf32>
      }}
      %rounded = tw.cast %all : tensor<64x64xf32> -> tensor<64x64xf16>
      %yi = tw.slice %gy[%next] : !tw.view<64x64x?xf16> -> !tw.view<64x64xf16>
      tw.copy %rounded to %yi : (tensor<64x64xf16>, !tw.view<64x64xf16>) -> ()
      ttg.barrier all
    }} {{{attributes}}}
    tt.return
  }}
}}
"
    )
}
