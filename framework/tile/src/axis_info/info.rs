//! Axis information of one value.

use smallvec::SmallVec;

use super::Range;
use crate::TileType;

/// The divisibility of zero: the largest that is stored, since every number divides zero.
const MOST: u64 = 1 << 62;

/// Axis information of a value along one axis (Triton AxisInfo). All fields are powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DimInfo {
    /// Size of the aligned groups of contiguous elements: each element is one more than the one before, or, for
    /// pointers, points one element further.
    pub contiguity: u64,
    /// Number that divides the first element of each contiguous group; for pointers in bytes.
    pub divisibility: u64,
    /// Size of the aligned groups of equal elements.
    pub constancy: u64,
}

impl DimInfo {
    /// The information that holds for every value.
    pub const NOTHING: Self = Self { contiguity: 1, divisibility: 1, constancy: 1 };
}

/// Axis information of a value, per axis; a scalar is a tensor of one element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisInfo {
    /// For each axis of the value, its axis information.
    pub axes: SmallVec<[DimInfo; 4]>,
    /// Bounds of all elements; unbounded for pointers.
    pub range: Range,
    /// The difference between neighbours in a contiguous group: 1 for integers, the bytes of an element for pointers.
    pub(super) step: u64,
}

/// The largest power of two that divides a number.
pub(super) fn power_in(value: i64) -> u64 {
    if value == 0 { MOST } else { (1 << value.trailing_zeros()).min(MOST) }
}

impl AxisInfo {
    /// The axis information that holds for every value of this type.
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

    /// The axis information of a tensor or scalar with all elements equal to `value`.
    #[must_use]
    pub fn constant(value: i64, ty: &TileType) -> Self {
        let mut info = Self::nothing(ty);
        info.range = Range::of(value);
        let sizes = ty.shape().unwrap_or(&[1]);
        for (along, size) in info.axes.iter_mut().zip(sizes) {
            *along = DimInfo { contiguity: 1, divisibility: power_in(value), constancy: *size };
        }
        info
    }

    /// A power of two that divides every element whose index along an axis is a multiple of `group`.
    pub(super) fn divisibility_of(&self, axis: usize, group: u64) -> u64 {
        let along = self.axes[axis];
        match along.contiguity > group {
            true => along.divisibility.min(group.saturating_mul(power_in(self.step as i64))),
            false => along.divisibility,
        }
    }

    /// A power of two that divides every element.
    pub(super) fn divisibility_of_all(&self) -> u64 {
        (0..self.axes.len()).map(|axis| self.divisibility_of(axis, 1)).max().unwrap_or(1)
    }

    /// The join: information that holds for both values.
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
