//! Axis information of a tile that is read row by row.

use tilewright_tile::axis_info::{AxisInfoMap, IndexBitPosition};
use tilewright_tile::op::Dialects;
use tilewright_tile::{text, verify_module};

use super::facts::named_value;
use super::interpreter::run;

const TILED: &str = "tt.func @tiled(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}, %rows: i32, %base: i32) {
  %c8 = arith.constant 8 : i32
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c4 = arith.constant dense<4> : tensor<16xi32>
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %first = arith.muli %base, %c8 : i32
  %firsts = tt.splat %first : i32 -> tensor<8xi32>
  %row = arith.addi %firsts, %i : tensor<8xi32>
  %row_2d = tt.expand_dims %row {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %strides = tt.splat %stride : i32 -> tensor<8x1xi32>
  %row_at = arith.muli %row_2d, %strides : tensor<8x1xi32>
  %col_2d = tt.expand_dims %j {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %row_all = tt.broadcast %row_at : tensor<8x1xi32> -> tensor<8x16xi32>
  %col_all = tt.broadcast %col_2d : tensor<1x16xi32> -> tensor<8x16xi32>
  %at = arith.addi %row_all, %col_all : tensor<8x16xi32>
  %pointers = tt.splat %p : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
  %places = tt.addptr %pointers, %at : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
  %turned = tt.trans %at {order = array<i32: 1, 0>} : tensor<8x16xi32> -> tensor<16x8xi32>
  %flat = tt.reshape %at : tensor<8x16xi32> -> tensor<128xi32>
  %quarter = arith.divsi %j, %c4 : tensor<16xi32>
  %within = arith.remsi %j, %c4 : tensor<16xi32>
  %bounds = tt.splat %stride : i32 -> tensor<16xi32>
  %inside = arith.cmpi slt, %j, %bounds : tensor<16xi32>
  %loop:2 = scf.for %k = %c0 to %c64 step %c8 iter_args(%moved = %places, %sum = %c0) -> (tensor<8x16x!tt.ptr<f32>>, i32) : i32 {
    %steps = tt.splat %c8 : i32 -> tensor<8x16xi32>
    %next = tt.addptr %moved, %steps : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
    %left = arith.subi %rows, %k : i32
    %lefts = tt.splat %left : i32 -> tensor<16xi32>
    %mask = arith.cmpi slt, %j, %lefts : tensor<16xi32>
    %more = arith.addi %sum, %k : i32
    scf.yield %next, %more : tensor<8x16x!tt.ptr<f32>>, i32
  }
  tt.return
}";

#[test]
fn axis_info_of_a_tile_holds_and_is_what_layouts_need() {
    let module = text::parse_module(TILED, &Dialects::neutral()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verify_module(&module), Ok(()));
    let function = &module.functions[0];
    for arguments in [[4096, 64, 37, 3], [16, 16, 1, 0], [65536, 1024, 100, 12]] {
        assert!(run(function, &arguments).is_some_and(|claims| claims > 40));
    }
    let axis_info = AxisInfoMap::analyze(function);
    let body = function.body.as_ref().expect("a body");
    let along = |name: &str, axis: usize| {
        let along = axis_info.get(named_value(body, name)).expect("a fact").dim_info(axis);
        (along.contiguity, along.divisibility, along.constancy)
    };
    // Rows have 16 contiguous elements, and start at a multiple of 16 elements of 4 bytes, counted from a pointer
    // aligned to 16 bytes.
    assert_eq!(along("at", 1), (16, 16, 1));
    assert_eq!(along("places", 1), (16, 16, 1));
    assert_eq!(along("places", 0), (1, 4, 1));
    assert_eq!(along("turned", 0), (16, 16, 1));
    assert_eq!(along("flat", 0), (16, 16, 1));
    assert_eq!(along("quarter", 0).2, 4);
    assert_eq!(along("within", 0).0, 4);
    assert_eq!(along("inside", 0).2, 16);
    assert_eq!(along("k", 0).1, 8);
    assert_eq!(along("moved", 1), (16, 16, 1), "eight elements of 4 bytes keep the alignment");
    assert_eq!(along("mask", 0).2, 1, "nothing divides the number of rows");
}

/// Rows of four elements follow each other in memory, also as a transposed and as a reshaped tensor.
const PACKED: &str =
    "tt.func @packed(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %four = arith.constant dense<4> : tensor<32x1xi32>
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %j = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %row = tt.expand_dims %i {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %rows = arith.muli %row, %four : tensor<32x1xi32>
  %rows_all = tt.broadcast %rows : tensor<32x1xi32> -> tensor<32x4xi32>
  %col = tt.expand_dims %j {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %cols_all = tt.broadcast %col : tensor<1x4xi32> -> tensor<32x4xi32>
  %at = arith.addi %rows_all, %cols_all : tensor<32x4xi32>
  %base = tt.splat %p : !tt.ptr<f16> -> tensor<32x4x!tt.ptr<f16>>
  %packed = tt.addptr %base, %at : tensor<32x4x!tt.ptr<f16>>, tensor<32x4xi32>
  %turned = tt.trans %packed {order = array<i32: 1, 0>} : tensor<32x4x!tt.ptr<f16>> -> tensor<4x32x!tt.ptr<f16>>
  %flat = tt.reshape %packed : tensor<32x4x!tt.ptr<f16>> -> tensor<128x!tt.ptr<f16>>
  %bound = tt.splat %n : i32 -> tensor<32x4xi32>
  %mask = arith.cmpi slt, %at, %bound : tensor<32x4xi32>
  tt.return
}";

#[test]
fn runs_go_across_axes() {
    let module = text::parse_module(PACKED, &Dialects::neutral()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verify_module(&module), Ok(()));
    let function = &module.functions[0];
    assert!(run(function, &[4096, 48]).is_some_and(|claims| claims > 60));
    let (axis_info, body) = (AxisInfoMap::analyze(function), function.body.as_ref().expect("a body"));
    let info = |name: &str| axis_info.get(named_value(body, name)).expect("a fact");
    let run_of = |name: &str| -> Vec<(usize, u32)> {
        info(name).aligned_vector_bits().iter().map(|at| (at.axis, at.bit)).collect()
    };
    // 16 bytes are eight elements: four columns of two rows.
    assert_eq!(run_of("packed"), [(1, 0), (1, 1), (0, 0)]);
    assert_eq!(run_of("turned"), [(0, 0), (0, 1), (1, 0)]);
    assert_eq!(run_of("flat"), [(0, 0), (0, 1), (0, 2)]);
    // A bound that is a multiple of 16 divides no group of 16 elements, which are four rows.
    let equal = |axis: usize| {
        (0..5).take_while(|&bit| info("mask").is_constant_across_bit(IndexBitPosition { axis, bit })).count()
    };
    assert_eq!((equal(0), equal(1)), (2, 2));
}

/// Rows are clamped to the matrix, with hints as if they were not, as in Triton's tutorial of persistent kernels.
const CLAMPED: &str = "tt.func @clamped(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %rows: i32, %q: !tt.ptr<f16> {tt.divisibility = 2 : i32}) {
  %eight = arith.constant dense<8> : tensor<64xi32>
  %zero = arith.constant dense<0> : tensor<64xi32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %bound = tt.splat %rows : i32 -> tensor<64xi32>
  %inside = arith.cmpi slt, %i, %bound : tensor<64xi32>
  %row = arith.select %inside, %i, %zero {tt.contiguity = dense<64> : tensor<1xi32>, tt.divisibility = dense<64> : tensor<1xi32>} : tensor<64xi1>, tensor<64xi32>
  %even = arith.andi %row, %eight {tt.constancy = dense<16> : tensor<1xi32>} : tensor<64xi32>
  %base = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %at = tt.addptr %base, %row : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %odd_base = tt.splat %q : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %odd = tt.addptr %odd_base, %row : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %odd_range = tt.addptr %odd_base, %i : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  %far = arith.muli %row, %eight : tensor<64xi32>
  tt.return
}";

#[test]
fn hints_make_vectors_and_do_not_determine_elements() {
    let module = text::parse_module(CLAMPED, &Dialects::neutral()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verify_module(&module), Ok(()));
    let function = &module.functions[0];
    // Row 40 and those after it are row 0, whatever the hints are.
    assert!(run(function, &[4096, 40, 4098]).is_some_and(|claims| claims > 20));
    let (axis_info, body) = (AxisInfoMap::analyze(function), function.body.as_ref().expect("a body"));
    let hinted = |name: &str| axis_info.get(named_value(body, name)).expect("a fact");
    let proven = |name: &str| axis_info.get_proven(named_value(body, name)).expect("a fact");
    assert_eq!(hinted("at").aligned_vector_bits().len(), 3, "16 bytes are eight elements");
    assert_eq!(hinted("even").dim_info(0).constancy, 16);
    // An unaligned vector of rows could reach across row 40.
    let vector_length = |name: &str, alignment: u64| axis_info.vector_bits(named_value(body, name), alignment).len();
    assert_eq!((vector_length("at", 2), vector_length("odd", 2), vector_length("odd_range", 2)), (3, 0, 6));
    assert_eq!(vector_length("odd_range", u64::MAX), 0);
    for name in ["row", "at", "far", "even"] {
        let steps = (0..6).map(|bit| proven(name).bit_step(IndexBitPosition { axis: 0, bit }));
        assert!(steps.clone().all(|step| step.is_none()), "{name}: {:?}", steps.collect::<Vec<_>>());
    }
}
