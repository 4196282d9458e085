//! Operations on integers of formulas, which are as wide as the formula's floating-point type.

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Rem, Shl, Shr, Sub};

use super::formula_builder::{Bits, Bool, Int, Real};
use tilewright_kernel::{Binary, Cast, Compare, Element, Type};

macro_rules! operator {
    ($trait:ident, $method:ident, $op:ident) => {
        impl<'p, T: Bits<'p>> $trait<T> for Int<'p> {
            type Output = Int<'p>;

            fn $method(self, other: T) -> Int<'p> {
                self.binary(Binary::$op, other)
            }
        }
    };
}

operator!(Add, add, Add);
operator!(Sub, sub, Sub);
operator!(Mul, mul, Mul);
operator!(Rem, rem, RemU);
operator!(BitAnd, bitand, And);
operator!(BitOr, bitor, Or);
operator!(BitXor, bitxor, Xor);
operator!(Shl, shl, Shl);
operator!(Shr, shr, ShrU);

impl<'p> Int<'p> {
    fn binary(self, op: Binary, other: impl Bits<'p>) -> Self {
        let other = other.at(self.formula);
        self.formula.wrap_int(self.formula.append_operations(|builder| builder.binary(op, self.value, other.value)))
    }

    fn compare(self, op: Compare, other: impl Bits<'p>) -> Bool<'p> {
        let other = other.at(self.formula);
        Bool {
            formula: self.formula,
            value: self.formula.append_operations(|builder| builder.compare(op, self.value, other.value)),
        }
    }

    /// Shifts the bits right by `by` and fills with copies of the sign bit (arithmetic shift).
    pub fn shr_s(self, by: impl Bits<'p>) -> Self {
        self.binary(Binary::ShrS, by)
    }

    /// Returns the upper half of the bits of the product of two unsigned integers.
    pub fn mul_high(self, other: impl Bits<'p>) -> Self {
        self.binary(Binary::MulHighU, other)
    }

    /// Whether the integers are equal.
    pub fn is_equal(self, other: impl Bits<'p>) -> Bool<'p> {
        self.compare(Compare::Eq, other)
    }

    /// Whether `self < other` as unsigned integers.
    pub fn is_less(self, other: impl Bits<'p>) -> Bool<'p> {
        self.compare(Compare::LtU, other)
    }

    /// Returns the greater of two signed integers.
    pub fn max_s(self, other: impl Bits<'p>) -> Self {
        let other = other.at(self.formula);
        self.compare(Compare::LtS, other).select_int(other, self)
    }

    /// Whether any of the bits in the mask is set.
    pub fn has_any_bit(self, bits: u64) -> Bool<'p> {
        (self & bits).compare(Compare::Ne, 0)
    }

    /// Reinterprets the bits as a floating-point value.
    pub fn as_real(self) -> Real<'p> {
        let ty = self.formula.float_type();
        self.formula.wrap_real(self.formula.append_operations(|builder| builder.cast(Cast::Bits, self.value, ty)))
    }

    /// Converts the signed integer to the nearest floating-point value.
    pub fn to_real(self) -> Real<'p> {
        let ty = self.formula.float_type();
        self.formula.wrap_real(self.formula.append_operations(|builder| builder.cast(Cast::FloatS, self.value, ty)))
    }

    /// As [`Self::to_real`], for values that fit into 32 bits.
    pub fn small_to_real(self) -> Real<'p> {
        let (int, ty) = (Type::Scalar(Element::I32), self.formula.float_type());
        self.formula.wrap_real(self.formula.append_operations(|builder| {
            let small = builder.cast(Cast::Truncate, self.value, int);
            builder.cast(Cast::FloatS, small, ty)
        }))
    }

    /// Returns two to the power of this integer as a floating-point value; the result must be a normal number.
    pub fn exp2(self) -> Real<'p> {
        ((self + self.formula.exponent_bias()) << self.formula.fraction_bits()).as_real()
    }
}
