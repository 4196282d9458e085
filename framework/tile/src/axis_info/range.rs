//! Ranges of integers, as bounds of the elements of a value.

/// The inclusive range from `min` to `max`. Integers count as signed, except that a bool is 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerRange {
    /// Lower bound, inclusive.
    pub min: i64,
    /// Upper bound, inclusive.
    pub max: i64,
    /// Whether the bounds hold only under the assumption that signed arithmetic does not overflow. Unsigned arithmetic
    /// may wrap around, so its results may be outside.
    pub assumed: bool,
}

impl IntegerRange {
    /// The range that has only this value.
    #[must_use]
    pub fn constant(value: i64) -> Self {
        Self::between(value, value)
    }

    /// The range from `min` to `max`.
    #[must_use]
    pub fn between(min: i64, max: i64) -> Self {
        Self { min, max, assumed: false }
    }

    /// All values of an integer type of this width; a bool is 0 or 1.
    #[must_use]
    pub fn of_integer_width(bits: u32) -> Self {
        match bits {
            0 | 1 => Self::between(0, 1),
            2..=63 => Self::between(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            _ => Self::between(i64::MIN, i64::MAX),
        }
    }

    /// The value, if the range has only one and this holds even if signed arithmetic overflows; otherwise `None`.
    #[must_use]
    pub fn constant_value(self) -> Option<i64> {
        (self.min == self.max && !self.assumed).then_some(self.min)
    }

    /// Whether no value is negative, perhaps only under the assumption that signed arithmetic does not overflow.
    #[must_use]
    pub fn is_non_negative(self) -> bool {
        self.min >= 0
    }

    /// Whether no value is negative, without any assumption, so that signed and unsigned arithmetic read the same
    /// number.
    #[must_use]
    pub fn is_proven_non_negative(self) -> bool {
        self.min >= 0 && !self.assumed
    }

    /// The smallest range that contains both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max), assumed: self.assumed || other.assumed }
    }

    /// Returns the range from `min` to `max`, whose bounds are computed from those of this range and of `other`. They
    /// are assumed if those of either range are.
    pub(super) fn derived(self, other: Self, min: i64, max: i64) -> Self {
        Self { min, max, assumed: self.assumed || other.assumed }
    }

    /// Returns the range of the negated values; as signed numbers, a bool is 0 or -1.
    pub(super) fn negated(self) -> Self {
        Self { min: self.max.saturating_neg(), max: self.min.saturating_neg(), assumed: self.assumed }
    }

    /// Returns the range of the results of an operation that is monotone in each operand if the other operand stays the
    /// same.
    ///
    /// It contains the results for all pairs of bounds, limited to the numbers of `bits` bits, since signed arithmetic
    /// is assumed not to overflow.
    pub(super) fn corners(self, other: Self, bits: u32, operation: impl Fn(i128, i128) -> i128) -> Self {
        let all = [self.min, self.max].into_iter().flat_map(|a| [(a, other.min), (a, other.max)]);
        let all = all.map(|(a, b)| operation(a.into(), b.into()));
        let (min, max) = all.fold((i128::MAX, i128::MIN), |(l, g), v| (l.min(v), g.max(v)));
        let full = Self::of_integer_width(bits);
        let (low, high) = (min.max(full.min.into()), max.min(full.max.into()));
        match (i64::try_from(low), i64::try_from(high)) {
            (Ok(low), Ok(high)) if low <= high => {
                let limited = (min, max) != (low.into(), high.into());
                Self { min: low, max: high, assumed: limited || self.assumed || other.assumed }
            }
            _ => full,
        }
    }
}
