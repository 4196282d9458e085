//! Operations that define one value: constants, arithmetic, comparisons.

use super::{BuildError, FunctionBuilder};
use crate::op::name::{arith, tt};
use crate::{Attribute, TileType, Value};

impl FunctionBuilder<'_> {
    /// An integer of a type; of a tensor every element is it.
    pub(crate) fn integer(&mut self, value: i64, ty: &TileType) -> Result<Value, BuildError> {
        self.constant(Attribute::integer(value, ty.clone()))
    }

    /// An integer of 32 bits.
    pub(crate) fn word(&mut self, value: u32) -> Result<Value, BuildError> {
        self.integer(value.into(), &TileType::integer(32))
    }

    /// Zero, or a tensor of zeros.
    pub(crate) fn zeros(&mut self, ty: &TileType) -> Result<Value, BuildError> {
        self.constant(Attribute::of_bits(0, ty.clone()))
    }

    /// An operation on two operands whose result has the type of the first.
    pub(crate) fn binary(&mut self, name: &str, left: Value, right: Value) -> Result<Value, BuildError> {
        let ty = self.ty(left).clone();
        self.op(name).operand(left).operand(right).result(ty).value()
    }

    /// The same on a value and those that were combined before, if any.
    pub(crate) fn combined(&mut self, name: &str, before: Option<Value>, value: Value) -> Result<Value, BuildError> {
        before.map_or(Ok(value), |before| self.binary(name, before, value))
    }

    /// An operation on one operand.
    pub(crate) fn unary(&mut self, name: &str, operand: Value, ty: TileType) -> Result<Value, BuildError> {
        self.op(name).operand(operand).result(ty).value()
    }

    /// Whether a predicate of integers holds.
    pub(crate) fn compare(&mut self, predicate: &str, left: Value, right: Value) -> Result<Value, BuildError> {
        let ty = self.ty(left).with_element(TileType::BOOLEAN);
        let predicate = Attribute::Word(predicate.into());
        self.op(arith::CMPI).operand(left).operand(right).attribute("predicate", predicate).result(ty).value()
    }

    /// One of two values of a type.
    pub(crate) fn select(&mut self, condition: Value, yes: Value, no: Value) -> Result<Value, BuildError> {
        let ty = self.ty(yes).clone();
        self.op(arith::SELECT).operand(condition).operand(yes).operand(no).result(ty).value()
    }

    /// A scalar as each element of a tensor.
    pub(crate) fn splat(&mut self, scalar: Value, shape: &[u64]) -> Result<Value, BuildError> {
        let ty = TileType::tensor(shape, self.ty(scalar).clone(), None);
        self.unary(tt::SPLAT, scalar, ty)
    }
}
