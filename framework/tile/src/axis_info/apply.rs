//! Axis information of results whose elements are elements of an operand, reordered or converted.

use super::info::power_in;
use super::{AxisInfo, DimInfo, Range};
use crate::{Attribute, TileType};

/// Transfer functions: computes the axis information of one result from the operands' information.
pub(super) struct Apply<'a> {
    pub(super) ty: &'a TileType,
    pub(super) bits: u32,
}

impl Apply<'_> {
    pub(super) fn sizes(&self) -> &[u64] {
        self.ty.shape().unwrap_or(&[1])
    }

    /// Builds the axis information of the result from its range and the information of each axis, limited to the sizes
    /// of the axes.
    pub(super) fn each(&self, range: Range, along: impl Fn(usize) -> DimInfo) -> AxisInfo {
        let mut info = AxisInfo::nothing(self.ty);
        let sizes = self.sizes();
        for (axis, old) in info.axes.iter_mut().enumerate() {
            let found = along(axis);
            let size = sizes.get(axis).copied().unwrap_or(1);
            *old = DimInfo { contiguity: found.contiguity.min(size), constancy: found.constancy.min(size), ..found };
        }
        info.range = range;
        info
    }

    /// The axis information of a result with contiguity 1.
    pub(super) fn without_contiguity(
        &self,
        range: Range,
        divisibility: impl Fn(usize) -> u64,
        constancy: impl Fn(usize) -> u64,
    ) -> AxisInfo {
        self.each(range, |axis| DimInfo { contiguity: 1, divisibility: divisibility(axis), constancy: constancy(axis) })
    }

    pub(super) fn bounded(&self, range: Range) -> AxisInfo {
        self.without_contiguity(range, |_| 1, |_| 1)
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
        Some(self.without_contiguity(range, |_| divisibility, |_| 1))
    }

    pub(super) fn range(&self, start: i64, end: i64) -> AxisInfo {
        let count = u64::try_from(end.saturating_sub(start)).unwrap_or(1);
        let range = Range { min: start, max: end.saturating_sub(1) };
        self.each(range, |_| DimInfo { contiguity: count, divisibility: power_in(start), constancy: 1 })
    }

    pub(super) fn splat(&self, of: &AxisInfo) -> AxisInfo {
        let sizes = self.sizes();
        self.without_contiguity(of.range, |_| of.divisibility_of_all(), |axis| sizes[axis])
    }

    /// The axis information of a result that may have the operand's elements at any index: divisibility of all
    /// elements, constancy 1.
    pub(super) fn all_of(&self, of: &AxisInfo) -> AxisInfo {
        self.without_contiguity(of.range, |_| of.divisibility_of_all(), |_| 1)
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

    /// The axis information of a reshape: row-major order is unchanged, so groups along the last axis remain groups.
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

    /// The axis information of a zero extension from `bits` bits.
    pub(super) fn widened(&self, of: &AxisInfo, bits: u32) -> AxisInfo {
        if of.range.is_natural() {
            return self.kept(of);
        }
        let max = if bits >= 63 { i64::MAX } else { (1 << bits) - 1 };
        // A group starts at a multiple of its size, so it does not cross from -1 to 0.
        self.each(Range { min: 0, max }, |axis| self.within_aligned_groups(of, axis))
    }

    pub(super) fn cut(&self, of: &AxisInfo) -> AxisInfo {
        let full_range = Range::of_bits(self.bits);
        match of.range.min >= full_range.min && of.range.max <= full_range.max {
            true => self.kept(of),
            false => self.each(full_range, |axis| {
                let along = self.within_aligned_groups(of, axis);
                // Only the low bits are left, which limits the contiguity.
                DimInfo { contiguity: along.contiguity.min(1 << self.bits.min(62)), ..along }
            }),
        }
    }

    /// The information of an axis, with contiguous groups reduced to groups that start at a multiple of their size.
    pub(super) fn within_aligned_groups(&self, of: &AxisInfo, axis: usize) -> DimInfo {
        let along = of.axes[axis];
        let contiguity = along.contiguity.min(along.divisibility);
        DimInfo { contiguity, divisibility: of.divisibility_of(axis, contiguity), ..along }
    }
}
