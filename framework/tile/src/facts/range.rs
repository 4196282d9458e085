//! Bounds of integers, read with a sign.

/// Every value lies from `least` to `greatest`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// No value is less.
    pub least: i64,
    /// No value is greater.
    pub greatest: i64,
}

impl Range {
    /// One value.
    #[must_use]
    pub fn of(value: i64) -> Self {
        Self { least: value, greatest: value }
    }

    /// All values of an integer of so many bits; a truth value is zero or one.
    #[must_use]
    pub fn of_bits(bits: u32) -> Self {
        match bits {
            0 | 1 => Self { least: 0, greatest: 1 },
            2..=63 => Self { least: -(1 << (bits - 1)), greatest: (1 << (bits - 1)) - 1 },
            _ => Self { least: i64::MIN, greatest: i64::MAX },
        }
    }

    /// The one value, where there is one.
    #[must_use]
    pub fn single(self) -> Option<i64> {
        (self.least == self.greatest).then_some(self.least)
    }

    /// Whether no value is negative.
    #[must_use]
    pub fn is_natural(self) -> bool {
        self.least >= 0
    }

    /// The values of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), greatest: self.greatest.max(other.greatest) }
    }

    /// What an operation gives that is monotone in each operand, or turns round once: its values at the corners, as far
    /// as they fit the type.
    pub(super) fn corners(self, other: Self, bits: u32, operation: impl Fn(i128, i128) -> i128) -> Self {
        let all = [self.least, self.greatest].into_iter().flat_map(|a| [(a, other.least), (a, other.greatest)]);
        let all: Vec<i128> = all.map(|(a, b)| operation(a.into(), b.into())).collect();
        let (least, greatest) = all.iter().fold((i128::MAX, i128::MIN), |(l, g), &v| (l.min(v), g.max(v)));
        let whole = Self::of_bits(bits);
        let fits = least >= whole.least.into() && greatest <= whole.greatest.into();
        match (i64::try_from(least), i64::try_from(greatest)) {
            (Ok(least), Ok(greatest)) if fits => Self { least, greatest },
            _ => whole,
        }
    }
}
