//! A program whose copies to global memory can be bulk tensor copies: from a shared tensor that a loop fills, and from
//! registers.

use super::case_data::{Argument, build_case, input, output};
use super::paper_kernels::{multiply, others, quarters};
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

/// `c = a b` in a grid of two axes. The rows of `b` and `c` have several tiles, so a tile begins within a row.
const COLUMN_TILES: &str = r#"!s = !ttg.memdesc<64x64xf16, #tw.auto, #ttg.shared_memory, mutable>
module {
  tt.func public @column_tiles(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 64 : i32}, %k: i32 {tt.divisibility = 64 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant 0.0 : f32
    %row = tt.get_program_id x : i32
    %column = tt.get_program_id y : i32
    %first_row = arith.muli %row, %c64 : i32
    %first_column = arith.muli %column, %c64 : i32
    %a_at = arith.muli %first_row, %k : i32
    %c_row = arith.muli %first_row, %n : i32
    %c_at = arith.addi %c_row, %first_column : i32
    %pa = tt.addptr %a, %a_at : !tt.ptr<f16>, i32
    %pb = tt.addptr %b, %first_column : !tt.ptr<f16>, i32
    %pc = tt.addptr %c, %c_at : !tt.ptr<f16>, i32
    %rows_of_b = arith.muli %n, %c64 : i32
    %ga = tw.global_view %pa, "(64,64,?):(?,1,64)" [%k] : !tt.ptr<f16> -> !tw.view<64x64x?xf16>
    %gb = tw.global_view %pb, "(64,64,?):(?,1,?)" [%n, %rows_of_b] : !tt.ptr<f16> -> !tw.view<64x64x?xf16>
    %gc = tw.global_view %pc, "(64,64):(?,1)" [%n] : !tt.ptr<f16> -> !tw.view<64x64xf16>
    %sa = tw.shared_tensor : !s
    %sb = tw.shared_tensor : !s
    %empty = tw.register_tensor %zero : tensor<64x64xf32>
    %iterations = arith.divsi %k, %c64 : i32
    %results = scf.for %i = %c0 to %iterations step %c1 iter_args(%acc = %empty) -> (tensor<64x64xf32>) : i32 {
      %ai = tw.slice %ga[%i] : !tw.view<64x64x?xf16> -> !tw.view<64x64xf16>
      %bi = tw.slice %gb[%i] : !tw.view<64x64x?xf16> -> !tw.view<64x64xf16>
      tw.copy %ai to %sa : (!tw.view<64x64xf16>, !s) -> ()
      tw.copy %bi to %sb : (!tw.view<64x64xf16>, !s) -> ()
      %ra = tw.copy %sa : (!s) -> tensor<64x64xf16>
      %rb = tw.copy %sb : (!s) -> tensor<64x64xf16>
      %next = tw.mma %ra, %rb, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %next : tensor<64x64xf32>
    }
    %rounded = tw.cast %results : tensor<64x64xf32> -> tensor<64x64xf16>
    tw.copy %rounded to %gc : (tensor<64x64xf16>, !tw.view<64x64xf16>) -> ()
    tt.return
  }
}
"#;

/// Returns a dot in a grid of two axes with its case.
pub fn column_tiles_program() -> (ProgramCase, String) {
    let size = [128, 192, 256];
    (column_tiles_case("column_tiles", size, size[0] / 64), COLUMN_TILES.to_owned())
}

/// Returns a persistent dot, `[m, n, k]` elements large, with its case: each of two blocks of a column of tiles computes
/// every second tile, in a loop with these attributes around the loop over K.
pub fn persistent_tiles_program(size: [usize; 3], attributes: &str) -> (ProgramCase, String) {
    (column_tiles_case("persistent_tiles", size, 2), persistent_text(COLUMN_TILES, size[0], attributes))
}

/// Returns the text of the program `c = a b`, a tile of `c` for each block.
pub(super) fn column_tiles_text() -> &'static str {
    COLUMN_TILES
}

/// Returns a program of [`column_tiles_text`] as a persistent one, for `m` rows: each of two blocks of a column of tiles
/// executes a loop with these attributes.
pub(super) fn persistent_text(text: &str, m: usize, attributes: &str) -> String {
    let tiles = format!(
        "%blocks = arith.constant 2 : i32
    %tiles = arith.constant {} : i32
    %first = tt.get_program_id x : i32
    %column = tt.get_program_id y : i32
    scf.for %row = %first to %tiles step %blocks : i32 {{",
        m / 64
    );
    let ids = "%row = tt.get_program_id x : i32\n    %column = tt.get_program_id y : i32";
    let text = text.replace("@column_tiles", "@persistent_tiles").replace(ids, &tiles);
    text.replace("    tt.return", &format!("    }} {{{attributes}}}\n    tt.return"))
}

/// Returns a program like [`persistent_tiles_program`] with `rows` rows and K of 256, whose loop over K has as many
/// iterations as the index of the tile modulo four: between none and three.
pub fn ragged_tiles_program(rows: usize, attributes: &str) -> (ProgramCase, String) {
    let [m, n, k] = [rows, 64, 256];
    let (_, text) = persistent_tiles_program([m, n, k], attributes);
    let replaced = [
        ("@persistent_tiles", "@ragged_tiles"),
        ("%iterations = arith.divsi %k, %c64", "%c4 = arith.constant 4 : i32\n    %iterations = arith.remsi %row, %c4"),
        (
            "%a_at = arith.muli %first_row, %k",
            "%pitch = arith.constant 256 : i32\n    %a_at = arith.muli %first_row, %pitch",
        ),
        ("\"(64,64,?):(?,1,64)\" [%k]", "\"(64,64,?):(256,1,64)\""),
    ];
    let text = replaced.into_iter().fold(text, |text, (from, to)| text.replace(from, to));
    let read = |row: usize, index: usize| if index / 64 < row / 64 % 4 { quarters(row, index) } else { 0.0 };
    (tiles_case("ragged_tiles", [m, n, k], 2, read), text)
}

fn column_tiles_case(name: &str, size: [usize; 3], blocks: usize) -> ProgramCase {
    tiles_case(name, size, blocks, quarters)
}

/// Returns the case of a dot, `read` of whose elements of A are multiplied.
fn tiles_case(name: &str, [m, n, k]: [usize; 3], blocks: usize, read: impl Fn(usize, usize) -> f64) -> ProgramCase {
    let arguments = vec![
        ("a", input("f16", [m, k], quarters)),
        ("b", input("f16", [k, n], others)),
        ("c", output("f16", [m, n], multiply([m, n, k], read, others), [1.0 / 1024.0, 0.0])),
        ("n", Argument::Integer(n)),
        ("k", Argument::Integer(k)),
    ];
    build_case(name, [blocks, n / 64], 4, arguments)
}
