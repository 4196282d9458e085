//! Facts of a result whose elements are those of an operand at other places, or in another type.

use super::fact::power_in;
use super::{AxisInfo, DimInfo, Range};
use crate::{Attribute, TileType};

/// Makes facts of a result.
pub(super) struct Apply<'a> {
    pub(super) ty: &'a TileType,
    pub(super) bits: u32,
}

impl Apply<'_> {
    pub(super) fn sizes(&self) -> &[u64] {
        self.ty.shape().unwrap_or(&[1])
    }

    /// Along each axis.
    pub(super) fn each(&self, range: Range, along: impl Fn(usize) -> DimInfo) -> AxisInfo {
        let mut fact = AxisInfo::nothing(self.ty);
        let sizes = self.sizes();
        for (axis, place) in fact.axes.iter_mut().enumerate() {
            let found = along(axis);
            let size = sizes.get(axis).copied().unwrap_or(1);
            *place = DimInfo { contiguity: found.contiguity.min(size), constancy: found.constancy.min(size), ..found };
        }
        fact.range = range;
        fact
    }

    /// Where neither neighbours follow each other nor more is known than what divides all elements.
    pub(super) fn plain(
        &self,
        range: Range,
        divisibility: impl Fn(usize) -> u64,
        constancy: impl Fn(usize) -> u64,
    ) -> AxisInfo {
        self.each(range, |axis| DimInfo { contiguity: 1, divisibility: divisibility(axis), constancy: constancy(axis) })
    }

    pub(super) fn bounded(&self, range: Range) -> AxisInfo {
        self.plain(range, |_| 1, |_| 1)
    }

    pub(super) fn constant(&self, value: &Attribute) -> Option<AxisInfo> {
        if let Some(value) = value.as_integer() {
            return Some(AxisInfo::constant(value, self.ty));
        }
        let Attribute::Dense(dense) = value else { return None };
        let number = |bits: &u64| crate::TypedNumber { bits: *bits, ty: dense.ty.element().clone() }.as_integer();
        let numbers: Vec<i64> = dense.elements.iter().filter_map(number).collect();
        if let [value] = numbers[..] {
            return Some(AxisInfo::constant(value, self.ty));
        }
        let range = numbers.iter().map(|value| Range::of(*value)).reduce(Range::or)?;
        let divisibility = numbers.iter().map(|value| power_in(*value)).min()?;
        Some(self.plain(range, |_| divisibility, |_| 1))
    }

    pub(super) fn range(&self, start: i64, end: i64) -> AxisInfo {
        let count = u64::try_from(end.saturating_sub(start)).unwrap_or(1);
        let range = Range { least: start, greatest: end.saturating_sub(1) };
        self.each(range, |_| DimInfo { contiguity: count, divisibility: power_in(start), constancy: 1 })
    }

    pub(super) fn splat(&self, of: &AxisInfo) -> AxisInfo {
        let sizes = self.sizes();
        self.plain(of.range, |_| of.divisibility_of_all(), |axis| sizes[axis])
    }

    /// What holds of all elements, wherever they are.
    pub(super) fn all_of(&self, of: &AxisInfo) -> AxisInfo {
        self.plain(of.range, |_| of.divisibility_of_all(), |_| 1)
    }

    pub(super) fn kept(&self, of: &AxisInfo) -> AxisInfo {
        self.each(of.range, |axis| of.axes[axis])
    }

    pub(super) fn expanded(&self, of: &AxisInfo, new: usize) -> AxisInfo {
        self.each(of.range, |axis| match axis.cmp(&new) {
            std::cmp::Ordering::Less => of.axes[axis],
            std::cmp::Ordering::Equal => DimInfo { divisibility: of.divisibility_of_all(), ..DimInfo::NOTHING },
            std::cmp::Ordering::Greater => of.axes[axis - 1],
        })
    }

    pub(super) fn broadcast(&self, of: &AxisInfo, from: &[u64]) -> AxisInfo {
        let sizes = self.sizes();
        self.each(of.range, |axis| match from[axis] == sizes[axis] {
            true => of.axes[axis],
            false => DimInfo { contiguity: 1, divisibility: of.divisibility_of(axis, 1), constancy: sizes[axis] },
        })
    }

    pub(super) fn transposed(&self, of: &AxisInfo, order: &Attribute) -> Option<AxisInfo> {
        let Attribute::Array(_, order) = order else { return None };
        let axes = order.iter().all(|axis| (*axis as usize) < of.axes.len());
        axes.then(|| self.each(of.range, |axis| of.axes[order[axis] as usize]))
    }

    /// Elements stay in their order, row by row: groups along the last axis stay groups.
    pub(super) fn reshaped(&self, of: &AxisInfo) -> AxisInfo {
        let last = of.axes.len() - 1;
        let sizes = self.sizes();
        self.each(of.range, |axis| {
            if axis + 1 < sizes.len() {
                return DimInfo { divisibility: of.divisibility_of_all(), ..DimInfo::NOTHING };
            }
            let contiguity = of.axes[last].contiguity.min(sizes[axis]);
            let constancy = of.axes[last].constancy.min(sizes[axis]);
            DimInfo { contiguity, divisibility: of.divisibility_of(last, contiguity), constancy }
        })
    }

    /// Integers of fewer bits, read without a sign.
    pub(super) fn widened(&self, of: &AxisInfo, bits: u32) -> AxisInfo {
        if of.range.is_natural() {
            return self.kept(of);
        }
        let greatest = if bits >= 63 { i64::MAX } else { (1 << bits) - 1 };
        // A group that begins at a multiple of its size does not cross from -1 to 0.
        self.each(Range { least: 0, greatest }, |axis| self.unbroken(of, axis))
    }

    pub(super) fn cut(&self, of: &AxisInfo) -> AxisInfo {
        let whole = Range::of_bits(self.bits);
        match of.range.least >= whole.least && of.range.greatest <= whole.greatest {
            true => self.kept(of),
            false => self.each(whole, |axis| {
                let along = self.unbroken(of, axis);
                // Only so many bits are left to be divided.
                DimInfo { contiguity: along.contiguity.min(1 << self.bits.min(62)), ..along }
            }),
        }
    }

    /// The same in groups that begin at a multiple of their size.
    pub(super) fn unbroken(&self, of: &AxisInfo, axis: usize) -> DimInfo {
        let along = of.axes[axis];
        let contiguity = along.contiguity.min(along.divisibility);
        DimInfo { contiguity, divisibility: of.divisibility_of(axis, contiguity), ..along }
    }
}
