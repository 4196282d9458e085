//! Operations on floating-point values of formulas.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::formula_builder::{Bool, Int, Number, Real};
use tilewright_kernel::{Binary, Cast, Compare, MathFunction, Unary};

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
                other.formula.real_constant(self).binary(Binary::$op, other)
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
        self.formula.wrap_real(self.formula.append_operations(|builder| builder.unary(op, self.value)))
    }

    fn binary(self, op: Binary, other: impl Number<'p>) -> Self {
        let other = other.at(self.formula);
        self.formula.wrap_real(self.formula.append_operations(|builder| builder.binary(op, self.value, other.value)))
    }

    fn compare(self, op: Compare, other: impl Number<'p>) -> Bool<'p> {
        let other = other.at(self.formula);
        Bool {
            formula: self.formula,
            value: self.formula.append_operations(|builder| builder.compare(op, self.value, other.value)),
        }
    }

    /// Returns `self * multiplier + term` with one rounding.
    pub fn mul_add(self, multiplier: impl Number<'p>, term: impl Number<'p>) -> Self {
        let (multiplier, term) = (multiplier.at(self.formula), term.at(self.formula));
        self.formula
            .wrap_real(self.formula.append_operations(|builder| builder.fma(self.value, multiplier.value, term.value)))
    }

    /// Absolute value.
    pub fn abs(self) -> Self {
        self.unary(Unary::FAbs)
    }

    /// Square root, rounded to nearest.
    pub fn sqrt(self) -> Self {
        self.unary(Unary::FSqrt)
    }

    /// Rounds to an integral value toward zero.
    pub fn truncate(self) -> Self {
        self.unary(Unary::FTrunc)
    }

    /// Rounds to the nearest integral value, ties to even.
    pub fn round_to_nearest(self) -> Self {
        self.unary(Unary::FNearest)
    }

    /// Whether `self < other`; false for NaN.
    pub fn is_less(self, other: impl Number<'p>) -> Bool<'p> {
        self.compare(Compare::FLt, other)
    }

    /// Whether `self <= other`; false for NaN.
    pub fn is_at_most(self, other: impl Number<'p>) -> Bool<'p> {
        self.compare(Compare::FLe, other)
    }

    /// Whether the values are equal; false for NaN.
    pub fn is_equal(self, other: impl Number<'p>) -> Bool<'p> {
        self.compare(Compare::FEq, other)
    }

    /// Whether either value is NaN.
    pub fn is_unordered(self, other: impl Number<'p>) -> Bool<'p> {
        self.compare(Compare::FUnordered, other)
    }

    /// Returns the encoding of the value as an integer of the same width.
    pub fn to_bits(self) -> Int<'p> {
        let ty = self.formula.int_type();
        self.formula.wrap_int(self.formula.append_operations(|builder| builder.cast(Cast::Bits, self.value, ty)))
    }

    /// Converts to an integer, rounding toward zero; the result is unspecified if the value is out of the integer's
    /// range.
    pub fn to_int(self) -> Int<'p> {
        let ty = self.formula.int_type();
        self.formula.wrap_int(self.formula.append_operations(|builder| builder.cast(Cast::IntS, self.value, ty)))
    }

    /// Returns the sign bit of the value, at its position in an integer whose other bits are zero.
    pub fn sign_bit(self) -> Int<'p> {
        self.to_bits() & (1 << (self.formula.float_bits() - 1))
    }

    /// Returns this value, whose sign bit is clear, with the sign of `other`.
    pub fn with_sign_of(self, other: Self) -> Self {
        (self.to_bits() | other.sign_bit()).as_real()
    }

    /// Flips the sign of the value if the sign bit (the highest bit) of `sign` is set; its other bits must be zero.
    pub fn flip_sign_by(self, sign: Int<'p>) -> Self {
        (self.to_bits() ^ sign).as_real()
    }

    /// Applies a function of one operand by the target's own instruction.
    pub fn apply_native(self, function: MathFunction) -> Self {
        self.formula.wrap_real(self.formula.append_operations(|builder| builder.math(function, &[self.value])))
    }

    /// Clamps to `low` and `high`; NaN stays NaN.
    pub fn clamp(self, low: f64, high: f64) -> Self {
        let raised = self.is_less(low).select(low, self);
        raised.formula.real_constant(high).is_less(raised).select(high, raised)
    }

    /// Returns the integral value nearest to `self * multiplier`, as a floating-point value and as an integer. Only the
    /// lower 22 bits (`f32`) or 51 bits (`f64`) of the integer are specified: the product is rounded by adding
    /// `1.5 * 2^fraction`, whose bits stay above them.
    pub fn round_product(self, multiplier: impl Number<'p>) -> (Self, Int<'p>) {
        let magic = 1.5 * ((1u64 << self.formula.fraction_bits()) as f64);
        let shifted = self.mul_add(multiplier, magic);
        (shifted - magic, shifted.to_bits())
    }

    /// Multiplies by two to the power of `exponent`, which may be up to twice the greatest exponent of the type. It
    /// does so in two steps; only the second rounds. Bits of `exponent` above those of an exponent do not count.
    pub fn scale_by_power_of_two(self, exponent: Int<'p>) -> Self {
        let half = exponent.shr_s(1);
        let rest = exponent - half;
        self * half.exp2() * rest.exp2()
    }

    /// Returns the rounded sum `self + low` and its rounding error. The magnitude of `self` must be at least that of
    /// `low`, unless `self` is zero (Fast2Sum).
    pub fn fast_two_sum(self, low: impl Number<'p>) -> [Self; 2] {
        let low = low.at(self.formula);
        let high = self + low;
        [high, (self - high) + low]
    }

    /// Returns the rounded sum of `self` and `other` and its rounding error, for operands of any magnitude (2Sum).
    pub fn two_sum(self, other: impl Number<'p>) -> [Self; 2] {
        let other = other.at(self.formula);
        let sum = self + other;
        let rounded = sum - self;
        [sum, (self - (sum - rounded)) + (other - rounded)]
    }

    /// The rounded product and its rounding error.
    pub fn two_product(self, other: impl Number<'p>) -> [Self; 2] {
        let other = other.at(self.formula);
        let product = self * other;
        [product, self.mul_add(other, -product)]
    }
}
