//! Operands of one issue of an instruction: their initial contents, and the expected fields of the result.

use tilewright_kernel::ValueTypeRequirement;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{InstructionOperand, MemoryOperand};

use super::case::{CaseBuffer, ExpectedContents};
use super::test_case::{BufferElementField, BufferLegend, TestBuffer, input};
use crate::kernels::SharedOperandTile;

/// The initial contents of an instruction's operands, and the expected result of one issue.
pub(super) struct IssueOperands {
    /// The initial contents of the buffer of each kernel parameter.
    pub(super) contents: Vec<Vec<u8>>,
    /// Index of the kernel parameter whose buffer receives the result.
    pub(super) answer: usize,
    /// Expected fields of the result: the bits of the elements that the instruction must write.
    pub(super) expected: Vec<ExpectedField>,
}

pub(super) struct ExpectedField {
    pub(super) location: String,
    pub(super) at: u64,
    pub(super) bits: u32,
    pub(super) element: u64,
    pub(super) value: u64,
}

impl IssueOperands {
    /// Creates the test buffer of each kernel parameter. The expected bits of the result are compared; all inputs must
    /// stay unchanged.
    pub(super) fn buffers(self) -> Vec<TestBuffer> {
        let contents = self.contents.into_iter().enumerate();
        let mut buffers: Vec<_> = contents.map(|(buffer_index, before)| input(buffer_index, before)).collect();
        let CaseBuffer { before, .. } = &buffers[self.answer].content;
        let (mut bytes, mut mask) = (before.clone(), vec![0; before.len()]);
        for ExpectedField { at, bits, value, .. } in &self.expected {
            put(&mut bytes, *at, *bits, *value);
            put(&mut mask, *at, *bits, u64::MAX);
        }
        let answer = &mut buffers[self.answer];
        answer.content.after = ExpectedContents::Masked { bytes, mask };
        let expected = self.expected;
        answer.legend = Some(BufferLegend::from_fn(move |wrong| {
            let field = expected.iter().find(|operand_field| {
                (operand_field.at..operand_field.at + u64::from(operand_field.bits)).contains(&wrong)
            });
            let named = field.map(|operand_field| {
                (operand_field.location.clone(), operand_field.element, operand_field.at, operand_field.bits)
            });
            let (location, element, bit, bits) = named.unwrap_or_else(|| (format!("bit {wrong}"), 0, wrong, 1));
            BufferElementField { location, element, bit, bits }
        }));
        buffers
    }
}

/// Returns the number of bytes that a register operand takes over all lanes and warps that issue the instruction.
pub(super) fn bytes_of(operand: &InstructionOperand) -> Result<usize, String> {
    match (ValueTypeRequirement::from_operand(operand), operand) {
        (ValueTypeRequirement::Bits(bits), InstructionOperand::Register { layout, .. }) => {
            Ok(((u64::from(bits) << (layout.in_bits(Dim::LANE) + layout.in_bits(Dim::WARP))) / 8) as usize)
        }
        (carried, _) => Err(format!("an operand is {carried}")),
    }
}

/// Returns the number of bytes of all registers of all lanes and warps of a layout, each of `bits` bits.
pub(super) fn register_bytes(registers: &LinearLayout, bits: u32) -> usize {
    let all = [Dim::REGISTER, Dim::LANE, Dim::WARP].map(|dim| registers.in_bits(dim)).iter().sum::<u32>();
    (bits as usize) << all >> 3
}

/// Returns the bytes of a tile in shared memory, in the canonical layout that takes the least memory. `element` returns
/// the `bits` bits of the element at (row, column); padding is all ones.
pub(super) fn filled(
    memory: &MemoryOperand,
    bits: u32,
    element: impl Fn([u64; 2]) -> Result<u64, String>,
) -> Result<Vec<u8>, String> {
    let tile = SharedOperandTile::find_smallest(memory).map_err(|error| error.to_string())?;
    let mut bytes = vec![0xff; tile.bytes as usize];
    for at in (0..memory.shape[0]).flat_map(|row| (0..memory.shape[1]).map(move |column| [row, column])) {
        put(&mut bytes, tile.bit_offset(at), bits, element(at)?);
    }
    Ok(bytes)
}

/// Calls `visit` for each register of each lane of each warp. Its arguments are the register's first bit in the
/// operand's buffer, the coordinates of its element (dim0, dim1, dim2), and a description such as `register 1 of lane
/// 2`.
pub(super) fn for_each_register(
    layout: &LinearLayout,
    bits: u32,
    mut visit: impl FnMut(u64, [u64; 3], String) -> Result<(), String>,
) -> Result<(), String> {
    let registers = layout.in_bits(Dim::REGISTER);
    let lanes = layout.in_bits(Dim::LANE);
    for lane in 0..1u64 << (lanes + layout.in_bits(Dim::WARP)) {
        for register in 0..1u64 << registers {
            // Lanes are numbered through all warps: first the lanes of warp 0, then those of warp 1, and so on.
            let (in_warp, warp) = (lane & ((1 << lanes) - 1), lane >> lanes);
            let mut coordinates = vec![(Dim::REGISTER, register), (Dim::LANE, in_warp)];
            if layout.in_bits(Dim::WARP) > 0 {
                coordinates.push((Dim::WARP, warp));
            }
            let image = layout.apply_packed(layout.ins().pack(&coordinates).map_err(|error| error.to_string())?);
            let coordinate = [0, 1, 2].map(|axis| layout.outs().coordinate(image, Dim::tensor(axis)));
            let at = lane * (u64::from(bits) << registers).next_power_of_two() + register * u64::from(bits);
            let of_warp = if layout.in_bits(Dim::WARP) > 0 { format!(" of warp {warp}") } else { String::new() };
            visit(at, coordinate, format!("register {register} of lane {in_warp}{of_warp}"))?;
        }
    }
    Ok(())
}

/// Writes `bits` bits of a value to a buffer, starting at bit `at`.
pub(super) fn put(bytes: &mut [u8], at: u64, bits: u32, value: u64) {
    for index in 0..u64::from(bits) {
        let (byte, bit) = (((at + index) / 8) as usize, (at + index) % 8);
        bytes[byte] = bytes[byte] & !(1 << bit) | ((value >> index & 1) as u8) << bit;
    }
}
