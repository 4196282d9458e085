//! `ds_read_b64_tr_b16` and `ds_read_b64_tr_b8`: loads from LDS that transpose.
//!
//! The 64 lanes work in blocks of sixteen. Each lane of a block names a slot of 64 bits; in the order of
//! the lanes the slots are a matrix of sixteen columns, row after row, of which each lane gets a column.
//! Two more, for elements of 4 and 6 bits, have no row: elements in kernels are whole bytes.

use tilewright_layout::{Bases, Dim, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, Operand, Semantics};

const SOURCE: &str = "AMD CDNA 4 ISA reference, section 11.4, matrix transpose loads from LDS; which lane gets what: \
                      Triton's AMD backend (TargetFeatures.cpp, lowerDsReadTr) and, for 16 bits, ROCm/rocm-systems \
                      pull request 10175";

/// Bits of the column's number, which is the lane's in its block.
const COLUMN_BITS: u32 = 4;
const LANE_BITS: u32 = 6;
/// Log2 of the bytes of a slot, and of what a lane gets.
const SLOT_BITS: u32 = 3;

pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if architecture != "gfx950" {
        return Vec::new();
    }
    // Two widths, each of which makes a layout; tests count the rows.
    [16, 8].into_iter().filter_map(|bits| row(bits).ok()).collect()
}

fn row(bits: u32) -> Result<Instruction, LayoutError> {
    let register =
        Operand::Register { role: "d".to_owned(), element: format!("b{bits}"), bits, layout: columns(bits)? };
    let address = LinearLayout::identity(1 << LANE_BITS, Dim::LANE, Dim::named("slot"))?;
    Ok(Instruction {
        name: format!("ds_read_b64_tr_b{bits}"),
        kind: InstructionKind::SharedMove,
        operands: vec![register, Operand::Access { data: data(bits)?, address, alignment: 8 }],
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::AtOnce,
        numerics: None,
        source: SOURCE.to_owned(),
    })
}

/// From (element of a lane, lane) to (row, column, block).
fn columns(bits: u32) -> Result<LinearLayout, LayoutError> {
    let rows = 64 / u64::from(bits);
    let elements = LinearLayout::identity(rows, Dim::REGISTER, Dim::tensor(0))?;
    let columns = LinearLayout::identity(1 << COLUMN_BITS, Dim::LANE, Dim::tensor(1))?;
    let blocks = LinearLayout::identity(1 << (LANE_BITS - COLUMN_BITS), Dim::LANE, Dim::tensor(2))?;
    elements.direct_sum(&columns)?.direct_sum(&blocks)
}

/// From (32-bit register, lane, byte of the register) to (slot, byte of the slot).
fn data(bits: u32) -> Result<LinearLayout, LayoutError> {
    let element_bits = (bits / 8).ilog2();
    // A place counts the bytes of a block's matrix row by row, then blocks.
    let place = |bit: u32| match bit.checked_sub(SLOT_BITS) {
        Some(slot) => vec![1 << slot, 0],
        None => vec![0, 1 << bit],
    };
    let row_bits = COLUMN_BITS + element_bits;
    let block_bits = COLUMN_BITS + SLOT_BITS;
    let held: Bases = (0..element_bits).chain(row_bits..block_bits).map(place).collect();
    let lane = |lane: u32| if lane < COLUMN_BITS { lane + element_bits } else { lane - COLUMN_BITS + block_bits };
    let lanes = (0..LANE_BITS).map(|bit| place(lane(bit))).collect();
    let (bytes, registers) = held.split_at(2);
    LinearLayout::from_bases(
        &[(Dim::REGISTER, registers.to_vec()), (Dim::LANE, lanes), (Dim::named("byte"), bytes.to_vec())],
        &[(Dim::named("slot"), 1 << LANE_BITS), (Dim::named("byte"), 1 << SLOT_BITS)],
    )
}
