//! Tests of pictures of memories and accesses, against definitions.

use crate::samples;
use tilewright_testkit::test_targets::test_target;

use samples::{blocked, grid, linear, padded, swizzled};
use tilewright_layout::{Dim, Layout, LinearLayout, MemoryLayout};
use tilewright_picture::view::{self, GlobalAccessPictureSpec, MemoryPictureSpec};
use tilewright_picture::{EmphasisColour, PanelContent, Picture, TextTable};

fn memory_of(layout: &Layout) -> &MemoryLayout {
    match layout {
        Layout::Memory(memory) => memory,
        other => panic!("no memory layout: {other:?}"),
    }
}

/// Returns a layout with one row in the registers of each lane.
fn row_a_lane(columns: u64) -> LinearLayout {
    let registers = (0..columns.trailing_zeros()).map(|bit| vec![0, 1 << bit]).collect();
    linear(&[(Dim::REGISTER, registers), (Dim::LANE, vec![vec![1, 0], vec![2, 0], vec![4, 0]])], &[8, columns])
}

/// Returns a layout with one column in the registers of each lane.
fn column_a_lane(rows: u64) -> LinearLayout {
    let registers = (0..rows.trailing_zeros()).map(|bit| vec![1 << bit, 0]).collect();
    linear(&[(Dim::REGISTER, registers), (Dim::LANE, vec![vec![0, 1], vec![0, 2], vec![0, 4]])], &[rows, 8])
}

fn drawn(memory: &Layout, bits: u32, store: Option<&LinearLayout>, load: Option<&LinearLayout>) -> Picture {
    let test_target = test_target();
    let view =
        MemoryPictureSpec::new("memory", memory_of(memory), bits, &test_target).with_store(store).with_load(load);
    view::draw_memory(&view).expect("a picture")
}

fn table<'a>(picture: &'a Picture, title: &str) -> &'a TextTable {
    let panel = picture.panels().find(|panel| panel.title == title).expect("the panel");
    match &panel.content {
        PanelContent::Table(table) => table,
        other => panic!("no table: {other:?}"),
    }
}

/// Returns the columns of a table that have these headings.
fn columns(table: &TextTable, names: &[&str]) -> Vec<Vec<String>> {
    let at: Vec<usize> =
        names.iter().map(|name| table.header.iter().position(|h| h == name).expect("the heading")).collect();
    table.rows.iter().map(|row| at.iter().map(|&at| row[at].clone()).collect()).collect()
}

#[test]
fn elements_stand_where_their_bytes_are() {
    // 16-bit elements: a wavefront of 8 banks of 4 bytes has 16.
    for layout in [swizzled(&[8, 16], 2, 1, 8), padded(&[8, 16], 16, 2), padded(&[8, 16], 32, 4)] {
        let memory = memory_of(&layout);
        let picture = drawn(&layout, 16, None, None);
        let (cells, tensor) = (grid(&picture, "memory"), grid(&picture, "tensor"));
        let mut shown = 0;
        for offset in 0..128u64 {
            let element = memory.linear.apply(&[(Dim::OFFSET, offset)]).expect("an offset");
            let (row, column) = (element[0].1, element[1].1);
            let memory_offset = memory.physical_offset(offset);
            let cell = cells.cell((memory_offset / 16) as usize, (memory_offset % 16) as usize).expect("a cell");
            assert_eq!(cell.text(), format!("{row},{column}"));
            let cell = tensor.cell(row as usize, column as usize).expect("a cell");
            assert_eq!(cell.lines, [memory_offset.to_string(), format!("b{}", memory_offset * 2 / 4 % 8)]);
            shown += 1;
        }
        let filled = (0..cells.rows()).flat_map(|row| cells.row(row)).filter(|cell| !cell.lines.is_empty()).count();
        let padding = (0..cells.rows()).flat_map(|row| cells.row(row)).filter(|cell| cell.text() == "pad").count();
        assert_eq!(filled - padding, shown);
        assert_eq!(padding as u64, memory.allocated_elements() - 128);
    }
}

#[test]
fn address_bits_are_xors_of_coordinate_bits() {
    let picture = drawn(&swizzled(&[8, 16], 2, 1, 8), 16, None, None);
    let terms = columns(table(&picture, "the same as XOR of bits"), &["offset", "is", "XOR of"]);
    // Offset bits above the vector of two elements: each is a column bit XORed with a row bit.
    let required = [
        ["1", "in bank", "dim1 bit 1"],
        ["2", "bank", "dim1 bit 2 xor dim0 bit 1"],
        ["4", "bank", "dim1 bit 4 xor dim0 bit 2"],
        ["8", "bank", "dim1 bit 8 xor dim0 bit 4"],
        ["16", "row", "dim0 bit 1"],
        ["32", "row", "dim0 bit 2"],
        ["64", "row", "dim0 bit 4"],
    ];
    assert_eq!(terms, required);
}

#[test]
fn a_column_of_words_conflicts_unless_it_is_swizzled() {
    let (store, load) = (column_a_lane(8), row_a_lane(8));
    let words = swizzled(&[8, 8], 1, 1, 8);
    let picture = drawn(&words, 32, Some(&store), Some(&load));
    let found = columns(table(&picture, "accesses of warp 0"), &["layout", "access", "wavefronts", "bound"]);
    // Stores of one row at a time have no conflicts. A lane that loads its row of the row-major tensor takes two
    // 16-byte accesses; rows start in one bank every 32 bytes, two lanes per phase: 8 wavefronts per access instead of
    // 4.
    let without: Vec<_> = found.iter().filter(|row| row[0] == "without swizzle").collect();
    assert_eq!(without[0][1..], ["stores", "8", "8"]);
    assert_eq!(without[1][1..], ["loads", "16", "8"]);
    // The swizzle separates single words, so loads move single words: 8 accesses of one wavefront each.
    let swizzled: Vec<_> = found.iter().filter(|row| row[0] == "this one").collect();
    assert_eq!(swizzled[0][1..], ["stores", "8", "8"]);
    assert_eq!(swizzled[1][1..], ["loads", "8", "8"]);
    assert!(found.iter().filter(|row| row[0] == "best swizzle").all(|row| row[2] == row[3]), "{found:?}");
}

#[test]
fn lanes_that_wait_are_framed_in_later_wavefronts_of_their_phase() {
    // A lane's column has all its words in one bank, and all lanes access that bank.
    let rows = linear(&[(Dim::REGISTER, vec![]), (Dim::LANE, vec![vec![1, 0], vec![2, 0], vec![4, 0]])], &[8, 1]);
    let spread = linear(&[(Dim::OFFSET, vec![vec![0, 1], vec![0, 2], vec![0, 4]])], &[1, 8]);
    let memory = spread.direct_sum(&LinearLayout::identity(8, Dim::OFFSET, Dim::tensor(0)).expect("a size"));
    let memory = Layout::Memory(MemoryLayout::from_linear(memory.expect("a sum")));
    let column = rows.resize_out(Dim::tensor(1), 8).expect("a size");
    let test_target = test_target();
    let view = MemoryPictureSpec::new("memory", memory_of(&memory), 32, &test_target).with_load(&column);
    let picture = view::draw_memory(&view).expect("a picture");
    let wavefronts = grid(&picture, "loads");
    assert_eq!((wavefronts.rows(), wavefronts.columns()), (8, 8));
    for row in 0..8 {
        let cell = wavefronts.cell(row, 0).expect("a cell");
        assert_eq!((cell.text(), cell.mark), (row.to_string(), (row > 0).then_some(EmphasisColour::Bad)));
        assert!((1..8).all(|bank| wavefronts.cell(row, bank).expect("a cell").lines.is_empty()));
    }
}

fn requests(layout: &LinearLayout, bits: u32, order: &[usize]) -> Picture {
    let test_target = test_target();
    let view = GlobalAccessPictureSpec::new("tensor", layout, order, bits, &test_target);
    view::draw_global_accesses(&view).expect("a picture")
}

fn numbers(picture: &Picture) -> Vec<Vec<String>> {
    columns(table(picture, "requests of warp 0"), &["registers", "bytes", "sectors", "bound", "lines", "used"])
}

#[test]
fn rows_in_lanes_waste_half_of_each_sector() {
    // 8 rows of 64 bytes; a lane loads 16 bytes of its row at a time.
    let picture = requests(&row_a_lane(32), 16, &[1, 0]);
    let row = |registers: &str| [registers, "128", "8", "4", "4", "50%"].map(str::to_owned).to_vec();
    assert_eq!(numbers(&picture), [row("0-7"), row("8-15"), row("16-23"), row("24-31")]);
    // Two requests touch each sector.
    let memory = grid(&picture, "memory");
    assert!((0..memory.rows()).flat_map(|row| memory.row(row)).all(|cell| cell.mark == Some(EmphasisColour::Bad)));
}

#[test]
fn the_order_of_the_tensor_decides_what_lies_together() {
    // The same registers, but the columns of the tensor are contiguous: the lanes load 2 bytes each of one column.
    let picture = requests(&row_a_lane(32), 16, &[0, 1]);
    let found = numbers(&picture);
    assert_eq!(found.len(), 32);
    assert_eq!(found[0], ["0", "16", "1", "1", "1", "50%"]);
    // With lanes along contiguous rows, all transferred bytes are used.
    let Layout::Distributed(rows) = blocked(&[8, 32], &[1, 8], &[2, 4], &[1, 1]) else { panic!("blocked") };
    assert_eq!(numbers(&requests(&rows, 16, &[1, 0]))[0], ["0-7", "128", "4", "4", "1", "100%"]);
}

#[test]
fn replicating_lanes_access_an_address_once() {
    let copies = linear(
        &[(Dim::REGISTER, vec![vec![0, 1], vec![0, 2]]), (Dim::LANE, vec![vec![0, 0], vec![0, 4], vec![1, 0]])],
        &[2, 8],
    );
    let picture = requests(&copies, 32, &[1, 0]);
    assert_eq!(numbers(&picture), [["0-3", "64", "2", "2", "1", "100%"]]);
    let request = grid(&picture, "request 0");
    assert_eq!(request.cell(0, 0).expect("a cell").text(), "T0-1");
}

#[test]
fn undrawable_views_are_errors() {
    let (layout, test_target) = (row_a_lane(8), test_target());
    let of = |order, bits| GlobalAccessPictureSpec::new("tensor", &layout, order, bits, &test_target);
    let view = of(&[1, 0], 16);
    let message =
        |view: GlobalAccessPictureSpec<'_>| view::draw_global_accesses(&view).expect_err("no picture").to_string();
    let text = message(of(&[1, 1], 16));
    assert!(text.contains("does not name each of the 2 axes once"), "{text}");
    assert!(message(view.with_warp(1)).contains("there is no warp 1 of 1"));
    assert!(message(view.with_line_bytes(16)).contains("sectors of 32"));
    assert!(message(of(&[1, 0], 4)).contains("an element has 4 bits"));
    assert!(message(of(&[1, 0], 24)).contains("no element has 24 bits"));
    let memory = swizzled(&[8, 16], 2, 1, 8);
    for bits in [0, 24] {
        let memory = memory_of(&memory);
        let view = MemoryPictureSpec::new("", memory, bits, &test_target);
        assert!(view::draw_memory(&view).expect_err("no picture").to_string().contains("no element has"));
    }
    let huge = memory_of(&memory).clone();
    let padding = vec![tilewright_layout::Padding { interval: 2, padding: 1 << 40 }];
    let huge = MemoryLayout { padding, ..huge };
    let view = MemoryPictureSpec::new("", &huge, 16, &test_target);
    assert!(view::draw_memory(&view).expect_err("no picture").to_string().contains("the memory with its padding"));
}
