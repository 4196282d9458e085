//! Emits operations for one operation of the program that is rewritten; what cannot be built is reported there.

use std::sync::Arc;

use super::copy::Copier;
use super::unmade;
use crate::op::name::{arith, scf, tt};
use crate::{Attribute, BuildError, Dense, Function, Op, TileType, TileViolation, Value, Values};

/// A message about an operation of the function that is rewritten.
pub(super) fn violation(copier: &Copier<'_, '_, '_>, op: Op, message: impl Into<String>) -> TileViolation {
    TileViolation::of(copier.function, copier.from.op(op), message)
}

/// A message about an operation of a function.
pub(super) fn violation_of(function: &Function, op: Op, message: impl Into<String>) -> TileViolation {
    match &function.body {
        Some(body) => TileViolation::of(function, body.op(op), message),
        None => TileViolation {
            function: Arc::clone(&function.name),
            operation: Arc::from("tt.func"),
            at: None,
            message: message.into(),
        },
    }
}

/// Emits operations in the place of another.
pub(super) struct Maker<'m, 'a, 'b, 'd> {
    pub copier: &'m mut Copier<'a, 'b, 'd>,
    pub at: Op,
}

impl<'a, 'b, 'd> Maker<'_, 'a, 'b, 'd> {
    pub fn checked<T>(&self, made: Result<T, BuildError>) -> Result<T, TileViolation> {
        made.map_err(unmade(self.copier.function, self.copier.from.op(self.at)))
    }

    /// An integer of a type; of a tensor every element is it.
    pub fn integer(&mut self, value: i64, ty: &TileType) -> Result<Value, TileViolation> {
        let number = Attribute::integer(value, ty.element().clone());
        let made = match ty {
            TileType::Tensor(_) => {
                let bits = match number {
                    Attribute::Number(number) => number.bits,
                    _ => 0,
                };
                self.copier.to.constant(Attribute::Dense(Dense { ty: ty.clone(), elements: Arc::from([bits]) }))
            }
            _ => self.copier.to.constant(number),
        };
        self.checked(made)
    }

    /// A number of 32 bits.
    pub fn word(&mut self, value: u32) -> Result<Value, TileViolation> {
        self.integer(value.into(), &TileType::integer(32))
    }

    /// A tensor of zeros.
    pub fn zeros(&mut self, ty: &TileType) -> Result<Value, TileViolation> {
        let dense = Dense { ty: ty.clone(), elements: Arc::from([0]) };
        let made = self.copier.to.constant(Attribute::Dense(dense));
        self.checked(made)
    }

    /// An operation whose result's type follows from its operands', or is that of the first.
    pub fn binary(&mut self, name: &str, left: Value, right: Value) -> Result<Value, TileViolation> {
        let ty = self.copier.to.ty(left).clone();
        let made = self.copier.to.op(name).operand(left).operand(right).result(ty).value();
        self.checked(made)
    }

    pub fn unary(&mut self, name: &str, operand: Value, ty: TileType) -> Result<Value, TileViolation> {
        let made = self.copier.to.op(name).operand(operand).result(ty).value();
        self.checked(made)
    }

    pub fn compare(&mut self, predicate: &str, left: Value, right: Value) -> Result<Value, TileViolation> {
        let ty = self.copier.to.ty(left).with_element(TileType::BOOLEAN);
        let predicate = Attribute::Word(predicate.into());
        let made = self.copier.to.op(arith::CMPI).operand(left).operand(right);
        let made = made.attribute("predicate", predicate).result(ty).value();
        self.checked(made)
    }

    /// One of two values of a type.
    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Result<Value, TileViolation> {
        let ty = self.copier.to.ty(yes).clone();
        let made = self.copier.to.op(arith::SELECT).operand(condition).operand(yes).operand(no).result(ty).value();
        self.checked(made)
    }

    /// A scalar as each element of a tensor.
    pub fn splat(&mut self, scalar: Value, shape: &[u64]) -> Result<Value, TileViolation> {
        let ty = TileType::tensor(shape, self.copier.to.ty(scalar).clone(), None);
        self.unary(tt::SPLAT, scalar, ty)
    }

    /// An `scf.if` without an else branch that yields values: tensors of zeros stand for them where the condition does not hold.
    pub fn when(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Copier<'a, 'b, 'd>) -> Result<Vec<Value>, TileViolation>,
    ) -> Result<Values, TileViolation> {
        let (yes, around) = self.copier.to.enter_region(Vec::new());
        let values = then(self.copier)?;
        self.yielded(&values)?;
        self.copier.to.at(around);
        let types: Vec<TileType> = values.iter().map(|value| self.copier.to.ty(*value).clone()).collect();
        let no = match types.is_empty() {
            true => None,
            false => {
                let (no, around) = self.copier.to.enter_region(Vec::new());
                let zeros = types.iter().map(|ty| self.zeros(ty)).collect::<Result<Vec<_>, _>>()?;
                self.yielded(&zeros)?;
                self.copier.to.at(around);
                Some(no)
            }
        };
        let made = self.copier.to.op(scf::IF).operand(condition).made_region(yes);
        let made = match no {
            Some(no) => made.made_region(no),
            None => made.empty_region(),
        };
        let made = types.into_iter().fold(made, |made, ty| made.result(ty)).values();
        self.checked(made)
    }

    fn yielded(&mut self, values: &[Value]) -> Result<(), TileViolation> {
        let made = self.copier.to.op(scf::YIELD).operands("results", values).done();
        self.checked(made).map(drop)
    }
}
