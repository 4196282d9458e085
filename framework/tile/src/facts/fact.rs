//! What is known of one value.

use smallvec::SmallVec;

use super::Range;
use crate::TileType;

/// Zero can be divided by everything; this stands for that.
const MOST: u64 = 1 << 62;

/// What is known of a value along one axis. All are powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DimInfo {
    /// Along the axis so many elements, counted from a multiple of that, follow each other: each is one more than
    /// the one before, or of pointers one element further.
    pub contiguity: u64,
    /// The first of each of these groups can be divided by it; of pointers in bytes.
    pub divisibility: u64,
    /// Along the axis so many elements, counted from a multiple of that, are the same.
    pub constancy: u64,
}

impl DimInfo {
    /// Nothing is known.
    pub const NOTHING: Self = Self { contiguity: 1, divisibility: 1, constancy: 1 };
}

/// What is known of a value: along each axis, a scalar being a tensor of one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisInfo {
    /// Along each axis.
    pub axes: SmallVec<[DimInfo; 4]>,
    /// Between which bounds all elements lie; of pointers nothing is said.
    pub range: Range,
    /// How far an element is from the one that follows it: 1 of integers, an element's bytes of pointers.
    pub(super) step: u64,
}

/// The greatest power of two that divides a number.
pub(super) fn power_in(value: i64) -> u64 {
    if value == 0 { MOST } else { (1 << value.trailing_zeros()).min(MOST) }
}

impl AxisInfo {
    /// Nothing is known of a value of this type.
    #[must_use]
    pub fn nothing(ty: &TileType) -> Self {
        let rank = ty.shape().map_or(1, |shape| shape.len().max(1));
        let step = match ty.element() {
            TileType::Pointer(pointer) => u64::from(pointer.pointee.element_bits().unwrap_or(8).div_ceil(8)),
            _ => 1,
        };
        let bits = match ty.element() {
            TileType::Integer(bits, _) => *bits,
            _ => 64,
        };
        Self { axes: SmallVec::from_elem(DimInfo::NOTHING, rank), range: Range::of_bits(bits), step }
    }

    /// All elements are this integer.
    #[must_use]
    pub fn constant(value: i64, ty: &TileType) -> Self {
        let mut fact = Self::nothing(ty);
        fact.range = Range::of(value);
        let sizes = ty.shape().unwrap_or(&[1]);
        for (along, size) in fact.axes.iter_mut().zip(sizes) {
            *along = DimInfo { contiguity: 1, divisibility: power_in(value), constancy: *size };
        }
        fact
    }

    /// What every element at a multiple of `group` along an axis can be divided by.
    pub(super) fn divisibility_of(&self, axis: usize, group: u64) -> u64 {
        let along = self.axes[axis];
        match along.contiguity > group {
            true => along.divisibility.min(group.saturating_mul(power_in(self.step as i64))),
            false => along.divisibility,
        }
    }

    /// What every element can be divided by.
    pub(super) fn divisibility_of_all(&self) -> u64 {
        (0..self.axes.len()).map(|axis| self.divisibility_of(axis, 1)).max().unwrap_or(1)
    }

    /// What holds whichever of the two a value is.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let axes = self.axes.iter().zip(&other.axes).enumerate().map(|(axis, (a, b))| {
            let contiguity = a.contiguity.min(b.contiguity);
            DimInfo {
                contiguity,
                divisibility: self.divisibility_of(axis, contiguity).min(other.divisibility_of(axis, contiguity)),
                constancy: a.constancy.min(b.constancy),
            }
        });
        Self { axes: axes.collect(), range: self.range.or(other.range), step: self.step }
    }
}
