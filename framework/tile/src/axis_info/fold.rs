//! Computes integer operations on known numbers, which wrap around in their type.

use crate::op::name::arith;

/// An integer operation on numbers that are all known.
pub(super) struct KnownOperation<'a> {
    pub(super) name: &'a str,
    /// The predicate of a comparison; empty for other operations.
    pub(super) predicate: &'a str,
    /// The operands: signed numbers, except that a bool is 0 or 1.
    pub(super) operands: [i64; 2],
    pub(super) operand_bits: u32,
    pub(super) result_bits: u32,
}

impl KnownOperation<'_> {
    /// Returns the result as a signed number, a bool as 0 or 1; `None` for other operations, and if the result is
    /// undefined.
    pub(super) fn fold(&self) -> Option<i64> {
        let [a, b] = self.operands.map(|operand| signed(operand.into(), self.operand_bits));
        let [high_a, high_b] = [a, b].map(|operand| unsigned(operand, self.operand_bits));
        let amount = u32::try_from(high_b).ok().filter(|amount| *amount < self.operand_bits);
        let result = match self.name {
            arith::ADDI => a + b,
            arith::SUBI => a - b,
            arith::MULI => a.checked_mul(b)?,
            arith::SHLI => a << amount?,
            arith::SHRSI => a >> amount?,
            arith::SHRUI => high_a >> amount?,
            arith::DIVSI => a.checked_div(b)?,
            arith::REMSI => a.checked_rem(b)?,
            arith::DIVUI => high_a.checked_div(high_b)?,
            arith::REMUI => high_a.checked_rem(high_b)?,
            arith::MINUI => high_a.min(high_b),
            arith::MAXUI => high_a.max(high_b),
            arith::EXTUI => high_a,
            arith::TRUNCI => a,
            arith::CMPI => match self.predicate {
                "ult" => high_a < high_b,
                "ule" => high_a <= high_b,
                "ugt" => high_a > high_b,
                "uge" => high_a >= high_b,
                _ => return None,
            }
            .into(),
            _ => return None,
        };
        let result = if self.result_bits == 1 { result & 1 } else { signed(result, self.result_bits) };
        i64::try_from(result).ok()
    }
}

/// Reads the low bits of a number as an unsigned number.
fn unsigned(number: i128, bits: u32) -> i128 {
    if bits >= 64 { number & i128::from(u64::MAX) } else { number & ((1 << bits) - 1) }
}

/// Reads the low bits of a number as a signed number.
fn signed(number: i128, bits: u32) -> i128 {
    let shift = 128 - bits.clamp(1, 64);
    number << shift >> shift
}
