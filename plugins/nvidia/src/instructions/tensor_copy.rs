//! `tcgen05.cp`: a tile from shared to tensor memory, once for each warp's rows. It is done in the order of products, so
//! that a product may follow that reads it.
//!
//! Of the shapes this is the one for scales: 32 rows of 16 bytes. The others are in [`super::unused`].

use tilewright_layout::{Bases, Dim, LayoutError, LinearLayout};
use tilewright_target::{
    Completion, Instruction, InstructionKind, MemoryOperand, Operand, Queue, Semantics, TensorOperand,
};

use super::factor::{Side, memory};
use super::tensor_product::{has_tensor_memory, told};

const SOURCE: &str = "PTX ISA, tcgen05.cp: shapes and multicast; CUTLASS, SM100_UTCCP_4x32dp128bit_1cta";

/// Rows, and bytes of each.
const SIZE: [u64; 2] = [32, 16];

/// The row of an architecture that has tensor memory.
pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    // A row that is no layout would be a mistake here; tests count the rows.
    has_tensor_memory(architecture).then(|| row().ok()).flatten().into_iter().collect()
}

fn row() -> Result<Instruction, LayoutError> {
    let [rows, bytes] = SIZE;
    let along = |axis: usize| -> Bases {
        let place = |bit: u32| if axis == 0 { vec![1 << bit, 0] } else { vec![0, 1 << bit] };
        (0..SIZE[axis].trailing_zeros()).map(place).collect()
    };
    let sizes = [(Dim::tensor(0), rows), (Dim::tensor(1), bytes)];
    let layout = LinearLayout::from_bases(&[(Dim::ROW, along(0)), (Dim::COL, along(1))], &sizes)?;
    let byte = || "u8".to_owned();
    let source = memory("a", "u8", SIZE, Side::AlongK, &told());
    // A row of 16 bytes is no longer than what a swizzle leaves together: nothing is gained by one.
    let plain = source.arrangements.into_iter().filter(|one| one.mix.mask == 0).collect();
    let source = MemoryOperand { role: "source".to_owned(), arrangements: plain, ..source };
    let tile =
        TensorOperand { role: "memory".to_owned(), element: byte(), bits: 8, layout, copies: vec![rows, 2 * rows] };
    Ok(Instruction {
        name: "tcgen05.cp.cta_group::1.32x128b.warpx4".to_owned(),
        kind: InstructionKind::TensorMove,
        operands: vec![Operand::Tensor(tile), Operand::Memory(source)],
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Queue(Queue::Products),
        numerics: None,
        source: SOURCE.to_owned(),
    })
}
