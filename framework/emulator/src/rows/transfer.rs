//! Moves between registers and shared memory: slots of bytes, whose addresses some lanes give and
//! whose bytes the same or other lanes get or give.
//!
//! The address of a slot is given by the lowest lane that `address` maps to it; what further lanes
//! give is not looked at. Wavefronts are counted over the slots, in their order, by the bank row that
//! names the instruction, or else by the one of plain accesses as wide as a slot.

use super::super::fault::LaneFault;
use super::super::meaning::Call;
use super::held::Held;
use tilewright_kernel::is_result;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Instruction, Operand};

/// One such instruction.
pub(super) struct Transfer {
    data: LinearLayout,
    /// By slot, the lane that gives its address.
    addressing: Vec<u32>,
    alignment: u32,
    is_load: bool,
    /// Numbers of the address and, for a store, of what is stored among the operands.
    address: usize,
    stored: usize,
}

impl Transfer {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        let operands: Vec<_> = row.operands.iter().filter(|operand| !is_result(operand)).collect();
        let accesses = |operand: &&Operand| matches!(operand, Operand::Access { .. });
        let address = operands.iter().position(accesses).ok_or("its row has no access operand")?;
        let is_load = row.operands.iter().any(is_result);
        let stored = operands.iter().position(|operand| matches!(operand, Operand::Register { .. }));
        let Some(Operand::Access { data, address: addresses, alignment }) = operands.get(address) else {
            return Err("its row has no access operand".to_owned());
        };
        let expected = if is_load { 1 } else { 2 };
        if operands.len() != expected || !is_load && stored.is_none() {
            return Err("its row moves neither from memory to a result nor from an operand to memory".to_owned());
        }
        if data.in_bits(Dim::named("byte")) + data.in_bits(Dim::REGISTER) + data.in_bits(Dim::LANE) != data.ins().bits()
        {
            return Err("its row moves data along other dims than register, lane and byte".to_owned());
        }
        let addressing = addressing(addresses, data.out_bits(Dim::named("slot")))?;
        let stored = stored.unwrap_or(0);
        Ok(Self { data: data.clone(), addressing, alignment: *alignment, is_load, address, stored })
    }

    pub(super) fn execute(&self, call: &mut Call<'_>) -> Result<(), LaneFault> {
        let slot_bytes = 1u32 << self.data.out_bits(Dim::named("byte"));
        let mut addresses = Vec::with_capacity(self.addressing.len());
        for &lane in &self.addressing {
            addresses.push(Some(call.operand(self.address, 0, lane)?));
        }
        let at = |slot: u64, byte: u64| (slot * u64::from(slot_bytes) + byte) as usize;
        if self.is_load {
            let ty = call.result_types().next().ok_or_else(|| call.wrong("it has no result"))?;
            let bytes = call.load_slots(&addresses, &self.addressing, slot_bytes, self.alignment)?;
            let mut held = Held::zeros(call.lanes(), ty);
            self.each_byte(|lane, bit, slot, byte| held.set(lane, bit, 8, u64::from(bytes[at(slot, byte)])));
            return held.into_result(call, ty);
        }
        let ty = call.operand_types().nth(self.stored).ok_or_else(|| call.wrong("it stores nothing"))?;
        let held = Held::operand(call, self.stored, ty)?;
        let mut bytes = vec![0; at(self.addressing.len() as u64, 0)];
        self.each_byte(|lane, bit, slot, byte| bytes[at(slot, byte)] = held.get(lane, bit, 8) as u8);
        call.store_slots(&addresses, &self.addressing, slot_bytes, self.alignment, &bytes)
    }

    /// Calls `visit` with each lane, the bit at which a byte begins in it, and the slot and byte that it
    /// goes with.
    fn each_byte(&self, mut visit: impl FnMut(u32, u32, u64, u64)) {
        let (ins, outs) = (self.data.ins(), self.data.outs());
        let byte = Dim::named("byte");
        let slot = Dim::named("slot");
        for place in 0..1u64 << ins.bits() {
            let image = self.data.apply_packed(place);
            let lane = ins.coordinate(place, Dim::LANE) as u32;
            let in_lane = ins.coordinate(place, Dim::REGISTER) << self.data.in_bits(byte) | ins.coordinate(place, byte);
            visit(lane, 8 * in_lane as u32, outs.coordinate(image, slot), outs.coordinate(image, byte));
        }
    }
}

/// By slot, the lowest lane that gives its address.
pub(super) fn addressing(addresses: &LinearLayout, slot_bits: u32) -> Result<Vec<u32>, String> {
    let mut lanes = vec![None; 1 << slot_bits];
    for lane in 0..1u64 << addresses.in_bits(Dim::LANE) {
        let image = addresses.ins().pack(&[(Dim::LANE, lane)]).map(|place| addresses.apply_packed(place));
        let slot = image.map(|image| addresses.outs().coordinate(image, Dim::named("slot")));
        let slot = slot.map_err(|error| error.to_string())?;
        if let Some(entry) = lanes.get_mut(slot as usize) {
            entry.get_or_insert(lane as u32);
        }
    }
    lanes.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| "no lane gives the address of some slot".to_owned())
}
