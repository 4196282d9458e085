//! Asynchronous copies from global to shared memory by the lanes of a warp. A lane's bytes are read at the lane's
//! offset in global memory, and are written at its offset in shared memory when the copy completes.
//!
//! Memory is addressed in segments, which are runs of contiguous bytes (dim `slot` of the row's layouts): the lowest
//! lane that the row's `address` maps to a segment gives the segment's address. The bytes that a lane writes are
//! contiguous.

use super::super::fault::LaneFault;
use super::super::semantics::InstructionCall;
use super::transfer::addressing;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Completion, Instruction, InstructionOperand};

/// One side of an asynchronous copy: its source in global memory, or its destination in shared memory.
struct Side {
    /// Index of the operand with the addresses of this side.
    operand: usize,
    /// For each segment, the lane that gives the segment's address.
    addressing: Vec<u32>,
    segment_bytes: u32,
    alignment: u32,
    /// For each lane, the segment that has the lane's bytes, and the byte offset of these in the segment.
    begins: Vec<(usize, u32)>,
}

/// The semantics of an asynchronous copy instruction, by which each lane copies bytes from global to shared memory.
pub(super) struct Copy {
    from: Side,
    to: Side,
    predicate: Option<usize>,
    /// Number of bytes that each lane copies.
    bytes: u32,
}

impl Copy {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        if !matches!(row.completion, Completion::Queue(_)) {
            return Err("its description has no queue".to_owned());
        }
        let operands = || row.operands.iter().enumerate();
        let from = operands().find_map(|(index, operand)| match operand {
            InstructionOperand::Global { data, address, alignment } => Some((index, data, address, *alignment)),
            _ => None,
        });
        let to = operands().find_map(|(index, operand)| match operand {
            InstructionOperand::Access { data, address, alignment } => Some((index, data, address, *alignment)),
            _ => None,
        });
        let (Some(from), Some(to)) = (from, to) else {
            return Err("its description is not a copy from global to shared memory".to_owned());
        };
        let predicate =
            operands().find(|(_, operand)| matches!(operand, InstructionOperand::Predicate)).map(|(index, _)| index);
        let byte_bits = to.1.in_bits(Dim::named("byte"));
        if from.1.ins() != to.1.ins() {
            return Err("its description has other bytes in global than in shared memory".to_owned());
        }
        let side = |(operand, data, address, alignment): (usize, &LinearLayout, &LinearLayout, u32)| {
            Ok::<_, String>(Side {
                operand,
                addressing: addressing(address, data.out_bits(Dim::named("slot")))?,
                segment_bytes: 1 << data.out_bits(Dim::named("byte")),
                alignment,
                begins: begins(data)?,
            })
        };
        Ok(Self { from: side(from)?, to: side(to)?, predicate, bytes: 1 << byte_bits })
    }

    pub(super) fn execute(&self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
        let mut reads = vec![true; call.lanes() as usize];
        if let Some(predicate) = self.predicate {
            for (lane, reads) in (0..).zip(&mut reads) {
                *reads = call.operand(predicate, 0, lane)? != 0;
            }
        }
        let mut addresses = Vec::with_capacity(self.from.addressing.len());
        for &lane in &self.from.addressing {
            let address = call.operand(self.from.operand, 0, lane)?;
            addresses.push(reads.get(lane as usize).is_some_and(|&reads| reads).then_some(address));
        }
        let data = call.load_global(&addresses, self.from.segment_bytes, self.from.alignment)?;
        let mut written = Vec::with_capacity(reads.len());
        for (lane, (&(segment, byte), reads)) in (0..).zip(self.from.begins.iter().zip(reads)) {
            let start = segment * self.from.segment_bytes as usize + byte as usize;
            let lane_bytes = &data[start..start + self.bytes as usize];
            let zeros = vec![0; self.bytes as usize];
            let (segment, byte) = self.to.begins[lane as usize];
            let address = call.operand(self.to.operand, 0, self.to.addressing[segment])?.wrapping_add(u64::from(byte));
            let alignment = self.to.alignment.min(self.bytes);
            call.write_shared_asynchronously(lane, address, if reads { lane_bytes } else { &zeros }, alignment)?;
            written.push(Some(address));
        }
        call.count_shared_copy(&written, self.bytes)
    }
}

/// Returns for each lane the segment that has the lane's bytes, and the byte offset of these in the segment; an error
/// if a lane's bytes are not contiguous.
fn begins(data: &LinearLayout) -> Result<Vec<(usize, u32)>, String> {
    let (byte, segment) = (Dim::named("byte"), Dim::named("slot"));
    let image = |packed: u64| {
        let image = data.apply_packed(packed);
        (data.outs().coordinate(image, segment), data.outs().coordinate(image, byte))
    };
    let mut begins = vec![(0, 0); 1 << data.in_bits(Dim::LANE)];
    for packed in 0..1u64 << data.ins().total_bits() {
        let (lane, lane_bytes) = (data.ins().coordinate(packed, Dim::LANE), data.ins().coordinate(packed, byte));
        let first = data.ins().pack(&[(Dim::LANE, lane)]).map_err(|error| error.to_string())?;
        let (begin, at) = (image(first), image(packed));
        if at != (begin.0, begin.1 + lane_bytes) {
            return Err(format!("its description scatters the bytes of lane {lane}"));
        }
        begins[lane as usize] = (begin.0 as usize, begin.1 as u32);
    }
    Ok(begins)
}
