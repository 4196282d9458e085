//! Moves between registers and shared memory (such as `ldmatrix`) by segments, which are runs of contiguous bytes (dim
//! `slot` of the row's layouts): some lanes give the addresses of the segments, the same or other lanes receive or
//! supply the bytes.
//!
//! The lowest lane that `address` maps to a segment gives the address of the segment; addresses of further lanes are
//! ignored. Wavefronts are counted over the segments in order, by the bank row that names the instruction, or else by
//! the row of plain accesses of the segment's width.

use super::super::fault::LaneFault;
use super::super::semantics::InstructionCall;
use super::operand_bits::RegisterBits;
use tilewright_kernel::is_result_operand;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{Instruction, InstructionOperand};

/// The semantics of an instruction that moves segments (runs of contiguous bytes) between shared memory and registers,
/// such as `ldmatrix`.
pub(super) struct Transfer {
    data: LinearLayout,
    /// For each segment, the lane that gives the segment's address.
    addressing: Vec<u32>,
    alignment: u32,
    is_load: bool,
    /// Index of the operand with the addresses.
    address: usize,
    stored: usize,
}

impl Transfer {
    pub(super) fn of(row: &Instruction) -> Result<Self, String> {
        let operands: Vec<_> = row.operands.iter().filter(|operand| !is_result_operand(operand)).collect();
        let accesses = |operand: &&InstructionOperand| matches!(operand, InstructionOperand::Access { .. });
        let address = operands.iter().position(accesses).ok_or("its description has no access operand")?;
        let is_load = row.operands.iter().any(is_result_operand);
        let stored = operands.iter().position(|operand| matches!(operand, InstructionOperand::Register { .. }));
        let Some(InstructionOperand::Access { data, address: addresses, alignment }) = operands.get(address) else {
            return Err("its description has no access operand".to_owned());
        };
        let expected = if is_load { 1 } else { 2 };
        if operands.len() != expected || !is_load && stored.is_none() {
            return Err("its description reads no memory into a result and stores no operand".to_owned());
        }
        if data.in_bits(Dim::named("byte")) + data.in_bits(Dim::REGISTER) + data.in_bits(Dim::LANE)
            != data.ins().total_bits()
        {
            return Err("its access has other dims than register, lane and byte".to_owned());
        }
        let addressing = addressing(addresses, data.out_bits(Dim::named("slot")))?;
        let stored = stored.unwrap_or(0);
        Ok(Self { data: data.clone(), addressing, alignment: *alignment, is_load, address, stored })
    }

    pub(super) fn execute(&self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
        let segment_bytes = 1u32 << self.data.out_bits(Dim::named("byte"));
        let mut addresses = Vec::with_capacity(self.addressing.len());
        for &lane in &self.addressing {
            addresses.push(Some(call.operand(self.address, 0, lane)?));
        }
        let at = |segment: u64, byte: u64| (segment * u64::from(segment_bytes) + byte) as usize;
        if self.is_load {
            let ty = call.result_types().next().ok_or_else(|| call.invalid_use_fault("it has no result"))?;
            let bytes = call.load_segments(&addresses, &self.addressing, segment_bytes, self.alignment)?;
            let mut operand_bits = RegisterBits::zeros(call.lanes(), ty);
            self.each_byte(|lane, bit, segment, byte| {
                operand_bits.set(lane, bit, 8, u64::from(bytes[at(segment, byte)]))
            });
            return operand_bits.into_result(call);
        }
        let ty = call
            .operand_types()
            .nth(self.stored)
            .ok_or_else(|| call.invalid_use_fault("it has no elements to store"))?;
        let operand_bits = RegisterBits::operand(call, self.stored, ty)?;
        let mut bytes = vec![0; at(self.addressing.len() as u64, 0)];
        self.each_byte(|lane, bit, segment, byte| bytes[at(segment, byte)] = operand_bits.get(lane, bit, 8) as u8);
        call.store_segments(&addresses, &self.addressing, segment_bytes, self.alignment, &bytes)
    }

    /// Calls `visit` for each byte: the lane, the byte's lowest bit in the lane's registers, the segment in shared
    /// memory, and the byte in the segment.
    fn each_byte(&self, mut visit: impl FnMut(u32, u32, u64, u64)) {
        let (ins, outs) = (self.data.ins(), self.data.outs());
        let byte = Dim::named("byte");
        let segment = Dim::named("slot");
        for packed in 0..1u64 << ins.total_bits() {
            let image = self.data.apply_packed(packed);
            let lane = ins.coordinate(packed, Dim::LANE) as u32;
            let in_lane =
                ins.coordinate(packed, Dim::REGISTER) << self.data.in_bits(byte) | ins.coordinate(packed, byte);
            visit(lane, 8 * in_lane as u32, outs.coordinate(image, segment), outs.coordinate(image, byte));
        }
    }
}

/// Returns for each segment the lowest lane that gives the segment's address.
pub(super) fn addressing(addresses: &LinearLayout, segment_bits: u32) -> Result<Vec<u32>, String> {
    let mut lanes = vec![None; 1 << segment_bits];
    for lane in 0..1u64 << addresses.in_bits(Dim::LANE) {
        let image = addresses.ins().pack(&[(Dim::LANE, lane)]).map(|packed| addresses.apply_packed(packed));
        let segment = image.map(|image| addresses.outs().coordinate(image, Dim::named("slot")));
        let segment = segment.map_err(|error| error.to_string())?;
        if let Some(entry) = lanes.get_mut(segment as usize) {
            entry.get_or_insert(lane as u32);
        }
    }
    lanes.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| "no lane has the address of some segment".to_owned())
}
