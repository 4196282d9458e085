//! What instructions do that move data between registers and shared memory, from their rows alone.
//!
//! Such an instruction takes the pointer that every lane gives and, where it stores, the registers;
//! where it loads, it gives the registers: a scalar or vector of 32-bit words.

use super::fault::LaneFault;
use super::meaning::{Call, Meaning, Meanings};
use crate::layout::{Dim, LinearLayout};
use crate::target::{Instruction, InstructionKind, Operand};

/// The meaning of one row.
struct Move {
    data: LinearLayout,
    address: LinearLayout,
    alignment: u32,
    loads: bool,
}

impl Meanings {
    /// The meanings of those rows that say by themselves what they do.
    #[must_use]
    pub fn of(instructions: &[Instruction]) -> Self {
        let mut meanings = Self::new();
        for row in instructions.iter().filter(|row| row.kind == InstructionKind::SharedMove) {
            let loads = matches!(row.operands.first(), Some(Operand::Register { .. }));
            let access = row.operands.iter().find_map(|operand| match operand {
                Operand::Access { data, address, alignment } => Some((data.clone(), address.clone(), *alignment)),
                _ => None,
            });
            if let Some((data, address, alignment)) = access {
                meanings.insert(&row.name, Move { data, address, alignment, loads });
            }
        }
        meanings
    }
}

impl Move {
    /// Bytes of a slot.
    fn slot_bytes(&self) -> usize {
        1 << self.data.out_bits(Dim::named("byte"))
    }

    /// The lane that gives the address of each slot: the first that names it.
    fn lane_of_slot(&self, lanes: u32) -> Vec<Option<u32>> {
        let mut of_slot = vec![None; 1 << self.data.out_bits(Dim::named("slot"))];
        for lane in (0..lanes).rev() {
            let slot = self.address.apply_packed(u64::from(lane)) as usize;
            if let Some(of_slot) = of_slot.get_mut(slot) {
                *of_slot = Some(lane);
            }
        }
        of_slot
    }

    /// For every byte of every register of every lane the byte of a slot, and so of what the lanes'
    /// addresses name.
    fn bytes(&self, of_slot: &[Option<u32>]) -> Vec<(u32, u32, u32, usize)> {
        let (ins, outs) = (self.data.ins(), self.data.outs());
        let places = (0..1u64 << ins.bits()).filter_map(|place| {
            let image = self.data.apply_packed(place);
            let at = |name: &str| ins.coordinate(place, Dim::named(name)) as u32;
            let slot = outs.coordinate(image, Dim::named("slot")) as usize;
            let byte = outs.coordinate(image, Dim::named("byte")) as usize;
            let lane = of_slot.get(slot).copied().flatten()? as usize;
            Some((at("register"), at("lane"), at("byte"), lane * self.slot_bytes() + byte))
        });
        places.collect()
    }
}

impl Meaning for Move {
    fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
        let of_slot = self.lane_of_slot(call.lanes());
        let mut addresses = Vec::new();
        for lane in 0..call.lanes() {
            let pointer = call.operand(0, 0, lane)?;
            addresses.push(of_slot.contains(&Some(lane)).then_some(pointer));
        }
        let bytes = self.bytes(&of_slot);
        let slot_bytes = self.slot_bytes();
        if self.loads {
            let data = call.load_shared(&addresses, slot_bytes as u32, self.alignment)?;
            let registers = 1u32 << self.data.in_bits(Dim::REGISTER);
            let mut words = vec![0u64; (registers * call.lanes()) as usize];
            for (register, lane, byte, at) in bytes {
                words[(lane * registers + register) as usize] |= u64::from(data[at]) << (8 * byte);
            }
            for (number, &word) in (0u32..).zip(&words) {
                call.set_result(0, number % registers, number / registers, word)?;
            }
            return Ok(());
        }
        let mut data = vec![0; addresses.len() * slot_bytes];
        for (register, lane, byte, at) in bytes {
            data[at] = (call.operand(1, register, lane)? >> (8 * byte)) as u8;
        }
        call.store_shared(&addresses, slot_bytes as u32, self.alignment, &data)
    }
}
