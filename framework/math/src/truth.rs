//! Conditions in formulas.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::place::{Bits, Number, Real, Truth, Word};
use tilewright_kernel::{Binary, Element, Type};

impl<'p> Truth<'p> {
    fn binary(self, op: Binary, other: Self) -> Self {
        Self { place: self.place, value: self.place.build(|builder| builder.binary(op, self.value, other.value)) }
    }

    /// One of two numbers.
    pub fn select(self, then: impl Number<'p>, otherwise: impl Number<'p>) -> Real<'p> {
        let (then, otherwise) = (then.at(self.place), otherwise.at(self.place));
        self.place.real(self.place.build(|builder| builder.select(self.value, then.value, otherwise.value)))
    }

    /// One of two words.
    pub fn select_word(self, then: impl Bits<'p>, otherwise: impl Bits<'p>) -> Word<'p> {
        let (then, otherwise) = (then.at(self.place), otherwise.at(self.place));
        self.place.word_of(self.place.build(|builder| builder.select(self.value, then.value, otherwise.value)))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $op:ident) => {
        impl<'p> $trait for Truth<'p> {
            type Output = Truth<'p>;

            fn $method(self, other: Truth<'p>) -> Truth<'p> {
                self.binary(Binary::$op, other)
            }
        }
    };
}

operator!(BitAnd, bitand, And);
operator!(BitOr, bitor, Or);
operator!(BitXor, bitxor, Xor);

impl<'p> Not for Truth<'p> {
    type Output = Truth<'p>;

    fn not(self) -> Truth<'p> {
        let truth = self.place.build(|builder| builder.constant(Type::Scalar(Element::I1), 1));
        self.binary(Binary::Xor, Truth { place: self.place, value: truth })
    }
}
