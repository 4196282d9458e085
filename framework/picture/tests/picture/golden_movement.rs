//! Pictures of memories, accesses, instructions and conversions as they were last looked at. Where one
//! changes on purpose, look at it and run this test with `TILEWRIGHT_BLESS=1` to keep it.

use crate::kept;
use crate::samples;

use kept::check_both;
use samples::{blocked, linear, padded, swizzled};
use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout};
use tilewright_picture::view::{self, ConversionView, GlobalView, MemoryView};
use tilewright_plan::movement;
use tilewright_plan::movement::Path;
use tilewright_target::{Completion, Instruction, InstructionKind, Operand, Semantics, TargetDescription};

/// 8 lanes, 8 banks of 4 bytes.
fn machine() -> TargetDescription {
    let text = tilewright_testkit::machines::SMALL;
    TargetDescription::from_toml("small.toml", text).expect("the machine is sound")
}

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

/// Two rows a warp, and a row a lane: 8 lanes of 8 elements over 8x16.
fn by_rows() -> LinearLayout {
    distributed(blocked(&[8, 16], &[1, 8], &[4, 2], &[1, 1]))
}

fn by_columns() -> LinearLayout {
    distributed(blocked(&[8, 16], &[1, 8], &[8, 1], &[1, 1]))
}

fn check_memory(name: &str, memory: &MemoryLayout) {
    let (machine, store, load) = (machine(), by_rows(), by_columns());
    let view =
        MemoryView { name: "8x16", memory, element_bits: 16, target: &machine, store: Some(&store), load: Some(&load) };
    check_both(name, &view::memory(&view).expect("a picture"));
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
    let (machine, layout) = (machine(), by_columns());
    let view = GlobalView {
        name: "8x16",
        layout: &layout,
        order: &[1, 0],
        element_bits: 16,
        target: &machine,
        warp: 0,
        line_bytes: 64,
    };
    check_both("global", &view::global(&view).expect("a picture"));
}

fn check_conversion(name: &str, path: Path) {
    let (machine, src, dst) = (machine(), by_rows(), by_columns());
    let plans = movement::candidates(&src, &dst, 16, &machine).expect("a sound question").0;
    let plan = plans.iter().find(|plan| plan.path == path).expect("an open way");
    let view = ConversionView { name: "8x16", src: &src, dst: &dst, element_bits: 16, target: &machine, plan };
    check_both(name, &view::conversion(&view).expect("a picture"));
}

#[test]
fn a_conversion_by_exchange() {
    check_conversion("conversion_exchange", Path::Shuffle);
}

#[test]
fn a_conversion_through_shared_memory() {
    check_conversion("conversion_shared", Path::Shared);
}

fn operand(role: &str, registers: Vec<Vec<u64>>, lanes: Vec<Vec<u64>>, shape: &[u64]) -> Operand {
    let layout = linear(&[(Dim::REGISTER, registers), (Dim::LANE, lanes)], shape);
    Operand::Register { role: role.to_owned(), element: "f32".to_owned(), bits: 32, layout }
}

#[test]
fn the_operands_of_a_product() {
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
        completion: Completion::AtOnce,
        numerics: None,
        source: "invented".to_owned(),
    };
    check_both("product", &view::instruction(&row).expect("a picture"));
}
