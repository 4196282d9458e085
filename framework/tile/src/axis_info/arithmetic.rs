//! Axis information of results that are computed element by element.

use super::apply::Apply;
use super::info::power_in;
use super::{AxisInfo, DimInfo, Range};
use crate::TileType;

impl Apply<'_> {
    /// The axis information of a sum, or of a pointer plus a number of elements.
    pub(super) fn sum(&self, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
        let is_pointer = matches!(self.ty.element(), TileType::Pointer(_));
        let range = match is_pointer {
            true => a.range,
            false => a.range.corners(b.range, self.bits, |a, b| a + b),
        };
        let unit = if is_pointer { power_in(a.step as i64) } else { 1 };
        self.each(range, |axis| {
            let (left, right) = (a.axes[axis], b.axes[axis]);
            let contiguity = left.contiguity.min(right.constancy).max(left.constancy.min(right.contiguity));
            let moved = b.divisibility_of(axis, contiguity).saturating_mul(unit);
            DimInfo {
                contiguity,
                divisibility: a.divisibility_of(axis, contiguity).min(moved),
                constancy: left.constancy.min(right.constancy),
            }
        })
    }

    pub(super) fn difference(&self, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
        self.each(a.range.corners(b.range, self.bits, |a, b| a - b), |axis| {
            let (left, right) = (a.axes[axis], b.axes[axis]);
            let contiguity = left.contiguity.min(right.constancy);
            DimInfo {
                contiguity,
                divisibility: a.divisibility_of(axis, contiguity).min(b.divisibility_of(axis, contiguity)),
                constancy: left.constancy.min(right.constancy),
            }
        })
    }

    pub(super) fn product(&self, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
        match (a.range.single(), b.range.single()) {
            (Some(1), _) => return self.kept(b),
            (_, Some(1)) => return self.kept(a),
            _ => {}
        }
        let range = a.range.corners(b.range, self.bits, |a, b| a * b);
        let zero = range.single() == Some(0);
        self.without_contiguity(
            range,
            |axis| a.divisibility_of(axis, 1).saturating_mul(b.divisibility_of(axis, 1)).min(power_in(0)),
            |axis| if zero { u64::MAX } else { a.axes[axis].constancy.min(b.axes[axis].constancy) },
        )
    }

    /// The size of the largest group of neighbours along an axis that have the same quotient by `b`. The group is
    /// contiguous and starts at a multiple of its size, which divides `b`.
    pub(super) fn group(a: &AxisInfo, b: &AxisInfo, axis: usize) -> u64 {
        let along = a.axes[axis];
        along.contiguity.min(along.divisibility).min(b.axes[axis].constancy).min(b.divisibility_of(axis, 1))
    }

    pub(super) fn quotient(&self, a: &AxisInfo, b: &AxisInfo) -> Option<AxisInfo> {
        if !a.range.is_natural() || b.range.min < 1 {
            return None;
        }
        let range = a.range.corners(b.range, self.bits, |a, b| a / b);
        let by = b.range.single().filter(|by| by.count_ones() == 1).map(|by| by as u64);
        Some(self.without_contiguity(
            range,
            |axis| match by {
                // All elements of a group have the quotient of the first.
                Some(by) if Self::group(a, b, axis) == by => (a.divisibility_of(axis, by) / by).max(1),
                Some(by) => (a.divisibility_of(axis, 1) / by).max(1),
                None => 1,
            },
            |axis| Self::group(a, b, axis).max(a.axes[axis].constancy.min(b.axes[axis].constancy)),
        ))
    }

    pub(super) fn remainder(&self, a: &AxisInfo, b: &AxisInfo) -> Option<AxisInfo> {
        if !a.range.is_natural() || b.range.min < 1 {
            return None;
        }
        let range = Range { min: 0, max: a.range.max.min(b.range.max - 1) };
        Some(self.each(range, |axis| {
            let contiguity = Self::group(a, b, axis);
            DimInfo {
                contiguity,
                divisibility: a.divisibility_of(axis, contiguity).min(b.divisibility_of(axis, 1)),
                constancy: a.axes[axis].constancy.min(b.axes[axis].constancy),
            }
        }))
    }

    pub(super) fn and(&self, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
        // A mask of low bits is a remainder, also for negative numbers.
        let mask = b.range.single().filter(|mask| *mask > 0 && (*mask & (mask + 1)) == 0);
        if let Some(mask) = mask {
            let by = mask as u64 + 1;
            return self.each(Range { min: 0, max: mask }, |axis| {
                let along = a.axes[axis];
                let contiguity = along.contiguity.min(along.divisibility).min(by);
                DimInfo { contiguity, divisibility: a.divisibility_of(axis, contiguity), constancy: along.constancy }
            });
        }
        let range = match (a.range.is_natural(), b.range.is_natural()) {
            (true, true) => Range { min: 0, max: a.range.max.min(b.range.max) },
            (true, false) => Range { min: 0, max: a.range.max },
            (false, true) => Range { min: 0, max: b.range.max },
            (false, false) => Range::of_bits(self.bits),
        };
        self.without_contiguity(
            range,
            |axis| a.divisibility_of(axis, 1).max(b.divisibility_of(axis, 1)),
            |axis| a.axes[axis].constancy.min(b.axes[axis].constancy),
        )
    }

    pub(super) fn bitwise(&self, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
        let range = match a.range.is_natural() && b.range.is_natural() {
            true => {
                let most = (a.range.max | b.range.max) as u64;
                // No bit above the highest of both operands.
                Range { min: 0, max: u64::MAX.checked_shr(most.leading_zeros()).unwrap_or(0) as i64 }
            }
            false => Range::of_bits(self.bits),
        };
        self.without_contiguity(
            range,
            |axis| a.divisibility_of(axis, 1).min(b.divisibility_of(axis, 1)),
            |axis| a.axes[axis].constancy.min(b.axes[axis].constancy),
        )
    }

    pub(super) fn power(&self, b: &AxisInfo) -> Option<AxisInfo> {
        let shift = b.range.single().filter(|shift| (0..i64::from(self.bits.min(62))).contains(shift))?;
        let mut info = AxisInfo::constant(1 << shift, self.ty);
        info.range = Range::of(1 << shift);
        Some(info)
    }

    pub(super) fn shifted_up(&self, a: &AxisInfo, b: &AxisInfo) -> Option<AxisInfo> {
        Some(self.product(a, &self.power(b)?))
    }

    pub(super) fn shifted_down(&self, a: &AxisInfo, b: &AxisInfo) -> Option<AxisInfo> {
        let by = self.power(b)?;
        if a.range.is_natural() {
            return self.quotient(a, &by);
        }
        let shift = b.range.single()?;
        let range = Range { min: a.range.min >> shift, max: a.range.max >> shift };
        // A multiple of a power of two loses no set bits below it.
        let divisibility = |axis: usize| (a.divisibility_of(axis, 1) >> shift).max(1);
        Some(self.without_contiguity(range, divisibility, |axis| Self::group(a, &by, axis).max(a.axes[axis].constancy)))
    }

    pub(super) fn extreme(&self, a: &AxisInfo, b: &AxisInfo, of: impl Fn(i64, i64) -> i64) -> AxisInfo {
        let range = Range { min: of(a.range.min, b.range.min), max: of(a.range.max, b.range.max) };
        self.without_contiguity(
            range,
            |axis| a.divisibility_of(axis, 1).min(b.divisibility_of(axis, 1)),
            |axis| a.axes[axis].constancy.min(b.axes[axis].constancy),
        )
    }

    pub(super) fn choice(&self, condition: &AxisInfo, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
        let either = a.or(b);
        // A scalar condition selects the same operand for all elements.
        let scalar = condition.axes.len() != either.axes.len();
        self.each(either.range, |axis| {
            let same = if scalar { u64::MAX } else { condition.axes[axis].constancy };
            let along = either.axes[axis];
            let contiguity = along.contiguity.min(same);
            DimInfo {
                contiguity,
                divisibility: either.divisibility_of(axis, contiguity),
                constancy: along.constancy.min(same),
            }
        })
    }

    /// The axis information of a comparison: a group of contiguous numbers on one side of a bound has equal results.
    pub(super) fn comparison(&self, predicate: &str, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
        let always = match predicate {
            "slt" if a.range.max < b.range.min => Some(1),
            "slt" if a.range.min >= b.range.max => Some(0),
            "sge" if a.range.min >= b.range.max => Some(1),
            "sge" if a.range.max < b.range.min => Some(0),
            "sle" if a.range.max <= b.range.min => Some(1),
            "sgt" if a.range.min > b.range.max => Some(1),
            _ => None,
        };
        if let Some(value) = always {
            return AxisInfo::constant(value, self.ty);
        }
        let natural = a.range.is_natural() && b.range.is_natural();
        let (below, above) = match predicate {
            "slt" | "sge" => (true, false),
            "sgt" | "sle" => (false, true),
            "ult" | "uge" => (natural, false),
            "ugt" | "ule" => (false, natural),
            _ => (false, false),
        };
        self.without_contiguity(
            Range::of_bits(1),
            |_| 1,
            |axis| {
                let plain = a.axes[axis].constancy.min(b.axes[axis].constancy);
                let left = if below { Self::group(a, b, axis) } else { 1 };
                let right = if above { Self::group(b, a, axis) } else { 1 };
                plain.max(left).max(right)
            },
        )
    }
}
