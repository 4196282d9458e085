//! Axis information of quotients, remainders and shifts right.

use super::apply::Apply;
use super::arithmetic::Operands;
use super::groups::Groups;
use super::info::{MOST, Steps, power_in};
use super::{AxisInfo, IntegerRange};

/// The signedness of the operands of a division, and the rounding of the quotient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Division {
    /// Signed, rounded toward zero.
    Signed,
    /// Unsigned.
    Unsigned,
    /// Signed, rounded down: a shift right.
    Down,
}

impl Division {
    /// Whether the quotient of any number in the range `dividend` by a positive number is rounded down.
    ///
    /// Signed and unsigned quotients are rounded down if no dividend is negative; shifts right always round down.
    fn rounds_down(self, dividend: IntegerRange) -> bool {
        match self {
            Self::Signed => dividend.is_non_negative(),
            Self::Unsigned => dividend.is_proven_non_negative(),
            Self::Down => true,
        }
    }

    fn is_positive(self, divisor: IntegerRange) -> bool {
        divisor.min > 0 && (self != Self::Unsigned || !divisor.assumed)
    }

    /// Whether the dividend is not negative but the sign of the divisor is unknown, as for a number of blocks that is
    /// an argument.
    ///
    /// The quotient of scalars, which are often numbers of blocks, is then computed under the assumption that the
    /// divisor is positive.
    fn leaves_open_sign(self, dividend: IntegerRange, divisor: IntegerRange) -> bool {
        self == Self::Signed && dividend.is_non_negative() && divisor.min <= 0 && divisor.max > 0
    }
}

/// Returns the groups of elements with equal quotients, and a predicate: whether an index bit outside the groups
/// changes the quotient by a known amount.
///
/// The predicate holds for the bits that change the dividend by multiples of `divisor`. If the divisor is unknown
/// (`None`), it holds for those that change neither operand.
fn find_groups(both: &Operands<'_>, divisor: Option<i64>) -> (Groups, impl Fn(usize) -> bool) {
    let (a, b) = (both.a.steps.clone(), both.b.steps.clone());
    let candidates = |bit: usize| both.b.steps[bit] == Some(0);
    let apart = move |bit: usize| match divisor {
        Some(by) => a[bit].is_some_and(|step| step % by == 0),
        None => a[bit] == Some(0) && b[bit] == Some(0),
    };
    (Groups::find(both.a, both.b.divisibility(), candidates, &apart), apart)
}

impl Apply<'_> {
    pub(super) fn quotient(&self, both: &Operands<'_>, division: Division) -> AxisInfo {
        let (a, divisor) = (both.a, both.b.range.constant_value());
        match divisor {
            Some(1) => return self.kept(a),
            Some(by) if by != 0 && division != Division::Unsigned => {
                if let Some(exact) = self.exact_quotient(a, by) {
                    return exact;
                }
            }
            _ => {}
        }
        if a.range.constant_value() == Some(0) {
            return AxisInfo::constant(0, self.ty);
        }
        let of_unknown_sign = division.leaves_open_sign(a.range, both.b.range);
        if !of_unknown_sign && (!division.rounds_down(a.range) || !division.is_positive(both.b.range)) {
            return self.build(IntegerRange::of_integer_width(self.bits), 1, both.unmoved());
        }
        // The elements of a group have equal quotients whatever the divisor's sign is.
        let range = match of_unknown_sign {
            true if self.ty.shape().is_none() => IntegerRange { min: 0, max: a.range.max, assumed: true },
            true => IntegerRange::of_integer_width(self.bits),
            false => a.range.corners(both.b.range, self.bits, |a, b| a.div_euclid(b)),
        };
        let (groups, apart) = find_groups(both, divisor);
        let steps = a.steps.iter().enumerate().map(|(bit, step)| match divisor {
            _ if groups.has(bit) => Some(0),
            _ if !apart(bit) => None,
            Some(by) => step.map(|step| step / by),
            None => Some(0),
        });
        let power = divisor.filter(|by| by.count_ones() == 1).map(|by| by as u64);
        let divisibility = power.map_or(1, |by| (groups.start / by).max(1));
        self.build(range, divisibility, steps)
    }

    /// Returns the axis information of the quotient if `by` is plus or minus a power of two that divides all elements
    /// of `a`; otherwise `None`.
    fn exact_quotient(&self, a: &AxisInfo, by: i64) -> Option<AxisInfo> {
        let power = by.checked_abs().filter(|by| by.count_ones() == 1)? as u64;
        if !a.divisibility().is_multiple_of(power) {
            return None;
        }
        let range = a.range.corners(IntegerRange::constant(by), self.bits, |a, b| a / b);
        let divisibility = if a.divisibility == MOST { MOST } else { a.divisibility / power };
        Some(self.build(range, divisibility, a.steps.iter().map(|step| step.map(|step| step / by))))
    }

    pub(super) fn remainder(&self, both: &Operands<'_>, division: Division) -> AxisInfo {
        let (a, b) = (both.a, both.b);
        let divisor = b.range.constant_value();
        if matches!(divisor, Some(1 | -1)) && (division != Division::Unsigned || divisor == Some(1)) {
            return AxisInfo::constant(0, self.ty);
        }
        let most = b.range.max.saturating_sub(1);
        if division == Division::Signed && a.range.is_non_negative() && b.range.min <= 0 {
            // The remainder has the dividend's sign, and does not depend on the divisor's.
            return self.build_remainder(both, divisor.filter(|by| *by > 0), a.range.derived(b.range, 0, a.range.max));
        }
        if !division.rounds_down(a.range) || !division.is_positive(b.range) {
            let steps = both.unmoved();
            let (of_a, of_b) = both.divisibilities(&steps);
            let is_signed = division == Division::Signed && b.range.min > 0;
            let range = if is_signed {
                a.range.derived(b.range, -most, most)
            } else {
                IntegerRange::of_integer_width(self.bits)
            };
            return self.build(range, of_a.min(of_b), steps);
        }
        if a.range.max < b.range.min {
            return self.kept(a);
        }
        let range = a.range.derived(b.range, 0, a.range.max.min(most));
        self.build_remainder(both, divisor, range)
    }

    /// Builds the axis information of the remainder of a division that rounds down; the results are in `range`.
    /// `divisor` is `None` if it is unknown.
    ///
    /// Groups keep their steps, and a step that is a multiple of the divisor becomes 0.
    fn build_remainder(&self, both: &Operands<'_>, divisor: Option<i64>, range: IntegerRange) -> AxisInfo {
        let (groups, apart) = find_groups(both, divisor);
        let steps = both.a.steps.iter().enumerate().map(|(bit, step)| match () {
            () if apart(bit) => Some(0),
            () if groups.has(bit) => *step,
            () => None,
        });
        let power = divisor.filter(|by| by.count_ones() == 1).map(|by| by as u64);
        let vanishes = power.is_some_and(|by| groups.start >= by);
        let divisibility = if vanishes { MOST } else { groups.start.min(both.b.divisibility()) };
        self.build(range, divisibility, steps)
    }

    /// Returns the axis information of `a & mask`: the remainder, rounded down, by the power of two `mask + 1`.
    pub(super) fn low_bits(&self, a: &AxisInfo, mask: i64) -> AxisInfo {
        let by = AxisInfo { range: IntegerRange::constant(mask + 1), ..AxisInfo::constant(mask + 1, self.ty) };
        let max = if a.range.is_proven_non_negative() { a.range.max.min(mask) } else { mask };
        if a.range.is_proven_non_negative() && a.range.max <= mask {
            return self.kept(a);
        }
        self.build_remainder(&Operands { a, b: &by }, Some(mask + 1), IntegerRange::between(0, max))
    }

    /// Returns the axis information of `a` rounded down to a multiple of the power of two `power`.
    pub(super) fn high_bits(&self, a: &AxisInfo, power: u64) -> AxisInfo {
        let apart = |bit: usize| a.steps[bit].is_some_and(|step| power_in(step) >= power);
        let groups = Groups::find(a, power, |_| true, apart);
        let steps = a.steps.iter().enumerate().map(|(bit, step)| match () {
            () if apart(bit) => *step,
            () if groups.has(bit) => Some(0),
            () => None,
        });
        let mask = !(power as i64 - 1);
        let range = IntegerRange { min: a.range.min & mask, max: a.range.max & mask, ..a.range };
        self.build(range, groups.start.max(power), steps)
    }

    /// Returns the axis information of a shift right, which is a quotient by a power of two, rounded down.
    pub(super) fn shifted_down(&self, both: &Operands<'_>, division: Division) -> AxisInfo {
        let (a, by) = (both.a, both.b.range);
        let division = if a.range.is_proven_non_negative() { Division::Down } else { division };
        if let (Some(shift), true) = (by.constant_value(), division == Division::Down)
            && (0..i64::from(self.bits.min(62))).contains(&shift)
        {
            return self.quotient(&Operands { a, b: &AxisInfo::constant(1 << shift, self.ty) }, Division::Down);
        }
        let steps: Steps = both.unmoved();
        let is_natural = a.range.is_proven_non_negative() || (division == Division::Down && a.range.is_non_negative());
        let width = i64::from(self.bits);
        let range = match by.constant_value() {
            _ if is_natural => IntegerRange { min: 0, ..a.range },
            Some(shift) if division == Division::Unsigned && (1..width).contains(&shift) => {
                IntegerRange::between(0, i64::MAX >> (63 - (width - shift)))
            }
            _ => IntegerRange::of_integer_width(self.bits),
        };
        self.build(range, 1, steps)
    }
}
