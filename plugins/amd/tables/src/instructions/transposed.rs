//! `ds_read_b64_tr_b16` and `ds_read_b64_tr_b8`: transposing loads from LDS.
//!
//! The 64 lanes form four blocks of sixteen. Each lane gives the address of a segment (8 bytes of LDS). In lane order,
//! the segments of a block form a row-major matrix of sixteen columns, and each lane receives one column. Two more
//! instructions, for elements of 4 and 6 bits, are not in the table, since elements of kernels are whole bytes.

use tilewright_layout::{Dim, DimBases, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Semantics};

const SOURCE: &str = "AMD CDNA 4 ISA reference, section 11.4, matrix transpose loads from LDS; which lane gets what: \
                      Triton's AMD backend (TargetFeatures.cpp, lowerDsReadTr) and, for 16 bits, ROCm/rocm-systems \
                      pull request 10175";

/// Log2 of the number of columns of the matrix that a block of sixteen lanes loads. A lane receives the column with the
/// lane's index in the block.
const COLUMN_BITS: u32 = 4;
const LANE_BITS: u32 = 6;
/// Log2 of the number of bytes of a segment, the consecutive bytes of LDS that a lane addresses; a lane receives as
/// many bytes.
const SEGMENT_BITS: u32 = 3;

pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    if architecture != "gfx950" {
        return Vec::new();
    }
    // Both element widths have valid layouts, so no error is dropped; tests count the instructions.
    [16, 8].into_iter().filter_map(|bits| row(bits).ok()).collect()
}

fn row(bits: u32) -> Result<Instruction, LayoutError> {
    let register = InstructionOperand::Register {
        role: "d".to_owned(),
        element: format!("b{bits}"),
        bits,
        layout: columns(bits)?,
    };
    let address = LinearLayout::identity(1 << LANE_BITS, Dim::LANE, Dim::named("slot"))?;
    Ok(Instruction {
        name: format!("ds_read_b64_tr_b{bits}"),
        kind: InstructionKind::SharedMove,
        operands: vec![register, InstructionOperand::Access { data: data(bits)?, address, alignment: 8 }],
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Immediate,
        numerics: None,
        source: SOURCE.to_owned(),
    })
}

/// Returns the layout of the result: (element of a lane, lane) to (row, column, block of sixteen lanes), for elements
/// of `bits` bits.
fn columns(bits: u32) -> Result<LinearLayout, LayoutError> {
    let rows = 64 / u64::from(bits);
    let elements = LinearLayout::identity(rows, Dim::REGISTER, Dim::tensor(0))?;
    let columns = LinearLayout::identity(1 << COLUMN_BITS, Dim::LANE, Dim::tensor(1))?;
    let blocks = LinearLayout::identity(1 << (LANE_BITS - COLUMN_BITS), Dim::LANE, Dim::tensor(2))?;
    elements.direct_sum(&columns)?.direct_sum(&blocks)
}

/// Returns the layout of the data in LDS: (32-bit register, lane, byte of the register) to (segment, byte of the
/// segment). A segment is the 8 bytes that a lane addresses.
fn data(bits: u32) -> Result<LinearLayout, LayoutError> {
    let element_bits = (bits / 8).ilog2();
    // A byte's offset in memory has seven low bits for the position in a block's row-major matrix; the higher bits are
    // the block index.
    let column_of_bit = |bit: u32| match bit.checked_sub(SEGMENT_BITS) {
        Some(segment) => vec![1 << segment, 0],
        None => vec![0, 1 << bit],
    };
    let row_bits = COLUMN_BITS + element_bits;
    let block_bits = COLUMN_BITS + SEGMENT_BITS;
    let in_lane: DimBases = (0..element_bits).chain(row_bits..block_bits).map(column_of_bit).collect();
    let lane = |lane: u32| if lane < COLUMN_BITS { lane + element_bits } else { lane - COLUMN_BITS + block_bits };
    let lanes = (0..LANE_BITS).map(|bit| column_of_bit(lane(bit))).collect();
    let (bytes, registers) = in_lane.split_at(2);
    LinearLayout::from_bases(
        &[(Dim::REGISTER, registers.to_vec()), (Dim::LANE, lanes), (Dim::named("byte"), bytes.to_vec())],
        &[(Dim::named("slot"), 1 << LANE_BITS), (Dim::named("byte"), 1 << SEGMENT_BITS)],
    )
}
