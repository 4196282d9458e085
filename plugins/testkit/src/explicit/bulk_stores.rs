//! A program whose copies to global memory can be bulk tensor copies: from a shared tensor that a loop fills, and from
//! registers.

use super::case_data::{build_case, input, output};
use tilewright_verify::case::ProgramCase;

const ROWS: usize = 256;
const COLUMNS: usize = 64;

/// `y = 2 x` through a shared tensor, and `z = 3 x` from registers, in two tiles of 64 rows for each block.
const PROGRAM: &str = r#"!s = !ttg.memdesc<64x64xf16, #tw.auto, #ttg.shared_memory, mutable>
module {
  tt.func public @bulk_stores(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %rows = arith.constant 128 : i32
    %row = arith.constant 64 : i32
    %block = tt.get_program_id x : i32
    %first = arith.muli %block, %rows : i32
    %at = arith.muli %first, %row : i32
    %px = tt.addptr %x, %at : !tt.ptr<f16>, i32
    %py = tt.addptr %y, %at : !tt.ptr<f16>, i32
    %pz = tt.addptr %z, %at : !tt.ptr<f32>, i32
    %gx = tw.global_view %px, "(64,64,2):(64,1,4096)" : !tt.ptr<f16> -> !tw.view<64x64x2xf16>
    %gy = tw.global_view %py, "(64,64,2):(64,1,4096)" : !tt.ptr<f16> -> !tw.view<64x64x2xf16>
    %gz = tw.global_view %pz, "(64,64,2):(64,1,4096)" : !tt.ptr<f32> -> !tw.view<64x64x2xf32>
    %sy = tw.shared_tensor : !s
    scf.for %i = %c0 to %c2 step %c1 : i32 {
      %xi = tw.slice %gx[%i] : !tw.view<64x64x2xf16> -> !tw.view<64x64xf16>
      %yi = tw.slice %gy[%i] : !tw.view<64x64x2xf16> -> !tw.view<64x64xf16>
      %zi = tw.slice %gz[%i] : !tw.view<64x64x2xf32> -> !tw.view<64x64xf32>
      %rx = tw.copy %xi : (!tw.view<64x64xf16>) -> tensor<64x64xf16>
      %two = arith.addf %rx, %rx : tensor<64x64xf16>
      tw.copy %two to %sy : (tensor<64x64xf16>, !s) -> ()
      tw.copy %sy to %yi : (!s, !tw.view<64x64xf16>) -> ()
      %three = arith.addf %two, %rx : tensor<64x64xf16>
      %wide = tw.cast %three : tensor<64x64xf16> -> tensor<64x64xf32>
      tw.copy %wide to %zi : (tensor<64x64xf32>, !tw.view<64x64xf32>) -> ()
    }
    tt.return
  }
}
"#;

/// Returns the program with its case.
pub fn bulk_store_program() -> (ProgramCase, String) {
    let x = |row: usize, column: usize| ((7 * row + 5 * column) % 9) as f64 / 4.0 - 1.0;
    let times = |scale: f64| (0..ROWS * COLUMNS).map(|at| scale * x(at / COLUMNS, at % COLUMNS)).collect();
    let arguments = vec![
        ("x", input("f16", [ROWS, COLUMNS], x)),
        ("y", output("f16", [ROWS, COLUMNS], times(2.0), [0.0; 2])),
        ("z", output("f32", [ROWS, COLUMNS], times(3.0), [0.0; 2])),
    ];
    (build_case("bulk_stores", [ROWS / 128, 1], 4, arguments), PROGRAM.to_owned())
}
