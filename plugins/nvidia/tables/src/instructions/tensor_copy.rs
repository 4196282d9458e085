//! `tcgen05.cp`: copies a tile from shared to tensor memory, once into each warp's rows. It executes in order with
//! MMAs, so a following MMA may read the tile without a wait.
//!
//! Only the shape for scales is here, 32 rows of 16 bytes; the others are in [`super::omitted_instructions_of`].

use tilewright_layout::{Dim, DimBases, LayoutError, LinearLayout};
use tilewright_target::{
    Completion, Instruction, InstructionKind, InstructionOperand, MemoryOperand, Queue, Semantics, TensorMemoryOperand,
};

use super::smem_operand::{OperandLocation, memory};
use super::tensor_mma::{encoding, has_tensor_memory};

const SOURCE: &str = "PTX ISA, tcgen05.cp: shapes and multicast; CUTLASS, SM100_UTCCP_4x32dp128bit_1cta";

/// Number of rows of the copied tile, and number of bytes in each row.
const SIZE: [u64; 2] = [32, 16];

/// Returns the copy instruction; none if the architecture has no tensor memory.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    // The layout is valid, so no error is dropped; tests count the instructions.
    has_tensor_memory(architecture).then(|| row().ok()).flatten().into_iter().collect()
}

fn row() -> Result<Instruction, LayoutError> {
    let [rows, bytes] = SIZE;
    let along = |axis: usize| -> DimBases {
        let step = |bit: u32| if axis == 0 { vec![1 << bit, 0] } else { vec![0, 1 << bit] };
        (0..SIZE[axis].trailing_zeros()).map(step).collect()
    };
    let sizes = [(Dim::tensor(0), rows), (Dim::tensor(1), bytes)];
    let layout = LinearLayout::from_bases(&[(Dim::ROW, along(0)), (Dim::COL, along(1))], &sizes)?;
    let byte = || "u8".to_owned();
    let source = memory("a", "u8", SIZE, OperandLocation::KMajor, &encoding());
    // A row is 16 bytes, one chunk of a swizzle, so a swizzled layout would gain nothing.
    let plain = source.layouts.into_iter().filter(|one| one.swizzle.mask == 0).collect();
    let source = MemoryOperand { role: "source".to_owned(), layouts: plain, ..source };
    let tile = TensorMemoryOperand {
        role: "memory".to_owned(),
        element: byte(),
        bits: 8,
        layout,
        copies: vec![rows, 2 * rows],
    };
    Ok(Instruction {
        name: "tcgen05.cp.cta_group::1.32x128b.warpx4".to_owned(),
        kind: InstructionKind::TensorMove,
        operands: vec![InstructionOperand::Tensor(tile), InstructionOperand::Memory(source)],
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Queue(Queue::Mma),
        numerics: None,
        source: SOURCE.to_owned(),
    })
}
