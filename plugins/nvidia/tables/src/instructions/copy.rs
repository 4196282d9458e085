//! `cp.async`: each lane copies 4, 8 or 16 bytes from its address in global memory to its address in shared memory, or
//! writes as many zeros to shared memory.

use tilewright_layout::{Dim, DimBases, LayoutError, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionKind, InstructionOperand, Queue, Semantics};

const SOURCE: &str =
    "PTX ISA, cp.async: sizes, cache operators, ignore-src; cp.async.commit_group, cp.async.wait_group";

const LANES: u64 = 32;

/// Cache operator and size in bytes of each `cp.async`: `.cg` bypasses L1 and requires 16 bytes.
const COPIES: [(&str, u32); 4] = [("cg", 16), ("ca", 16), ("ca", 8), ("ca", 4)];

pub(super) fn rows(capability: u32) -> Vec<Instruction> {
    if capability < 80 {
        return Vec::new();
    }
    // Each of these sizes has a valid layout, so no error is dropped; tests count the instructions.
    COPIES.iter().filter_map(|&(cached, bytes)| row(cached, bytes).ok()).collect()
}

fn row(cached: &str, bytes: u32) -> Result<Instruction, LayoutError> {
    let (segment, byte) = (Dim::named("slot"), Dim::named("byte"));
    let lanes: DimBases = (0..LANES.ilog2()).map(|bit| vec![1 << bit, 0]).collect();
    let byte_bases: DimBases = (0..bytes.ilog2()).map(|bit| vec![0, 1 << bit]).collect();
    let data = LinearLayout::from_bases(
        &[(Dim::LANE, lanes), (byte, byte_bases)],
        &[(segment, LANES), (byte, u64::from(bytes))],
    )?;
    let address = LinearLayout::identity(LANES, Dim::LANE, segment)?;
    Ok(Instruction {
        name: format!("cp.async.{cached}.shared.global.{bytes}"),
        kind: InstructionKind::AsyncCopy,
        operands: vec![
            InstructionOperand::Access { data: data.clone(), address: address.clone(), alignment: bytes },
            InstructionOperand::Global { data, address, alignment: bytes },
            InstructionOperand::Predicate,
        ],
        cycles: None,
        semantics: Semantics::Move,
        completion: Completion::Queue(Queue::Copies),
        numerics: None,
        source: SOURCE.to_owned(),
    })
}
