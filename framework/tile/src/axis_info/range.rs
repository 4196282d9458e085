//! Ranges of signed integers.

/// The inclusive range from `min` to `max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Lower bound.
    pub min: i64,
    /// Upper bound.
    pub max: i64,
}

impl Range {
    /// The range that has only this value.
    #[must_use]
    pub fn of(value: i64) -> Self {
        Self { min: value, max: value }
    }

    /// All values of an integer type of this width; a bool is 0 or 1.
    #[must_use]
    pub fn of_bits(bits: u32) -> Self {
        match bits {
            0 | 1 => Self { min: 0, max: 1 },
            2..=63 => Self { min: -(1 << (bits - 1)), max: (1 << (bits - 1)) - 1 },
            _ => Self { min: i64::MIN, max: i64::MAX },
        }
    }

    /// The value, if the range has only one; otherwise `None`.
    #[must_use]
    pub fn single(self) -> Option<i64> {
        (self.min == self.max).then_some(self.min)
    }

    /// Whether no value is negative.
    #[must_use]
    pub fn is_natural(self) -> bool {
        self.min >= 0
    }

    /// The smallest range that contains both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The range of the results of an operation that is monotone in each operand, or reverses direction at most once:
    /// the hull of its values at the corners, or the full range of `bits` bits if these overflow.
    pub(super) fn corners(self, other: Self, bits: u32, operation: impl Fn(i128, i128) -> i128) -> Self {
        let all = [self.min, self.max].into_iter().flat_map(|a| [(a, other.min), (a, other.max)]);
        let all: Vec<i128> = all.map(|(a, b)| operation(a.into(), b.into())).collect();
        let (min, max) = all.iter().fold((i128::MAX, i128::MIN), |(l, g), &v| (l.min(v), g.max(v)));
        let full_range = Self::of_bits(bits);
        let fits = min >= full_range.min.into() && max <= full_range.max.into();
        match (i64::try_from(min), i64::try_from(max)) {
            (Ok(min), Ok(max)) if fits => Self { min, max },
            _ => full_range,
        }
    }
}
