//! `cp.async`: each lane copies 4, 8 or 16 bytes from its address in global memory to its address in shared memory,
//! or writes as many zeros.

use tilewright_layout::{Bases, Dim, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, Operand, Queue, Semantics};

const SOURCE: &str = "PTX ISA, cp.async: sizes, cache operators, src-size; cp.async.commit_group, cp.async.wait_group";

const LANES: u64 = 32;

/// What each size may be cached by: `.cg` leaves the first level out, and is for whole 16 bytes.
const COPIES: [(&str, u32); 4] = [("cg", 16), ("ca", 16), ("ca", 8), ("ca", 4)];

pub(super) fn rows(capability: u32) -> Vec<Instruction> {
    if capability < 80 {
        return Vec::new();
    }
    // Three sizes, each of which makes a layout; tests count the rows.
    COPIES.iter().filter_map(|&(cached, bytes)| row(cached, bytes).ok()).collect()
}

fn row(cached: &str, bytes: u32) -> Result<Instruction, LayoutError> {
    let (slot, byte) = (Dim::named("slot"), Dim::named("byte"));
    let lanes: Bases = (0..LANES.ilog2()).map(|bit| vec![1 << bit, 0]).collect();
    let own: Bases = (0..bytes.ilog2()).map(|bit| vec![0, 1 << bit]).collect();
    let data =
        LinearLayout::from_bases(&[(Dim::LANE, lanes), (byte, own)], &[(slot, LANES), (byte, u64::from(bytes))])?;
    let address = LinearLayout::identity(LANES, Dim::LANE, slot)?;
    Ok(Instruction {
        name: format!("cp.async.{cached}.shared.global.{bytes}"),
        kind: InstructionKind::AsyncCopy,
        operands: vec![
            Operand::Access { data: data.clone(), address: address.clone(), alignment: bytes },
            Operand::Global { data, address, alignment: bytes },
            Operand::Predicate,
        ],
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Queue(Queue::Copies),
        numerics: None,
        source: SOURCE.to_owned(),
    })
}
