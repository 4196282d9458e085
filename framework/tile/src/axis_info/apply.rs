//! Axis information of results whose elements are elements of an operand, reordered or converted.

use super::groups::Groups;
use super::info::{MOST, Steps, power_in};
use super::{AxisInfo, IndexBitStep, IntegerRange};
use crate::{Attribute, TileType};

/// Transfer functions of the analysis: each method computes the axis information of a result of type `ty`, whose
/// elements have `bits` bits, from the axis information of the operands. The argument `of` belongs to the only operand.
pub(super) struct Apply<'a> {
    pub(super) ty: &'a TileType,
    pub(super) bits: u32,
}

impl Apply<'_> {
    pub(super) fn is_pointer(&self) -> bool {
        matches!(self.ty.element(), TileType::Pointer(_))
    }

    /// Builds the axis information of the result from its range, a divisor of its bases, and the steps of its index
    /// bits (see [`AxisInfo`]). If `range` has only one value, the result is a constant.
    pub(super) fn build(
        &self,
        range: IntegerRange,
        divisibility: u64,
        steps: impl IntoIterator<Item = IndexBitStep>,
    ) -> AxisInfo {
        if let (Some(value), false) = (range.constant_value(), self.is_pointer()) {
            return AxisInfo::constant(value, self.ty);
        }
        let mut info = AxisInfo::unknown(self.ty);
        let steps: Steps = steps.into_iter().collect();
        if steps.len() == info.steps.len() {
            info.steps = steps;
            info.divisibility = divisibility.min(MOST);
        }
        if !self.is_pointer() {
            info.range = range;
        }
        info
    }

    /// Returns the axis information of a result with a known range, and nothing else known.
    pub(super) fn bounded(&self, range: IntegerRange) -> AxisInfo {
        self.build(range, 1, AxisInfo::unknown(self.ty).steps)
    }

    pub(super) fn constant(&self, value: &Attribute) -> Option<AxisInfo> {
        // The attribute of a bool may have any number; its low bit counts.
        let own = |value: i64| if self.bits == 1 { value & 1 } else { value };
        if let Some(value) = value.as_integer() {
            return Some(AxisInfo::constant(own(value), self.ty));
        }
        let Attribute::Dense(dense) = value else { return None };
        let number = |bits: &u64| crate::NumberAttribute { bits: *bits, ty: dense.ty.element().clone() }.as_integer();
        let numbers: Vec<i64> = dense.elements.iter().filter_map(number).map(own).collect();
        if let [value] = numbers[..] {
            return Some(AxisInfo::constant(value, self.ty));
        }
        let range = numbers.iter().map(|value| IntegerRange::constant(*value)).reduce(IntegerRange::union)?;
        let nothing = AxisInfo::unknown(self.ty);
        if numbers.len() != 1 << nothing.steps.len() {
            return Some(self.bounded(range));
        }
        let step = |bit: usize| {
            let mut both = (0..numbers.len())
                .filter(|index| index >> bit & 1 == 0)
                .map(|index| numbers[index | 1 << bit].checked_sub(numbers[index]));
            both.next()?.filter(|first| both.all(|other| other == Some(*first)))
        };
        let steps: Steps = (0..nothing.steps.len()).map(step).collect();
        let is_base =
            |index: &usize| steps.iter().enumerate().all(|(bit, step)| index >> bit & 1 == 0 || step.is_none());
        let bases = (0..numbers.len()).filter(is_base);
        let divisibility = bases.map(|index| power_in(numbers[index])).min().unwrap_or(1);
        Some(self.build(range, divisibility, steps))
    }

    pub(super) fn range(&self, start: i64, end: i64) -> AxisInfo {
        let range = IntegerRange::between(start, end.saturating_sub(1));
        let bits = AxisInfo::unknown(self.ty).steps.len();
        self.build(range, power_in(start), (0..bits).map(|bit| 1i64.checked_shl(bit as u32)))
    }

    pub(super) fn splat(&self, of: &AxisInfo) -> AxisInfo {
        let bits = AxisInfo::unknown(self.ty).steps.len();
        self.build(of.range, of.divisibility, std::iter::repeat_n(Some(0), bits))
    }

    /// Returns the axis information of a result whose elements are elements of the operand at unknown indices.
    ///
    /// The range and the divisibility of all elements remain known; the steps do not.
    pub(super) fn all_of(&self, of: &AxisInfo) -> AxisInfo {
        self.build(of.range, of.divisibility(), AxisInfo::unknown(self.ty).steps)
    }

    /// Returns the axis information of a scalar result that is the operand's element with index 0.
    pub(super) fn first_of(&self, of: &AxisInfo) -> AxisInfo {
        self.build(of.range, of.divisibility, [])
    }

    /// Returns the axis information of a result that has the operand's elements in the same row-major order, and so
    /// equal steps.
    pub(super) fn kept(&self, of: &AxisInfo) -> AxisInfo {
        self.build(of.range, of.divisibility, of.steps.iter().copied())
    }

    /// Returns the axis information of a result that reads the operand's bits as another type of integer or pointer.
    ///
    /// `None` if both types, `from` and the result's, are integers of different widths.
    pub(super) fn reinterpreted(&self, of: &AxisInfo, from: &TileType) -> Option<AxisInfo> {
        let are_integers = matches!(from.element(), TileType::Integer(..)) && !self.is_pointer();
        if are_integers {
            return (from.element_bits() == Some(self.bits)).then(|| self.kept(of));
        }
        Some(self.build(IntegerRange::of_integer_width(self.bits), of.divisibility, of.steps.iter().copied()))
    }

    pub(super) fn broadcast(&self, of: &AxisInfo) -> AxisInfo {
        let own = AxisInfo::unknown(self.ty);
        let steps = own.index_bits().map(|at| if of.bits.get(at.axis) == Some(&0) { Some(0) } else { of.bit_step(at) });
        self.build(of.range, of.divisibility, steps)
    }

    pub(super) fn transposed(&self, of: &AxisInfo, order: &Attribute) -> Option<AxisInfo> {
        let Attribute::Array(_, order) = order else { return None };
        if order.len() != of.rank() || order.iter().any(|axis| *axis as usize >= of.rank()) {
            return None;
        }
        let own = AxisInfo::unknown(self.ty);
        let steps =
            own.index_bits().map(|at| of.bit_step(super::IndexBitPosition { axis: order[at.axis] as usize, ..at }));
        Some(self.build(of.range, of.divisibility, steps))
    }

    /// The axis information of `tt.join`, whose result has a new last axis: index 0 is from `a`, index 1 from `b`.
    pub(super) fn joined(&self, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
        let between = match (a.range.constant_value(), b.range.constant_value()) {
            (Some(a), Some(b)) => b.checked_sub(a),
            _ => None,
        };
        let both = a.join(b);
        self.build(both.range, both.divisibility, std::iter::once(between).chain(both.steps.iter().copied()))
    }

    /// Returns axis information that holds for both results of `tt.split`: the elements with index 0, and those with
    /// index 1, along the last axis.
    pub(super) fn split(&self, of: &AxisInfo) -> AxisInfo {
        self.build(of.range, of.divisibility_with(|bit| bit > 0), of.steps.iter().skip(1).copied())
    }

    /// Returns the axis information of a sign extension of `of` from `from_bits` bits. As a signed number, a bool is 0
    /// or -1.
    pub(super) fn sign_extended(&self, of: &AxisInfo, from_bits: u32) -> AxisInfo {
        if from_bits == 1 { self.kept(&as_signed_bool(of)) } else { self.kept(of) }
    }

    /// Returns the axis information of a zero extension of `of` from `bits` bits.
    pub(super) fn widened(&self, of: &AxisInfo, bits: u32) -> AxisInfo {
        if of.range.is_proven_non_negative() || bits >= 63 {
            let unbounded = AxisInfo { range: IntegerRange::of_integer_width(64), ..of.clone() };
            return self.kept(if of.range.is_proven_non_negative() { of } else { &unbounded });
        }
        self.wrapped(of, 1 << bits, 1 << bits, IntegerRange::between(0, (1 << bits) - 1))
    }

    pub(super) fn cut(&self, of: &AxisInfo) -> AxisInfo {
        let full = IntegerRange::of_integer_width(self.bits);
        if of.range.min >= full.min && of.range.max <= full.max {
            return self.kept(of);
        }
        // As signed numbers, the lower and the upper half of all bit patterns are not adjacent, so groups end between
        // them.
        let limit = if self.bits == 1 { 2 } else { 1 << (self.bits - 1).min(62) };
        self.wrapped(of, limit, 1 << self.bits.min(62), full)
    }

    /// Returns the axis information of the operand modulo `modulus`, a power of two; the results are in `range`.
    ///
    /// Elements between the same two neighbouring multiples of `limit` keep the steps between them; a step that is a
    /// multiple of `modulus` becomes 0.
    fn wrapped(&self, of: &AxisInfo, limit: u64, modulus: u64, range: IntegerRange) -> AxisInfo {
        let apart = |bit: usize| of.steps[bit].is_some_and(|step| power_in(step) >= modulus);
        let groups = Groups::find(of, limit, |_| true, apart);
        let steps = of.steps.iter().enumerate().map(|(bit, step)| match () {
            () if apart(bit) => Some(0),
            () if groups.has(bit) => *step,
            () => None,
        });
        self.build(range, groups.start, steps)
    }
}

/// Returns the axis information of a bool as signed arithmetic reads it: 0 or -1 in place of 0 or 1.
pub(super) fn as_signed_bool(of: &AxisInfo) -> AxisInfo {
    let steps = of.steps.iter().map(|step| step.and_then(i64::checked_neg)).collect();
    AxisInfo { range: of.range.negated(), steps, ..of.clone() }
}
