//! The operands of one issue of an instruction: what each holds before, and which fields of the answer must hold what.

use tilewright_kernel::Carried;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_target::{MemoryOperand, Operand};

use super::case::{CaseBuffer, Expectation};
use super::test_case::{ElementBits, Legend, TestBuffer, input};
use crate::kernels::IsolatedTile;

/// The contents of the operands, and the expected result.
pub(super) struct IssueOperands {
    /// For each parameter of the kernel, what it finds there.
    pub(super) contents: Vec<Vec<u8>>,
    /// Which parameter is the answer.
    pub(super) answer: usize,
    /// Of each of its fields: which lane holds it where, bits from the start, width, expected bits.
    pub(super) expected: Vec<ExpectedField>,
}

pub(super) struct ExpectedField {
    pub(super) place: String,
    pub(super) at: u64,
    pub(super) bits: u32,
    pub(super) element: u64,
    pub(super) value: u64,
}

impl IssueOperands {
    /// One buffer for each parameter. Of the answer the expected bits are compared, others stay as they are.
    pub(super) fn buffers(self) -> Vec<TestBuffer> {
        let contents = self.contents.into_iter().enumerate();
        let mut buffers: Vec<_> = contents.map(|(number, before)| input(number, before)).collect();
        let CaseBuffer { before, .. } = &buffers[self.answer].content;
        let (mut bytes, mut mask) = (before.clone(), vec![0; before.len()]);
        for ExpectedField { at, bits, value, .. } in &self.expected {
            put(&mut bytes, *at, *bits, *value);
            put(&mut mask, *at, *bits, u64::MAX);
        }
        let answer = &mut buffers[self.answer];
        answer.content.after = Expectation::Masked { bytes, mask };
        let expected = self.expected;
        answer.legend = Some(Legend::new(move |wrong| {
            let field = expected.iter().find(|own| (own.at..own.at + u64::from(own.bits)).contains(&wrong));
            let named = field.map(|own| (own.place.clone(), own.element, own.at, own.bits));
            let (place, element, bit, bits) = named.unwrap_or_else(|| (format!("bit {wrong}"), 0, wrong, 1));
            ElementBits { place, element, bit, bits }
        }));
        buffers
    }
}

/// Bytes that all lanes hold of a register operand.
pub(super) fn bytes_of(operand: &Operand) -> Result<usize, String> {
    match (Carried::of(operand), operand) {
        (Carried::Bits(bits), Operand::Register { layout, .. }) => {
            Ok(((u64::from(bits) << (layout.in_bits(Dim::LANE) + layout.in_bits(Dim::WARP))) / 8) as usize)
        }
        (carried, _) => Err(format!("an operand is {carried}")),
    }
}

/// Bytes that all registers of a layout have, each so many bits.
pub(super) fn held_bytes(registers: &LinearLayout, bits: u32) -> usize {
    let all = [Dim::REGISTER, Dim::LANE, Dim::WARP].map(|dim| registers.in_bits(dim)).iter().sum::<u32>();
    (bits as usize) << all >> 3
}

/// The bytes of a tile in shared memory with elements of so many bits each; those of no element are all ones.
pub(super) fn filled(
    memory: &MemoryOperand,
    bits: u32,
    element: impl Fn([u64; 2]) -> Result<u64, String>,
) -> Result<Vec<u8>, String> {
    let tile = IsolatedTile::of(memory)?;
    let mut bytes = vec![0xff; tile.bytes as usize];
    for at in (0..memory.shape[0]).flat_map(|row| (0..memory.shape[1]).map(move |column| [row, column])) {
        put(&mut bytes, tile.bit(at), bits, element(at)?);
    }
    Ok(bytes)
}

/// Calls `visit` for each register of each lane of each warp with the bit at which it begins, counted over all
/// lanes, the coordinates of its element, and words for the place.
pub(super) fn each_place(
    layout: &LinearLayout,
    bits: u32,
    mut visit: impl FnMut(u64, [u64; 3], String) -> Result<(), String>,
) -> Result<(), String> {
    let registers = layout.in_bits(Dim::REGISTER);
    let lanes = layout.in_bits(Dim::LANE);
    for lane in 0..1u64 << (lanes + layout.in_bits(Dim::WARP)) {
        for register in 0..1u64 << registers {
            // Lanes of the first warp, then those of the next.
            let (in_warp, warp) = (lane & ((1 << lanes) - 1), lane >> lanes);
            let mut place = vec![(Dim::REGISTER, register), (Dim::LANE, in_warp)];
            if layout.in_bits(Dim::WARP) > 0 {
                place.push((Dim::WARP, warp));
            }
            let image = layout.apply_packed(layout.ins().pack(&place).map_err(|error| error.to_string())?);
            let coordinate = [0, 1, 2].map(|axis| layout.outs().coordinate(image, Dim::tensor(axis)));
            let at = lane * (u64::from(bits) << registers).next_power_of_two() + register * u64::from(bits);
            let of_warp = if layout.in_bits(Dim::WARP) > 0 { format!(" of warp {warp}") } else { String::new() };
            visit(at, coordinate, format!("register {register} of lane {in_warp}{of_warp}"))?;
        }
    }
    Ok(())
}

/// Sets bits of a buffer.
pub(super) fn put(bytes: &mut [u8], at: u64, bits: u32, value: u64) {
    for index in 0..u64::from(bits) {
        let (byte, bit) = (((at + index) / 8) as usize, (at + index) % 8);
        bytes[byte] = bytes[byte] & !(1 << bit) | ((value >> index & 1) as u8) << bit;
    }
}
