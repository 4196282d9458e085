//! Ways between registers and tensor memory, by brute force over places.
#![allow(clippy::unwrap_used)]

use tilewright_testkit::emulator_target;
use tilewright_testkit::tensor_rows;

use std::collections::BTreeMap;

use tensor_rows::{memory, register, row, tensor};
use tilewright_kernel::Queue;
use tilewright_layout::Dim;
use tilewright_plan::movement::{TensorMoves, TensorTable};
use tilewright_target::{Instruction, InstructionKind, Operand, Semantics, TargetDescription, TensorOperand};

fn target() -> TargetDescription {
    let mut target = emulator_target::target(false);
    target.tensor = Some(memory());
    target
}

const BITS: [[u64; 2]; 4] = [[1, 0], [2, 0], [4, 0], [8, 0]];

/// A load and a store of words: where registers and lanes are, rows and columns.
fn both(name: &str, registers: &[[u64; 2]], lanes: &[[u64; 2]], [rows, columns]: [u64; 2]) -> [Instruction; 2] {
    let along: Vec<[u64; 2]> = (0..columns.trailing_zeros()).map(|bit| [0, 1 << bit]).collect();
    let down = &BITS[..rows.trailing_zeros() as usize];
    let tile = || tensor("memory", "u32", 32, down, &along, [rows, columns]);
    let held = |role| register(role, "u32", registers, lanes, [rows, columns]);
    let kind = InstructionKind::TensorMove;
    let load = vec![held("d"), tile()];
    let store = vec![tile(), held("a")];
    [
        row(&format!("load {name}"), kind, Semantics::Move, Queue::TensorLoads, load),
        row(&format!("store {name}"), kind, Semantics::Move, Queue::TensorStores, store),
    ]
}

/// A row in each lane, of one or of four columns; and four rows of four columns, two of which a lane has.
fn table() -> Vec<Instruction> {
    let by_row = |columns: u64| {
        let registers: Vec<[u64; 2]> = (0..columns.trailing_zeros()).map(|bit| [0, 1 << bit]).collect();
        both(&format!("rows x{columns}"), &registers, &BITS[..3], [8, columns])
    };
    let corner = both("corner", &[[0, 1]], &[[0, 2], [1, 0], [2, 0]], [4, 4]);
    [by_row(1), by_row(4), corner].concat()
}

/// Sums of so many rows: of 16 all places, of eight the first half of each warp's.
fn tile(rows: u64, columns: u64) -> TensorOperand {
    let down: Vec<[u64; 2]> = if rows == 16 { BITS.to_vec() } else { vec![[1, 0], [2, 0], [0, 0], [4, 0]] };
    let along: Vec<[u64; 2]> = (0..columns.trailing_zeros()).map(|bit| [0, 1 << bit]).collect();
    match tensor("d", "f32", 32, &down, &along, [rows, columns]) {
        Operand::Tensor(tile) => tile,
        other => panic!("{other:?}"),
    }
}

/// Whether each register has the element that is where its issue moves it.
fn is_right(way: &TensorMoves, tile: &TensorOperand, table: &[Instruction]) {
    let elements: BTreeMap<[u64; 2], [u64; 2]> = tile.places().into_iter().collect();
    let load = table.iter().find(|row| row.name == way.rows[0]).unwrap();
    assert_eq!(load.name.replace("load", "store"), way.rows[1]);
    let held = load.operands.iter().find_map(|operand| match operand {
        Operand::Register { layout, .. } => Some(layout),
        _ => None,
    });
    let held = held.unwrap();
    assert_eq!(held.in_bits(Dim::REGISTER), way.issue_bits);
    let warp_offsets = way.warp_offsets();
    let mut moved = 0;
    for warp in 0..2u64 {
        let own = if warp == 1 { warp_offsets[0] } else { 0 };
        for (issue, &offset) in (0..).zip(&way.offsets) {
            let address = own + u64::from(offset);
            for lane in 0..8 {
                for register in 0..1u64 << way.issue_bits {
                    let at = held.apply(&[(Dim::REGISTER, register), (Dim::LANE, lane)]).unwrap();
                    let place = [(address >> 16) + at[0].1, (address & 0xffff) + at[1].1];
                    assert_eq!(place[0] / 8, warp, "a warp moves its own rows");
                    let all =
                        [(Dim::REGISTER, issue << way.issue_bits | register), (Dim::LANE, lane), (Dim::WARP, warp)];
                    let found = way.registers.apply(&all).unwrap();
                    assert_eq!(elements.get(&place), Some(&[found[0].1, found[1].1]), "{way:?} {all:?}");
                    moved += 1;
                }
            }
        }
    }
    assert_eq!(moved, elements.len(), "each place is moved once");
}

#[test]
fn tiles_are_moved_by_what_fits() {
    let (table, target) = (table(), target());
    for (tile, names) in [
        (tile(16, 8), vec!["load rows x4", "load corner"]),
        (tile(16, 2), vec!["load rows x1"]),
        // The upper rows of each warp hold nothing.
        (tile(8, 8), vec!["load corner"]),
        (tile(8, 2), vec![]),
    ] {
        let mut known = TensorTable::of(&table, &target);
        let ways = known.ways(&tile);
        assert_eq!(known.ways(&tile), ways, "the same again");
        assert_eq!(ways.iter().map(|way| way.rows[0].as_str()).collect::<Vec<_>>(), names);
        ways.iter().for_each(|way| is_right(way, &tile, &table));
    }
}

#[test]
fn without_both_ways_or_without_the_memory_there_is_none() {
    let loads: Vec<_> = table().into_iter().filter(|row| row.name.starts_with("load")).collect();
    assert!(TensorTable::of(&loads, &target()).ways(&tile(16, 8)).is_empty());
    assert!(TensorTable::of(&table(), &emulator_target::target(false)).ways(&tile(16, 8)).is_empty());
}

/// Scales: bytes of a word, of which the upper two hold nothing, in the rows of each warp again.
#[test]
fn narrow_tiles_are_stored_for_each_warp() {
    let nothing = [0, 0];
    let along = [[0, 1], nothing, [8, 0], [16, 0]];
    let tile = match tensor("scale_a", "e8m0", 8, &BITS[..3], &along, [32, 2]) {
        Operand::Tensor(tile) => TensorOperand { copies: vec![8], ..tile },
        other => panic!("{other:?}"),
    };
    let way = TensorTable::of(&table(), &target()).stores(&tile).unwrap();
    assert_eq!((way.rows[1].as_str(), way.word_bits, way.issue_bits), ("store rows x4", 2, 2));
    assert_eq!((way.offsets.as_slice(), way.warp_offsets()), (&[0][..], vec![8 << 16]));
    for (warp, lane, register) in
        (0..2).flat_map(|warp| (0..8).flat_map(move |lane| (0..16).map(move |at| (warp, lane, at))))
    {
        let held = [(Dim::REGISTER, register), (Dim::LANE, lane), (Dim::WARP, warp)];
        let there = tile.layout.apply(&[(Dim::ROW, lane), (Dim::COL, register)]).unwrap();
        assert_eq!(way.registers.apply(&held).unwrap(), there, "{held:?}");
    }
    // Nobody loads what holds nothing, and copies that are not one for each warp are nobody's.
    assert!(TensorTable::of(&table(), &target()).ways(&tile).is_empty());
    let apart = TensorOperand { copies: vec![4], ..tile };
    assert_eq!(TensorTable::of(&table(), &target()).stores(&apart), None);
}
