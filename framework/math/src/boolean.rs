//! Operations on conditions (`i1` values) of formulas.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::formula_builder::{Bits, Bool, Int, Number, Real};
use tilewright_kernel::{Binary, Element, Type};

impl<'p> Bool<'p> {
    fn binary(self, op: Binary, other: Self) -> Self {
        Self {
            formula: self.formula,
            value: self.formula.append_operations(|builder| builder.binary(op, self.value, other.value)),
        }
    }

    /// Returns `then` if the condition holds, else `otherwise`.
    pub fn select(self, then: impl Number<'p>, otherwise: impl Number<'p>) -> Real<'p> {
        let (then, otherwise) = (then.at(self.formula), otherwise.at(self.formula));
        self.formula.wrap_real(
            self.formula.append_operations(|builder| builder.select(self.value, then.value, otherwise.value)),
        )
    }

    /// Returns the integer `then` if the condition holds, else `otherwise`.
    pub fn select_int(self, then: impl Bits<'p>, otherwise: impl Bits<'p>) -> Int<'p> {
        let (then, otherwise) = (then.at(self.formula), otherwise.at(self.formula));
        self.formula
            .wrap_int(self.formula.append_operations(|builder| builder.select(self.value, then.value, otherwise.value)))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $op:ident) => {
        impl<'p> $trait for Bool<'p> {
            type Output = Bool<'p>;

            fn $method(self, other: Bool<'p>) -> Bool<'p> {
                self.binary(Binary::$op, other)
            }
        }
    };
}

operator!(BitAnd, bitand, And);
operator!(BitOr, bitor, Or);
operator!(BitXor, bitxor, Xor);

impl<'p> Not for Bool<'p> {
    type Output = Bool<'p>;

    fn not(self) -> Bool<'p> {
        let one = self.formula.append_operations(|builder| builder.constant(Type::Scalar(Element::I1), 1));
        self.binary(Binary::Xor, Bool { formula: self.formula, value: one })
    }
}
