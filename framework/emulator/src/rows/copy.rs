//! Copies from global to shared memory: the bytes of a lane are those of its place in global memory, and go to
//! its place in shared memory when the copy has completed.
//!
//! The address of a slot is given by the lowest lane that `address` maps to it, as of a move. What a lane
//! writes lies together.

use super::super::fault::LaneFault;
use super::super::meaning::Call;
use super::transfer::addressing;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Completion, Instruction, Operand};

/// One side of a copy.
struct Side {
    /// Number of the operand.
    operand: usize,
    /// By slot, the lane that gives its address.
    addressing: Vec<u32>,
    slot_bytes: u32,
    alignment: u32,
    /// By lane, the slot and the byte of the slot where its bytes begin.
    begins: Vec<(usize, u32)>,
}

/// One such instruction.
pub(super) struct Copy {
    from: Side,
    to: Side,
    predicate: Option<usize>,
    /// Bytes of a lane.
    bytes: u32,
}

impl Copy {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        if !matches!(row.completion, Completion::Queue(_)) {
            return Err("its row completes on no queue".to_owned());
        }
        let operands = || row.operands.iter().enumerate();
        let from = operands().find_map(|(number, operand)| match operand {
            Operand::Global { data, address, alignment } => Some((number, data, address, *alignment)),
            _ => None,
        });
        let to = operands().find_map(|(number, operand)| match operand {
            Operand::Access { data, address, alignment } => Some((number, data, address, *alignment)),
            _ => None,
        });
        let (Some(from), Some(to)) = (from, to) else {
            return Err("its row does not go from global to shared memory".to_owned());
        };
        let predicate = operands().find(|(_, operand)| matches!(operand, Operand::Predicate)).map(|(number, _)| number);
        let byte_bits = to.1.in_bits(Dim::named("byte"));
        if from.1.ins() != to.1.ins() {
            return Err("its row has other bytes in global than in shared memory".to_owned());
        }
        let side = |(operand, data, address, alignment): (usize, &LinearLayout, &LinearLayout, u32)| {
            Ok::<_, String>(Side {
                operand,
                addressing: addressing(address, data.out_bits(Dim::named("slot")))?,
                slot_bytes: 1 << data.out_bits(Dim::named("byte")),
                alignment,
                begins: begins(data)?,
            })
        };
        Ok(Self { from: side(from)?, to: side(to)?, predicate, bytes: 1 << byte_bits })
    }

    pub(super) fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
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
        let data = call.load_global(&addresses, self.from.slot_bytes, self.from.alignment)?;
        let mut written = Vec::with_capacity(reads.len());
        for (lane, (&(slot, byte), reads)) in (0..).zip(self.from.begins.iter().zip(reads)) {
            let start = slot * self.from.slot_bytes as usize + byte as usize;
            let own = &data[start..start + self.bytes as usize];
            let zeros = vec![0; self.bytes as usize];
            let (slot, byte) = self.to.begins[lane as usize];
            let address = call.operand(self.to.operand, 0, self.to.addressing[slot])?.wrapping_add(u64::from(byte));
            let alignment = self.to.alignment.min(self.bytes);
            call.send_write(lane, address, if reads { own } else { &zeros }, alignment)?;
            written.push(Some(address));
        }
        call.count_copy(&written, self.bytes)
    }
}

/// By lane where its bytes begin, which must lie together.
fn begins(data: &LinearLayout) -> Result<Vec<(usize, u32)>, String> {
    let (byte, slot) = (Dim::named("byte"), Dim::named("slot"));
    let image = |place: u64| {
        let image = data.apply_packed(place);
        (data.outs().coordinate(image, slot), data.outs().coordinate(image, byte))
    };
    let mut begins = vec![(0, 0); 1 << data.in_bits(Dim::LANE)];
    for place in 0..1u64 << data.ins().bits() {
        let (lane, own) = (data.ins().coordinate(place, Dim::LANE), data.ins().coordinate(place, byte));
        let first = data.ins().pack(&[(Dim::LANE, lane)]).map_err(|error| error.to_string())?;
        let (begin, at) = (image(first), image(place));
        if at != (begin.0, begin.1 + own) {
            return Err(format!("its row scatters the bytes of lane {lane}"));
        }
        begins[lane as usize] = (begin.0 as usize, begin.1 as u32);
    }
    Ok(begins)
}
