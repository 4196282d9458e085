//! Numbers in formulas.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::place::{Number, Real, Truth, Word};
use tilewright_kernel::{Binary, Cast, Compare, Unary};

macro_rules! operator {
    ($trait:ident, $method:ident, $op:ident) => {
        impl<'p, T: Number<'p>> $trait<T> for Real<'p> {
            type Output = Real<'p>;

            fn $method(self, other: T) -> Real<'p> {
                self.binary(Binary::$op, other)
            }
        }

        impl<'p> $trait<Real<'p>> for f64 {
            type Output = Real<'p>;

            fn $method(self, other: Real<'p>) -> Real<'p> {
                other.place.number(self).binary(Binary::$op, other)
            }
        }
    };
}

operator!(Add, add, FAdd);
operator!(Sub, sub, FSub);
operator!(Mul, mul, FMul);
operator!(Div, div, FDiv);

impl<'p> Neg for Real<'p> {
    type Output = Real<'p>;

    fn neg(self) -> Real<'p> {
        self.unary(Unary::FNeg)
    }
}

impl<'p> Real<'p> {
    fn unary(self, op: Unary) -> Self {
        self.place.real(self.place.build(|builder| builder.unary(op, self.value)))
    }

    fn binary(self, op: Binary, other: impl Number<'p>) -> Self {
        let other = other.at(self.place);
        self.place.real(self.place.build(|builder| builder.binary(op, self.value, other.value)))
    }

    fn compare(self, op: Compare, other: impl Number<'p>) -> Truth<'p> {
        let other = other.at(self.place);
        Truth { place: self.place, value: self.place.build(|builder| builder.compare(op, self.value, other.value)) }
    }

    /// `self * factor + term`, rounded once.
    pub fn mul_add(self, factor: impl Number<'p>, term: impl Number<'p>) -> Self {
        let (factor, term) = (factor.at(self.place), term.at(self.place));
        self.place.real(self.place.build(|builder| builder.f_mul_add(self.value, factor.value, term.value)))
    }

    /// Without its sign.
    pub fn abs(self) -> Self {
        self.unary(Unary::FAbs)
    }

    /// Square root, to nearest.
    pub fn sqrt(self) -> Self {
        self.unary(Unary::FSqrt)
    }

    /// The whole number next to it towards zero.
    pub fn truncated(self) -> Self {
        self.unary(Unary::FTrunc)
    }

    /// The nearest whole number, of two the even one.
    pub fn nearest(self) -> Self {
        self.unary(Unary::FNearest)
    }

    /// Whether it is less; false where one is a NaN.
    pub fn is_less(self, other: impl Number<'p>) -> Truth<'p> {
        self.compare(Compare::FLt, other)
    }

    /// Whether it is equal; false where one is a NaN.
    pub fn is_equal(self, other: impl Number<'p>) -> Truth<'p> {
        self.compare(Compare::FEq, other)
    }

    /// Whether one is a NaN.
    pub fn is_unordered(self, other: impl Number<'p>) -> Truth<'p> {
        self.compare(Compare::FUnordered, other)
    }

    /// Its bits.
    pub fn bits(self) -> Word<'p> {
        let ty = self.place.word_type();
        self.place.word_of(self.place.build(|builder| builder.cast(Cast::Bits, self.value, ty)))
    }

    /// The integer next to it towards zero, where it has one.
    pub fn to_word(self) -> Word<'p> {
        let ty = self.place.word_type();
        self.place.word_of(self.place.build(|builder| builder.cast(Cast::IntS, self.value, ty)))
    }

    /// The sign bit of it, the others zero.
    pub fn sign(self) -> Word<'p> {
        self.bits() & (1 << (self.place.width() - 1))
    }

    /// It, which has no sign, with the sign of another.
    pub fn with_sign_of(self, other: Self) -> Self {
        (self.bits() | other.sign()).as_real()
    }

    /// It, with the sign changed where a sign bit is set.
    pub fn with_sign_changed(self, sign: Word<'p>) -> Self {
        (self.bits() ^ sign).as_real()
    }

    /// No less than `low` and no more than `high`; a NaN stays one.
    pub fn clamped(self, low: f64, high: f64) -> Self {
        let raised = self.is_less(low).select(low, self);
        raised.place.number(high).is_less(raised).select(high, raised)
    }

    /// The whole number nearest to `self * factor`, as a number and as a word whose upper bits are anything but for
    /// `f32` below 2^21, `f64` below 2^50: adding 1.5 * 2^fraction rounds there.
    pub fn nearest_of_product(self, factor: impl Number<'p>) -> (Self, Word<'p>) {
        let magic = 1.5 * ((1u64 << self.place.fraction()) as f64);
        let shifted = self.mul_add(factor, magic);
        let word = shifted.bits() - self.place.bits_of(magic);
        (shifted - magic, word)
    }

    /// It times two to a power of twice the range of normal numbers at most, in two steps: the second rounds.
    pub fn scaled(self, exponent: Word<'p>) -> Self {
        let half = exponent.shr_s(1);
        let rest = exponent - half;
        self * half.power_of_two() * rest.power_of_two()
    }

    /// What `high = rounded(high + low)` leaves, and it: `|self| >= |low|`, or zero.
    pub fn fast_sum(self, low: impl Number<'p>) -> [Self; 2] {
        let low = low.at(self.place);
        let high = self + low;
        [high, (self - high) + low]
    }

    /// A sum and what its rounding left, whichever is greater.
    pub fn two_sum(self, other: impl Number<'p>) -> [Self; 2] {
        let other = other.at(self.place);
        let sum = self + other;
        let part = sum - self;
        [sum, (self - (sum - part)) + (other - part)]
    }

    /// A product and what its rounding left.
    pub fn two_product(self, other: impl Number<'p>) -> [Self; 2] {
        let other = other.at(self.place);
        let product = self * other;
        [product, self.mul_add(other, -product)]
    }
}
