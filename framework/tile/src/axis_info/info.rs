//! Axis information of one value: the change of the value with each bit of an element's index.

use smallvec::SmallVec;

use super::IntegerRange;
use crate::TileType;

/// The divisibility of zero, and the largest that is stored: every number divides zero.
pub(super) const MOST: u64 = 1 << 62;

/// A bit of an element's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IndexBitPosition {
    /// The axis of the coordinate that contains the bit.
    pub axis: usize,
    /// The position of the bit in that coordinate; 0 is the lowest.
    pub bit: u32,
}

/// The amount by which setting one bit of the index changes an element, whatever the other bits are; for pointers in
/// bytes. `None` if the amount is unknown, or is not the same for all elements.
pub type IndexBitStep = Option<i64>;

/// The steps of all index bits, in row-major order: the lowest bit of the last axis comes first.
pub(super) type Steps = SmallVec<[IndexBitStep; 12]>;

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
    pub const UNKNOWN: Self = Self { contiguity: 1, divisibility: 1, constancy: 1 };
}

/// Axis information of a value; a scalar is a tensor of one element.
///
/// An element is a base plus the steps of the index bits that are set. The base depends only on the bits with an
/// unknown step. So the value is a linear map over the index bits with known steps, as layouts are linear maps over
/// their input bits, but with integer addition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisInfo {
    /// For each axis, the number of bits of its coordinate.
    pub(super) bits: SmallVec<[u32; 4]>,
    pub(super) steps: Steps,
    /// A power of two that divides every base; for pointers in bytes.
    pub(super) divisibility: u64,
    /// Bounds of all elements; unbounded for pointers. A bool is 0 or 1.
    pub range: IntegerRange,
    /// The difference between neighbours in a contiguous group: 1 for integers, the bytes of an element for pointers.
    pub(super) unit: i64,
}

/// Returns the largest power of two that divides a number, at most [`MOST`].
pub(super) fn power_in(value: i64) -> u64 {
    if value == 0 { MOST } else { (1 << value.trailing_zeros()).min(MOST) }
}

impl AxisInfo {
    /// Returns the axis information that holds for every value of this type.
    #[must_use]
    pub fn unknown(ty: &TileType) -> Self {
        let unit = match ty.element() {
            TileType::Pointer(pointer) => i64::from(pointer.pointee.element_bits().unwrap_or(8).div_ceil(8)),
            _ => 1,
        };
        let width = match ty.element() {
            TileType::Integer(width, _) => *width,
            _ => 64,
        };
        let sizes = ty.shape().filter(|shape| !shape.is_empty()).unwrap_or(&[1]);
        let bits: SmallVec<[u32; 4]> = sizes.iter().map(|size| size.max(&1).trailing_zeros()).collect();
        let steps = SmallVec::from_elem(None, bits.iter().sum::<u32>() as usize);
        Self { bits, steps, divisibility: 1, range: IntegerRange::of_integer_width(width), unit }
    }

    /// Returns the axis information of a tensor or scalar with all elements equal to `value`.
    #[must_use]
    pub fn constant(value: i64, ty: &TileType) -> Self {
        let mut info = Self::unknown(ty);
        info.range = IntegerRange::constant(value);
        info.divisibility = power_in(value);
        info.steps.fill(Some(0));
        info
    }

    /// The number of axes; 1 for a scalar.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.bits.len()
    }

    /// Returns the position in `steps` of the lowest index bit of an axis.
    pub(super) fn start_of(&self, axis: usize) -> usize {
        self.bits.iter().skip(axis + 1).sum::<u32>() as usize
    }

    /// Iterates over all index bits, in the order of `steps`.
    pub(super) fn index_bits(&self) -> impl Iterator<Item = IndexBitPosition> + '_ {
        self.bits
            .iter()
            .enumerate()
            .rev()
            .flat_map(|(axis, &bits)| (0..bits).map(move |bit| IndexBitPosition { axis, bit }))
    }

    /// Returns the step of an index bit; `None` if it is unknown, or if the value has no such bit.
    #[must_use]
    pub fn bit_step(&self, at: IndexBitPosition) -> IndexBitStep {
        let known = self.bits.get(at.axis).is_some_and(|bits| at.bit < *bits);
        if known { self.steps[self.start_of(at.axis) + at.bit as usize] } else { None }
    }

    /// Whether elements whose indices differ only in this bit are equal.
    #[must_use]
    pub fn is_constant_across_bit(&self, at: IndexBitPosition) -> bool {
        self.bit_step(at) == Some(0)
    }

    /// Whether all elements are equal.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.steps.iter().all(|step| *step == Some(0))
    }

    /// Returns a power of two that divides every element for which the index bits that `zeroed` selects (by position in
    /// `steps`) are zero.
    pub(super) fn divisibility_with(&self, zeroed: impl Fn(usize) -> bool) -> u64 {
        let set = self.steps.iter().enumerate().filter(|(bit, _)| !zeroed(*bit));
        set.filter_map(|(_, step)| step.map(power_in)).fold(self.divisibility, u64::min)
    }

    /// Returns a power of two that divides every base: every element whose index bits with known steps are zero.
    ///
    /// It also divides each difference of two bases, the change of an element by index bits with unknown steps.
    #[must_use]
    pub fn base_divisibility(&self) -> u64 {
        self.divisibility
    }

    /// Returns a power of two that divides every element; for pointers in bytes.
    #[must_use]
    pub fn divisibility(&self) -> u64 {
        self.divisibility_with(|_| false)
    }

    /// Returns the axis information along one axis as Triton has it; [`DimInfo::UNKNOWN`] if there is no such axis.
    #[must_use]
    pub fn dim_info(&self, axis: usize) -> DimInfo {
        let Some(&bits) = self.bits.get(axis) else { return DimInfo::UNKNOWN };
        let start = self.start_of(axis);
        let along = &self.steps[start..start + bits as usize];
        let unit = i128::from(self.unit);
        let contiguous =
            along.iter().enumerate().take_while(|(bit, step)| step.is_some_and(|step| i128::from(step) == unit << bit));
        let contiguous = contiguous.count();
        DimInfo {
            contiguity: 1 << contiguous,
            divisibility: self.divisibility_with(|bit| (start..start + contiguous).contains(&bit)),
            constancy: 1 << along.iter().take_while(|step| **step == Some(0)).count(),
        }
    }

    /// Returns the index bits that number the elements of the widest aligned vectors, along any axes; the lowest bit
    /// comes first.
    ///
    /// They change an element by one, two, four, ... units, and the first element of each vector is a multiple of the
    /// vector's size.
    #[must_use]
    pub fn aligned_vector_bits(&self) -> Vec<IndexBitPosition> {
        self.vector_bits(u64::MAX)
    }

    /// Returns the index bits that number the elements of the widest vectors whose first element is a multiple of the
    /// vector's size or of `sufficient_alignment`, as [`Self::aligned_vector_bits`] does.
    #[must_use]
    pub fn vector_bits(&self, sufficient_alignment: u64) -> Vec<IndexBitPosition> {
        let distance = |length: usize| self.unit.checked_shl(length as u32).filter(|distance| *distance > 0);
        let mut run: Vec<usize> = Vec::new();
        let next = |length: usize| self.steps.iter().position(|step| step.is_some() && *step == distance(length));
        while let Some(bit) = next(run.len()) {
            run.push(bit);
        }
        let is_aligned = |length: usize| {
            let others = self.divisibility_with(|bit| run[..length].contains(&bit));
            distance(length).is_some_and(|size| others.is_multiple_of((size as u64).min(sufficient_alignment)))
        };
        let length = (0..=run.len()).rev().find(|&length| is_aligned(length)).unwrap_or(0);
        let all: Vec<IndexBitPosition> = self.index_bits().collect();
        run[..length].iter().map(|&bit| all[bit]).collect()
    }

    /// Returns the join of the information on two values: everything that holds for both.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        let steps: Steps = self.steps.iter().zip(&other.steps).map(|(a, b)| if a == b { *a } else { None }).collect();
        let kept = |bit: usize| steps.get(bit).is_some_and(Option::is_some);
        let divisibility = self.divisibility_with(kept).min(other.divisibility_with(kept));
        Self { bits: self.bits.clone(), divisibility, range: self.range.union(other.range), unit: self.unit, steps }
    }
}
