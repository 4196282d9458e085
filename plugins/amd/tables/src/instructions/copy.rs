//! `global_load_lds_dword` and its wider form (LDS DMA): each lane loads from its own global address, and the lanes'
//! data is written to consecutive LDS addresses, from the first lane's address on.
//!
//! Three more widths are not in the table: loads of one and of two bytes write a whole word of LDS, and twelve bytes
//! are not a power of two.

use tilewright_layout::{Dim, DimBases, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Queue, Semantics};

const SOURCE: &str = "AMD CDNA 3 ISA reference, memory instructions with LDS as destination: LDS address is M0 plus \
                      the lane's number times the bytes of a lane; LLVM, AMDGPU usage, llvm.amdgcn.global.load.lds: sizes of gfx950";

const LANE_BITS: u32 = 6;

pub(super) fn rows(architecture: &str) -> Vec<Instruction> {
    let words: &[u32] = match architecture {
        "gfx950" => &[4, 1],
        "gfx908" | "gfx90a" | "gfx940" | "gfx941" | "gfx942" => &[1],
        _ => &[],
    };
    // Both sizes have valid layouts, so no error is dropped; tests count the instructions.
    words.iter().filter_map(|&words| row(words).ok()).collect()
}

fn row(words: u32) -> Result<Instruction, LayoutError> {
    let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
    let (lanes, bytes) = (1u64 << LANE_BITS, 4 * u64::from(words));
    let byte_bases: DimBases = (0..bytes.ilog2()).map(|bit| vec![0, 1 << bit]).collect();
    let each: DimBases = (0..LANE_BITS).map(|bit| vec![1 << bit, 0]).collect();
    let after: DimBases = (0..LANE_BITS).map(|bit| vec![0, bytes << bit]).collect();
    let from =
        LinearLayout::from_bases(&[(Dim::LANE, each), (byte, byte_bases.clone())], &[(segment, lanes), (byte, bytes)])?;
    let to =
        LinearLayout::from_bases(&[(Dim::LANE, after), (byte, byte_bases)], &[(segment, 1), (byte, lanes * bytes)])?;
    let first = LinearLayout::from_bases(&[(Dim::LANE, vec![vec![0]; LANE_BITS as usize])], &[(segment, 1)])?;
    let size = if words == 1 { "dword".to_owned() } else { format!("dwordx{words}") };
    // Global addresses need only an alignment of four bytes.
    let from = InstructionOperand::Global {
        data: from,
        address: LinearLayout::identity(lanes, Dim::LANE, segment)?,
        alignment: 4,
    };
    Ok(Instruction {
        name: format!("global_load_lds_{size}"),
        kind: InstructionKind::AsyncCopy,
        operands: vec![InstructionOperand::Access { data: to, address: first, alignment: bytes as u32 }, from],
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Queue(Queue::Copies),
        numerics: None,
        source: SOURCE.to_owned(),
    })
}
