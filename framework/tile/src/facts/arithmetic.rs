//! Facts of a result that is computed element by element.

use super::apply::Apply;
use super::fact::power_in;
use super::{AxisInfo, DimInfo, Range};
use crate::TileType;

impl Apply<'_> {
    /// A sum, or a pointer moved by elements.
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
        self.plain(
            range,
            |axis| a.divisibility_of(axis, 1).saturating_mul(b.divisibility_of(axis, 1)).min(power_in(0)),
            |axis| if zero { u64::MAX } else { a.axes[axis].constancy.min(b.axes[axis].constancy) },
        )
    }

    /// Neighbours that follow each other and begin at a multiple of a power of two that divides `b`, and is no more than
    /// how many they are, lie between the same two multiples of `b`.
    pub(super) fn group(a: &AxisInfo, b: &AxisInfo, axis: usize) -> u64 {
        let along = a.axes[axis];
        along.contiguity.min(along.divisibility).min(b.axes[axis].constancy).min(b.divisibility_of(axis, 1))
    }

    pub(super) fn quotient(&self, a: &AxisInfo, b: &AxisInfo) -> Option<AxisInfo> {
        if !a.range.is_natural() || b.range.least < 1 {
            return None;
        }
        let range = a.range.corners(b.range, self.bits, |a, b| a / b);
        let by = b.range.single().filter(|by| by.count_ones() == 1).map(|by| by as u64);
        Some(self.plain(
            range,
            |axis| match by {
                // All of a group are its first one, divided.
                Some(by) if Self::group(a, b, axis) == by => (a.divisibility_of(axis, by) / by).max(1),
                Some(by) => (a.divisibility_of(axis, 1) / by).max(1),
                None => 1,
            },
            |axis| Self::group(a, b, axis).max(a.axes[axis].constancy.min(b.axes[axis].constancy)),
        ))
    }

    pub(super) fn remainder(&self, a: &AxisInfo, b: &AxisInfo) -> Option<AxisInfo> {
        if !a.range.is_natural() || b.range.least < 1 {
            return None;
        }
        let range = Range { least: 0, greatest: a.range.greatest.min(b.range.greatest - 1) };
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
        // Low bits alone are a remainder, of negative numbers too.
        let mask = b.range.single().filter(|mask| *mask > 0 && (*mask & (mask + 1)) == 0);
        if let Some(mask) = mask {
            let by = mask as u64 + 1;
            return self.each(Range { least: 0, greatest: mask }, |axis| {
                let along = a.axes[axis];
                let contiguity = along.contiguity.min(along.divisibility).min(by);
                DimInfo { contiguity, divisibility: a.divisibility_of(axis, contiguity), constancy: along.constancy }
            });
        }
        let range = match (a.range.is_natural(), b.range.is_natural()) {
            (true, true) => Range { least: 0, greatest: a.range.greatest.min(b.range.greatest) },
            (true, false) => Range { least: 0, greatest: a.range.greatest },
            (false, true) => Range { least: 0, greatest: b.range.greatest },
            (false, false) => Range::of_bits(self.bits),
        };
        self.plain(
            range,
            |axis| a.divisibility_of(axis, 1).max(b.divisibility_of(axis, 1)),
            |axis| a.axes[axis].constancy.min(b.axes[axis].constancy),
        )
    }

    pub(super) fn bitwise(&self, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
        let range = match a.range.is_natural() && b.range.is_natural() {
            true => {
                let most = (a.range.greatest | b.range.greatest) as u64;
                // No bit above the highest of both.
                Range { least: 0, greatest: u64::MAX.checked_shr(most.leading_zeros()).unwrap_or(0) as i64 }
            }
            false => Range::of_bits(self.bits),
        };
        self.plain(
            range,
            |axis| a.divisibility_of(axis, 1).min(b.divisibility_of(axis, 1)),
            |axis| a.axes[axis].constancy.min(b.axes[axis].constancy),
        )
    }

    pub(super) fn power(&self, b: &AxisInfo) -> Option<AxisInfo> {
        let places = b.range.single().filter(|places| (0..i64::from(self.bits.min(62))).contains(places))?;
        let mut fact = AxisInfo::constant(1 << places, self.ty);
        fact.range = Range::of(1 << places);
        Some(fact)
    }

    pub(super) fn shifted_up(&self, a: &AxisInfo, b: &AxisInfo) -> Option<AxisInfo> {
        Some(self.product(a, &self.power(b)?))
    }

    pub(super) fn shifted_down(&self, a: &AxisInfo, b: &AxisInfo) -> Option<AxisInfo> {
        let by = self.power(b)?;
        if a.range.is_natural() {
            return self.quotient(a, &by);
        }
        let places = b.range.single()?;
        let range = Range { least: a.range.least >> places, greatest: a.range.greatest >> places };
        // What is a multiple of a power of two loses none of its ones below it.
        let divisibility = |axis: usize| (a.divisibility_of(axis, 1) >> places).max(1);
        Some(self.plain(range, divisibility, |axis| Self::group(a, &by, axis).max(a.axes[axis].constancy)))
    }

    pub(super) fn extreme(&self, a: &AxisInfo, b: &AxisInfo, of: impl Fn(i64, i64) -> i64) -> AxisInfo {
        let range = Range { least: of(a.range.least, b.range.least), greatest: of(a.range.greatest, b.range.greatest) };
        self.plain(
            range,
            |axis| a.divisibility_of(axis, 1).min(b.divisibility_of(axis, 1)),
            |axis| a.axes[axis].constancy.min(b.axes[axis].constancy),
        )
    }

    pub(super) fn choice(&self, condition: &AxisInfo, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
        let either = a.or(b);
        // A scalar condition is the same for all elements.
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

    /// Truth values: where numbers that follow each other lie on one side of a bound, they are the same.
    pub(super) fn comparison(&self, predicate: &str, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
        let always = match predicate {
            "slt" if a.range.greatest < b.range.least => Some(1),
            "slt" if a.range.least >= b.range.greatest => Some(0),
            "sge" if a.range.least >= b.range.greatest => Some(1),
            "sge" if a.range.greatest < b.range.least => Some(0),
            "sle" if a.range.greatest <= b.range.least => Some(1),
            "sgt" if a.range.least > b.range.greatest => Some(1),
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
        self.plain(
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
