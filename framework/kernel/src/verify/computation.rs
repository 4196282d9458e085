//! The types of operations that compute: constants, arithmetic, casts, vectors.

use super::body::{Checked, Checker};
use super::types::{
    COMPUTED, INDEX, WIDE_INTEGER, is_computed, is_float, is_integer, is_vector_count, is_wide_integer,
};
use super::violation::Violation;
use crate::{Binary, Cast, Compare, Element, MathFunction, Space, SpecialRegister, Type, Unary, Value};

impl Checker<'_> {
    pub(super) fn constant(&self, bits: u64, results: &[(Value, Type)]) -> Checked {
        self.result_that(results, "a scalar or vector", |ty| ty.element().is_some())?;
        let Some((ty, element)) = results.first().and_then(|&(_, ty)| Some((ty, ty.element()?))) else {
            return Ok(());
        };
        let fits = element.bits() == 64 || bits >> element.bits() == 0;
        self.require(fits, || Violation::Constant { bits, ty })
    }

    pub(super) fn special(&self, register: SpecialRegister, results: &[(Value, Type)]) -> Checked {
        if let SpecialRegister::Program(axis) | SpecialRegister::Programs(axis) = register {
            self.require(axis < 3, || Violation::Axis { found: axis })?;
        }
        self.result(results, INDEX)
    }

    pub(super) fn unary(&self, op: Unary, a: Value, results: &[(Value, Type)]) -> Checked {
        let ty = match op.is_float() {
            true => self.operand_that(a, "a floating-point type", is_float)?,
            false => self.operand_that(a, WIDE_INTEGER, is_wide_integer)?,
        };
        self.result(results, ty)
    }

    pub(super) fn compare(&self, op: Compare, a: Value, b: Value, results: &[(Value, Type)]) -> Checked {
        let ty = match op.is_float() {
            true => self.operand_that(a, "a floating-point type", is_float)?,
            false => self.operand_that(a, WIDE_INTEGER, is_wide_integer)?,
        };
        self.operand(b, ty)?;
        self.result(results, Type::of(Element::I1, ty.count()))
    }

    pub(super) fn math(&self, function: MathFunction, operands: &[Value], results: &[(Value, Type)]) -> Checked {
        let (found, expected) = (operands.len(), function.operands());
        let violation = || Violation::MathOperands { function: function.name(), found, expected };
        self.require(found == expected, violation)?;
        let Some(&first) = operands.first() else { return Ok(()) };
        let ty = self.operand_that(first, COMPUTED, is_computed)?;
        operands.iter().try_for_each(|&operand| self.operand(operand, ty))?;
        self.result(results, ty)
    }

    pub(super) fn binary(&self, op: Binary, a: Value, b: Value, results: &[(Value, Type)]) -> Checked {
        let ty = if op.is_float() {
            self.operand_that(a, "a floating-point type", is_float)?
        } else if op.is_bitwise() {
            self.operand_that(a, "an integer", is_integer)?
        } else {
            self.operand_that(a, WIDE_INTEGER, is_wide_integer)?
        };
        self.operand(b, ty)?;
        self.result(results, ty)
    }

    pub(super) fn cast(&self, op: Cast, a: Value, results: &[(Value, Type)]) -> Checked {
        if op == Cast::Bits {
            let has_bits = |ty: Type| ty.element().is_some_and(|element| element != Element::I1);
            let is_taken = |ty: Type| has_bits(ty) || matches!(ty, Type::Pointer(Space::Shared | Space::Global));
            let expected = "a scalar or vector, not of i1, ptr.shared or ptr.global";
            let from = self.operand_that(a, expected, is_taken)?;
            let address = Type::Scalar(Element::I64);
            // An address in global memory is one number; what of it would be in a vector's elements is nobody's business.
            return match from {
                Type::Pointer(Space::Global) => self.result(results, address),
                _ => {
                    let or = if from == address { " or ptr.global" } else { "" };
                    let expected = format!("a scalar or vector of {} bits, not of i1{or}", from.bits());
                    let fits = |ty: Type| has_bits(ty) && ty.bits() == from.bits();
                    self.result_that(results, &expected, |ty| {
                        fits(ty) || from == address && ty == Type::Pointer(Space::Global)
                    })
                }
            };
        }
        let (taken, given): (_, fn(Type) -> bool) = match op {
            Cast::ExtendF | Cast::RoundF | Cast::IntS | Cast::IntU => ("a floating-point type", is_float),
            Cast::FloatS | Cast::FloatU => ("an integer, not i1", is_wide_integer),
            _ => ("an integer", is_integer),
        };
        let from = self.operand_that(a, taken, given)?;
        let wanted = match op {
            Cast::Truncate => format!("integer(s) narrower than {from}"),
            Cast::FloatS | Cast::FloatU => "float(s)".to_owned(),
            Cast::IntS | Cast::IntU => "integer(s), not i1".to_owned(),
            Cast::ExtendF => format!("float(s) wider than {from}"),
            Cast::RoundF => format!("float(s) narrower than {from}"),
            _ => format!("integer(s) wider than {from}"),
        };
        let goes = |to: Type| from.element().zip(to.element()).is_some_and(|(from, to)| op.goes(from, to));
        let expected = format!("{} {wanted}", from.count());
        self.result_that(results, &expected, |to| to.count() == from.count() && goes(to))
    }

    pub(super) fn pack(&self, elements: &[Value], results: &[(Value, Type)]) -> Checked {
        let found = elements.len();
        let first = elements.first().filter(|_| u32::try_from(found).is_ok_and(is_vector_count));
        let Some(&first) = first else { return Err(self.error(Violation::PackCount { found })) };
        let ty = self.operand_that(first, "a scalar", |ty| matches!(ty, Type::Scalar(_)))?;
        elements.iter().try_for_each(|&value| self.operand(value, ty))?;
        let vector = ty.element().map_or(ty, |element| Type::Vector(element, found as u32));
        self.result(results, vector)
    }

    pub(super) fn extract(&self, vector: Value, index: u32, results: &[(Value, Type)]) -> Checked {
        let ty = self.operand_that(vector, "a vector", |ty| matches!(ty, Type::Vector(..)))?;
        self.require(index < ty.count(), || Violation::ElementIndex { found: index, ty })?;
        self.result(results, ty.element().map_or(ty, Type::Scalar))
    }
}
