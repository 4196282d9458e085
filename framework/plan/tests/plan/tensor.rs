//! Tests of moves between registers and tensor memory, compared with an enumeration of positions.
#![allow(clippy::unwrap_used)]

use tilewright_testkit::emulator_target;
use tilewright_testkit::tensor_rows;

use std::collections::BTreeMap;

use tensor_rows::{memory, register, row, tensor};
use tilewright_kernel::Queue;
use tilewright_layout::Dim;
use tilewright_plan::movement::{TensorMemoryMoveTable, TensorMemoryMoves};
use tilewright_target::{
    Instruction, InstructionKind, InstructionOperand, Semantics, TargetDescription, TensorMemoryOperand,
};

fn target() -> TargetDescription {
    let mut target = emulator_target::target(false);
    target.tensor = Some(memory());
    target
}

const BITS: [[u64; 2]; 4] = [[1, 0], [2, 0], [4, 0], [8, 0]];

/// Returns a load and a store of words; `registers` and `lanes` have the positions that they reach, of rows and
/// columns.
fn both(name: &str, registers: &[[u64; 2]], lanes: &[[u64; 2]], [rows, columns]: [u64; 2]) -> [Instruction; 2] {
    let along: Vec<[u64; 2]> = (0..columns.trailing_zeros()).map(|bit| [0, 1 << bit]).collect();
    let down = &BITS[..rows.trailing_zeros() as usize];
    let tile = || tensor("memory", "u32", 32, down, &along, [rows, columns]);
    let in_registers = |role| register(role, "u32", registers, lanes, [rows, columns]);
    let kind = InstructionKind::TensorMove;
    let load = vec![in_registers("d"), tile()];
    let store = vec![tile(), in_registers("a")];
    [
        row(&format!("load {name}"), kind, Semantics::Move, Queue::TensorLoads, load),
        row(&format!("store {name}"), kind, Semantics::Move, Queue::TensorStores, store),
    ]
}

/// Returns an instruction table: one row in each lane, of one or of four columns; and four rows of four columns, two
/// columns in a lane.
fn table() -> Vec<Instruction> {
    let by_row = |columns: u64| {
        let registers: Vec<[u64; 2]> = (0..columns.trailing_zeros()).map(|bit| [0, 1 << bit]).collect();
        both(&format!("rows x{columns}"), &registers, &BITS[..3], [8, columns])
    };
    let corner = both("corner", &[[0, 1]], &[[0, 2], [1, 0], [2, 0]], [4, 4]);
    [by_row(1), by_row(4), corner].concat()
}

/// Returns an accumulator tile with this many rows: 16 rows fill all positions, eight rows the first half of each
/// warp's rows.
fn tile(rows: u64, columns: u64) -> TensorMemoryOperand {
    let down: Vec<[u64; 2]> = if rows == 16 { BITS.to_vec() } else { vec![[1, 0], [2, 0], [0, 0], [4, 0]] };
    let along: Vec<[u64; 2]> = (0..columns.trailing_zeros()).map(|bit| [0, 1 << bit]).collect();
    match tensor("d", "f32", 32, &down, &along, [rows, columns]) {
        InstructionOperand::Tensor(tile) => tile,
        other => panic!("{other:?}"),
    }
}

/// Checks that each register holds the element at the position that its instruction moves.
fn is_right(moves: &TensorMemoryMoves, tile: &TensorMemoryOperand, table: &[Instruction]) {
    let elements: BTreeMap<[u64; 2], [u64; 2]> = tile.element_positions().into_iter().collect();
    let load = table.iter().find(|row| row.name == moves.instructions[0]).unwrap();
    assert_eq!(load.name.replace("load", "store"), moves.instructions[1]);
    let in_registers = load.operands.iter().find_map(InstructionOperand::register_layout).unwrap();
    assert_eq!(in_registers.in_bits(Dim::REGISTER), moves.issue_bits);
    let warp_offsets = moves.warp_offsets();
    let mut moved = 0;
    for warp in 0..2u64 {
        let own = if warp == 1 { warp_offsets[0] } else { 0 };
        for (issue, &offset) in (0..).zip(&moves.offsets) {
            let address = own + u64::from(offset);
            for lane in 0..8 {
                for register in 0..1u64 << moves.issue_bits {
                    let at = in_registers.apply(&[(Dim::REGISTER, register), (Dim::LANE, lane)]).unwrap();
                    let position = [(address >> 16) + at[0].1, (address & 0xffff) + at[1].1];
                    assert_eq!(position[0] / 8, warp, "a warp moves its own rows");
                    let all =
                        [(Dim::REGISTER, issue << moves.issue_bits | register), (Dim::LANE, lane), (Dim::WARP, warp)];
                    let found = moves.registers.apply(&all).unwrap();
                    assert_eq!(elements.get(&position), Some(&[found[0].1, found[1].1]), "{moves:?} {all:?}");
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
        // The upper rows of each warp hold no elements.
        (tile(8, 8), vec!["load corner"]),
        (tile(8, 2), vec![]),
    ] {
        let mut known = TensorMemoryMoveTable::new(&table, &target);
        let move_candidates = known.move_candidates(&tile);
        assert_eq!(known.move_candidates(&tile), move_candidates, "the same again");
        assert_eq!(move_candidates.iter().map(|moves| moves.instructions[0].as_str()).collect::<Vec<_>>(), names);
        move_candidates.iter().for_each(|moves| is_right(moves, &tile, &table));
    }
}

#[test]
fn tensor_moves_need_both_directions_and_tensor_memory() {
    let loads: Vec<_> = table().into_iter().filter(|row| row.name.starts_with("load")).collect();
    assert!(TensorMemoryMoveTable::new(&loads, &target()).move_candidates(&tile(16, 8)).is_empty());
    assert!(
        TensorMemoryMoveTable::new(&table(), &emulator_target::target(false)).move_candidates(&tile(16, 8)).is_empty()
    );
}

/// Checks tiles of scales: bytes of a word, the upper two empty, replicated in the rows of each warp.
#[test]
fn narrow_tiles_are_stored_for_each_warp() {
    let nothing = [0, 0];
    let along = [[0, 1], nothing, [8, 0], [16, 0]];
    let tile = match tensor("scale_a", "e8m0", 8, &BITS[..3], &along, [32, 2]) {
        InstructionOperand::Tensor(tile) => TensorMemoryOperand { copies: vec![8], ..tile },
        other => panic!("{other:?}"),
    };
    let moves = TensorMemoryMoveTable::new(&table(), &target()).cheapest_store(&tile).unwrap();
    assert_eq!((moves.instructions[1].as_str(), moves.word_bits, moves.issue_bits), ("store rows x4", 2, 2));
    assert_eq!((moves.offsets.as_slice(), moves.warp_offsets()), (&[0][..], vec![8 << 16]));
    for (warp, lane, register) in
        (0..2).flat_map(|warp| (0..8).flat_map(move |lane| (0..16).map(move |at| (warp, lane, at))))
    {
        let in_registers = [(Dim::REGISTER, register), (Dim::LANE, lane), (Dim::WARP, warp)];
        let there = tile.layout.apply(&[(Dim::ROW, lane), (Dim::COL, register)]).unwrap();
        assert_eq!(moves.registers.apply(&in_registers).unwrap(), there, "{in_registers:?}");
    }
    // Loads skip positions without elements, and replicas must be one for each warp.
    assert!(TensorMemoryMoveTable::new(&table(), &target()).move_candidates(&tile).is_empty());
    let replicated = TensorMemoryOperand { copies: vec![4], ..tile };
    assert_eq!(TensorMemoryMoveTable::new(&table(), &target()).cheapest_store(&replicated), None);
}
