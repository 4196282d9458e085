//! Tests of pictures of memories, accesses, instructions and conversions against golden files. After an intended
//! change, review the pictures and run this test with `TILEWRIGHT_BLESS=1`.

use crate::kept;
use crate::samples;
use tilewright_testkit::test_targets::test_target;

use kept::check_both;
use samples::{blocked, linear, padded, swizzled};
use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout};
use tilewright_picture::view::{self, ConversionPictureSpec, GlobalAccessPictureSpec, MemoryPictureSpec};
use tilewright_plan::movement;
use tilewright_plan::movement::ConversionKind;
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Semantics};

fn distributed(layout: Layout) -> LinearLayout {
    match layout {
        Layout::Distributed(linear) => linear,
        other => panic!("no distributed layout: {other:?}"),
    }
}

fn memory_of(layout: Layout) -> MemoryLayout {
    match layout {
        Layout::Memory(memory) => memory,
        other => panic!("no memory layout: {other:?}"),
    }
}

/// Returns a layout of 8x16 elements over 8 lanes with 8 elements each: two rows per warp, and one row per lane.
fn by_rows() -> LinearLayout {
    distributed(blocked(&[8, 16], &[1, 8], &[4, 2], &[1, 1]))
}

fn by_columns() -> LinearLayout {
    distributed(blocked(&[8, 16], &[1, 8], &[8, 1], &[1, 1]))
}

fn check_memory(name: &str, memory: &MemoryLayout) {
    let (test_target, store, load) = (test_target(), by_rows(), by_columns());
    let view = MemoryPictureSpec::new("8x16", memory, 16, &test_target).with_store(&store).with_load(&load);
    check_both(name, &view::draw_memory(&view).expect("a picture"));
}

#[test]
fn a_swizzled_memory() {
    check_memory("memory_swizzled", &memory_of(swizzled(&[8, 16], 8, 1, 2)));
}

#[test]
fn a_padded_memory() {
    check_memory("memory_padded", &memory_of(padded(&[8, 16], 16, 8)));
}

#[test]
fn accesses_to_global_memory() {
    let (test_target, layout) = (test_target(), by_columns());
    let view = GlobalAccessPictureSpec::new("8x16", &layout, &[1, 0], 16, &test_target).with_line_bytes(64);
    check_both("global", &view::draw_global_accesses(&view).expect("a picture"));
}

fn check_conversion(name: &str, path: ConversionKind) {
    let (test_target, src, dst) = (test_target(), by_rows(), by_columns());
    let plans = movement::conversion_candidates(&src, &dst, 16, &test_target).expect("a sound question").0;
    let plan = plans.iter().find(|plan| plan.path == path).expect("an open way");
    let view = ConversionPictureSpec::new("8x16", [&src, &dst], 16, &test_target, plan);
    check_both(name, &view::draw_conversion(&view).expect("a picture"));
}

#[test]
fn a_conversion_by_shuffle() {
    check_conversion("conversion_exchange", ConversionKind::Shuffle);
}

#[test]
fn a_conversion_through_shared_memory() {
    check_conversion("conversion_shared", ConversionKind::Shared);
}

fn operand(role: &str, registers: Vec<Vec<u64>>, lanes: Vec<Vec<u64>>, shape: &[u64]) -> InstructionOperand {
    let layout = linear(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], shape);
    InstructionOperand::Register { role: role.to_owned(), element: "f32".to_owned(), bits: 32, layout }
}

#[test]
fn the_operands_of_an_mma() {
    let pairs = || (vec![vec![0, 1]], vec![vec![0, 2], vec![1, 0], vec![2, 0]]);
    let ((registers, lanes), (more, same)) = (pairs(), pairs());
    let row = Instruction {
        name: "product.4x4x2".to_owned(),
        kind: InstructionKind::Matrix,
        operands: vec![
            operand("d", registers, lanes, &[4, 4]),
            operand("a", vec![], vec![vec![0, 1], vec![1, 0], vec![2, 0]], &[4, 2]),
            operand("b", vec![], vec![vec![1, 0], vec![0, 1], vec![0, 2]], &[2, 4]),
            operand("c", more, same, &[4, 4]),
        ],
        cycles: None,
        semantics: Semantics::Contract,
        completion: Completion::Immediate,
        numerics: None,
        source: "invented".to_owned(),
    };
    check_both("product", &view::draw_instruction(&row).expect("a picture"));
}
