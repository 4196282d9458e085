//! Chooses the width and signedness of integer divisions: GPUs divide 64-bit integers by a loop of 32-bit operations, and
//! signed integers by a division of their absolute values.

use tilewright_kernel::{Builder, Cast, Element, Type, Value};
use tilewright_tile::Operation;
use tilewright_tile::axis_info::{AxisInfoMap, IntegerRange};
use tilewright_tile::op::name::arith;

use super::integer;

/// A division that a cheaper one replaces, since the ranges of its operands allow it.
#[derive(Clone, Copy)]
pub(super) struct CheaperDivision {
    /// The operation on the operands of fewer bits or without sign.
    name: &'static str,
    /// The cast that extends its 32-bit result; `None` if it divides in the width of its operands.
    extension: Option<Cast>,
}

/// The signed divisions, and the unsigned ones that give the same results for numbers that are not negative.
const DIVISIONS: [(&str, &str); 4] = [
    (arith::DIVSI, arith::DIVUI),
    (arith::REMSI, arith::REMUI),
    (arith::CEILDIVSI, arith::CEILDIVUI),
    (arith::FLOORDIVSI, arith::DIVUI),
];

impl CheaperDivision {
    /// Returns the cheaper division for an operation; `None` if it is no division of integers, or already the cheapest.
    pub(super) fn find(axis_info: &AxisInfoMap, operation: &Operation, bits: u32) -> Option<Self> {
        let &(signed, unsigned) = DIVISIONS.iter().find(|row| [row.0, row.1].contains(&operation.name()))?;
        let [dividend, divisor] = [0, 1].map(|at| {
            let info = operation.operands.get(at).and_then(|&operand| axis_info.get_proven(operand));
            let range = info.map(|info| info.range).filter(|range| !range.assumed);
            range.unwrap_or_else(|| IntegerRange::of_integer_width(bits))
        });
        let is_natural = dividend.min >= 0 && divisor.min >= 0;
        let was_signed = operation.name() == signed;
        let is_signed = was_signed && !is_natural;
        // Unsigned numbers from 2^63 on have negative ranges.
        let is_narrow = match is_signed {
            true => fits_signed_word(dividend, divisor),
            false => is_natural && dividend.max.max(divisor.max) <= i64::from(u32::MAX),
        };
        let (name, extension) = if is_signed { (signed, Cast::ExtendS) } else { (unsigned, Cast::ExtendU) };
        let extension = (bits == 64 && is_narrow).then_some(extension);
        (extension.is_some() || was_signed && !is_signed).then_some(Self { name, extension })
    }

    /// Emits the division.
    pub(super) fn emit(self, builder: &mut Builder, [dividend, divisor]: [Value; 2]) -> Option<Value> {
        let Some(extension) = self.extension else { return integer::on_two(builder, self.name, dividend, divisor) };
        let (wide, word) = (builder.type_of(dividend), Type::Scalar(Element::I32));
        let [dividend, divisor] = [dividend, divisor].map(|value| builder.cast(Cast::Truncate, value, word));
        let quotient = integer::on_two(builder, self.name, dividend, divisor)?;
        Some(builder.cast(extension, quotient, wide))
    }
}

/// Whether signed 32-bit integers hold both operands and all quotients.
fn fits_signed_word(dividend: IntegerRange, divisor: IntegerRange) -> bool {
    let word = IntegerRange::of_integer_width(32);
    let is_word = |range: IntegerRange| word.min <= range.min && range.max <= word.max;
    // The quotient of the least integer and -1 is one more than the greatest.
    let overflows = dividend.min == word.min && divisor.min <= -1 && divisor.max >= -1;
    is_word(dividend) && is_word(divisor) && !overflows
}
