//! Operations with one result: constants, arithmetic, comparisons.

use super::{BuildError, FunctionBuilder};
use crate::op::name::{arith, tt, ub};
use crate::{Attribute, TileType, Value};

impl FunctionBuilder<'_> {
    /// Appends an integer constant; for a tensor type, one with the same value in all elements.
    pub(crate) fn integer(&mut self, value: i64, ty: &TileType) -> Result<Value, BuildError> {
        self.add_constant(Attribute::integer(value, ty.clone()))
    }

    /// Appends a 32-bit integer constant.
    pub(crate) fn constant_i32(&mut self, value: u32) -> Result<Value, BuildError> {
        self.integer(value.into(), &TileType::integer(32))
    }

    /// Appends a zero constant of a scalar or tensor type.
    pub(crate) fn zeros(&mut self, ty: &TileType) -> Result<Value, BuildError> {
        self.add_constant(Attribute::of_bits(0, ty.clone()))
    }

    /// Appends a value with arbitrary bits (`ub.poison`), of a scalar or tensor type.
    pub(crate) fn unspecified(&mut self, ty: &TileType) -> Result<Value, BuildError> {
        self.build_op(ub::POISON).result(ty.clone()).value()
    }

    /// Appends a binary operation whose result has the type of the first operand.
    pub(crate) fn binary(&mut self, name: &str, left: Value, right: Value) -> Result<Value, BuildError> {
        let ty = self.ty(left).clone();
        self.build_op(name).operand(left).operand(right).result(ty).value()
    }

    /// Appends a binary operation on `before` and `value`; without `before`, appends nothing and returns `value`.
    pub(crate) fn combine(&mut self, name: &str, before: Option<Value>, value: Value) -> Result<Value, BuildError> {
        before.map_or(Ok(value), |before| self.binary(name, before, value))
    }

    /// Appends a unary operation with a result of type `ty`.
    pub(crate) fn unary(&mut self, name: &str, operand: Value, ty: TileType) -> Result<Value, BuildError> {
        self.build_op(name).operand(operand).result(ty).value()
    }

    /// Appends an integer comparison (`arith.cmpi`).
    pub(crate) fn compare(&mut self, predicate: &str, left: Value, right: Value) -> Result<Value, BuildError> {
        let ty = self.ty(left).with_element(TileType::BOOLEAN);
        let predicate = Attribute::Keyword(predicate.into());
        self.build_op(arith::CMPI).operand(left).operand(right).attribute("predicate", predicate).result(ty).value()
    }

    /// Appends a select of one of two values of the same type.
    pub(crate) fn select(&mut self, condition: Value, yes: Value, no: Value) -> Result<Value, BuildError> {
        let ty = self.ty(yes).clone();
        self.build_op(arith::SELECT).operand(condition).operand(yes).operand(no).result(ty).value()
    }

    /// Appends a splat: a tensor of this shape with the scalar in every element.
    pub(crate) fn splat(&mut self, scalar: Value, shape: &[u64]) -> Result<Value, BuildError> {
        let ty = TileType::tensor(shape, self.ty(scalar).clone(), None);
        self.unary(tt::SPLAT, scalar, ty)
    }

    /// Appends a range 0, 1, 2, ... of this size.
    pub(crate) fn range(&mut self, size: u64) -> Result<Value, BuildError> {
        let end = i32::try_from(size).unwrap_or(i32::MAX);
        let ty = TileType::tensor([size], TileType::integer(32), None);
        self.build_op(tt::MAKE_RANGE).attribute("start", 0).attribute("end", end).result(ty).value()
    }

    /// Appends a tensor of this shape that has the elements of a vector along `axis`, repeated along the other axes.
    pub(crate) fn spread(&mut self, vector: Value, axis: usize, shape: &[u64]) -> Result<Value, BuildError> {
        let element = self.ty(vector).element().clone();
        let mut value = vector;
        let mut sizes = vec![shape[axis]];
        for other in 0..shape.len() {
            if other == axis {
                continue;
            }
            let at = if other < axis { other } else { sizes.len() };
            sizes.insert(at, 1);
            let ty = TileType::tensor(sizes.clone(), element.clone(), None);
            let at = i32::try_from(at).unwrap_or(0);
            value = self.build_op(tt::EXPAND_DIMS).operand(value).attribute("axis", at).result(ty).value()?;
        }
        if sizes == shape {
            return Ok(value);
        }
        self.unary(tt::BROADCAST, value, TileType::tensor(shape, element, None))
    }
}
