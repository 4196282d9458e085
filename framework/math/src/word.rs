//! Integers in formulas: as wide as the numbers.

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Rem, Shl, Shr, Sub};

use super::place::{Bits, Real, Truth, Word};
use tilewright_kernel::{Binary, Cast, Compare, Element, Type};

macro_rules! operator {
    ($trait:ident, $method:ident, $op:ident) => {
        impl<'p, T: Bits<'p>> $trait<T> for Word<'p> {
            type Output = Word<'p>;

            fn $method(self, other: T) -> Word<'p> {
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

impl<'p> Word<'p> {
    fn binary(self, op: Binary, other: impl Bits<'p>) -> Self {
        let other = other.at(self.place);
        self.place.word_of(self.place.build(|builder| builder.binary(op, self.value, other.value)))
    }

    fn compare(self, op: Compare, other: impl Bits<'p>) -> Truth<'p> {
        let other = other.at(self.place);
        Truth { place: self.place, value: self.place.build(|builder| builder.compare(op, self.value, other.value)) }
    }

    /// Shifted to the right, filled with the sign.
    pub fn shr_s(self, by: impl Bits<'p>) -> Self {
        self.binary(Binary::ShrS, by)
    }

    /// The upper half of the product.
    pub fn mul_high(self, other: impl Bits<'p>) -> Self {
        self.binary(Binary::MulHighU, other)
    }

    /// Whether it is equal.
    pub fn is_equal(self, other: impl Bits<'p>) -> Truth<'p> {
        self.compare(Compare::Eq, other)
    }

    /// Whether it is less, without sign.
    pub fn is_less(self, other: impl Bits<'p>) -> Truth<'p> {
        self.compare(Compare::LtU, other)
    }

    /// Whether one of the bits is set.
    pub fn has(self, bits: u64) -> Truth<'p> {
        (self & bits).compare(Compare::Ne, 0)
    }

    /// The number with these bits.
    pub fn as_real(self) -> Real<'p> {
        let ty = self.place.number_type();
        self.place.real(self.place.build(|builder| builder.cast(Cast::Bits, self.value, ty)))
    }

    /// The number next to it as an integer with sign.
    pub fn to_real(self) -> Real<'p> {
        let ty = self.place.number_type();
        self.place.real(self.place.build(|builder| builder.cast(Cast::FloatS, self.value, ty)))
    }

    /// The same of one that 32 bits hold.
    pub fn small_to_real(self) -> Real<'p> {
        let (word, ty) = (Type::Scalar(Element::I32), self.place.number_type());
        self.place.real(self.place.build(|builder| {
            let small = builder.cast(Cast::Truncate, self.value, word);
            builder.cast(Cast::FloatS, small, ty)
        }))
    }

    /// Two to the power of it, where that is a normal number.
    pub fn power_of_two(self) -> Real<'p> {
        ((self + self.place.bias()) << self.place.fraction()).as_real()
    }
}
