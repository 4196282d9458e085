//! Axis information of bitwise operations.

use super::apply::Apply;
use super::arithmetic::Operands;
use super::{AxisInfo, IntegerRange};

impl Apply<'_> {
    pub(super) fn and(&self, both: &Operands<'_>) -> AxisInfo {
        for (mask, of) in [(both.b.range.constant_value(), both.a), (both.a.range.constant_value(), both.b)] {
            match mask {
                Some(-1) => return self.kept(of),
                Some(mask) if mask > 0 && mask < i64::MAX && mask & (mask + 1) == 0 => return self.low_bits(of, mask),
                Some(mask) if mask < 0 && mask.unsigned_abs().is_power_of_two() => {
                    return self.high_bits(of, mask.unsigned_abs());
                }
                _ => {}
            }
        }
        let (a, b) = (both.a.range, both.b.range);
        let range = match (a.is_proven_non_negative(), b.is_proven_non_negative()) {
            (true, true) => IntegerRange::between(0, a.max.min(b.max)),
            (true, false) => IntegerRange::between(0, a.max),
            (false, true) => IntegerRange::between(0, b.max),
            (false, false) => IntegerRange::of_integer_width(self.bits),
        };
        if let (Some(a), Some(b)) = (a.constant_value(), b.constant_value()) {
            return AxisInfo::constant(a & b, self.ty);
        }
        let steps = both.unmoved();
        let (a, b) = both.divisibilities(&steps);
        self.build(range, a.max(b), steps)
    }

    /// Returns the axis information of a bitwise `or` or `xor` of the operands; `of` computes the operation on two
    /// numbers.
    pub(super) fn bitwise(&self, both: &Operands<'_>, of: impl Fn(i64, i64) -> i64) -> AxisInfo {
        if let (Some(a), Some(b)) = (both.a.range.constant_value(), both.b.range.constant_value()) {
            return AxisInfo::constant(of(a, b), self.ty);
        }
        // If the operands have no common bit, their `or` and their `xor` equal their sum.
        let fits = |low: &AxisInfo, high: &AxisInfo| {
            low.range.is_proven_non_negative() && (low.range.max as u64) < high.divisibility()
        };
        if fits(both.a, both.b) || fits(both.b, both.a) {
            return self.sum(both);
        }
        let (a, b) = (both.a.range, both.b.range);
        let range = match a.is_proven_non_negative() && b.is_proven_non_negative() {
            // The result has no bit above the highest one of the two operands.
            true => IntegerRange::between(0, (u64::MAX >> ((a.max | b.max) as u64).leading_zeros().min(63)) as i64),
            false => IntegerRange::of_integer_width(self.bits),
        };
        let steps = both.unmoved();
        let (a, b) = both.divisibilities(&steps);
        self.build(range, a.min(b), steps)
    }
}
