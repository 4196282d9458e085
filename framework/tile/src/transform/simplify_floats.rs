//! Replaces floating-point operations by cheaper ones: minima of extended numbers, quotients by constants.

use std::collections::HashMap;

use super::{IrCloner, Rewrite, Rewritten, each_function, rewrite_function};
use crate::op::Dialects;
use crate::op::name::arith;
use crate::{
    Attribute, DenseElements, FloatType, FunctionBody, NumberAttribute, Op, TileModule, TileType, TileViolation, Value,
    ValueOrigin,
};

/// The minima and maxima that [`simplify_floats`] computes before an extension.
const EXTREMA: [&str; 4] = [arith::MAXNUMF, arith::MINNUMF, arith::MAXIMUMF, arith::MINIMUMF];

/// The operations of a target that decide which replacements are cheaper.
#[derive(Debug, Clone, Copy)]
pub struct FloatCosts {
    /// Whether minima and maxima of `f16` and `bf16` take no more instructions than those of `f32`.
    pub has_narrow_extrema: bool,
    /// Whether quotients of `f32` may have an error of two units of the last place.
    pub has_inexact_quotients: bool,
}

/// Replaces a minimum or maximum of extended numbers and constants by the extension of the minimum or maximum in the
/// narrow type, and a quotient of `f32` by a constant by the product with its reciprocal.
///
/// The minimum is exact: all operands are numbers of the narrow type, and no operand has another use. The product has
/// an error below two units of the last place, one each of the reciprocal and of the product. Extensions that lose
/// their use stay for [`remove_unused_operations`](super::remove_unused_operations).
///
/// # Errors
/// A [`TileViolation`] if the dialects have no `arith.mulf` or `arith.extf`.
pub fn simplify_floats(
    module: &TileModule,
    dialects: &Dialects,
    costs: FloatCosts,
) -> Result<TileModule, TileViolation> {
    each_function(module, |function| {
        let Some(body) = &function.body else { return Ok(function.clone()) };
        let mut simplify = Simplify { costs, uses: body.count_uses(), narrow: HashMap::new() };
        rewrite_function(function, dialects, &mut simplify)
    })
}

struct Simplify {
    costs: FloatCosts,
    uses: Vec<u32>,
    /// For results of rewritten minima and maxima, the clone before its extension.
    narrow: HashMap<Value, Value>,
}

/// An operand of a minimum or maximum in the narrow type.
enum NarrowOperand {
    /// A value of the rewritten function.
    Extended(Value),
    /// A constant, with the bits of its elements in the wide type.
    Constant(Attribute),
}

impl Rewrite for Simplify {
    fn rewrite(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let name = cloner.from.op(op).name();
        if name == arith::DIVF && self.costs.has_inexact_quotients {
            return multiply_by_reciprocal(op, cloner);
        }
        match name {
            arith::TRUNCF => self.forward_narrow(op, cloner),
            _ if EXTREMA.contains(&name) => self.narrow_extremum(op, cloner),
            _ => Ok(false),
        }
    }
}

impl Simplify {
    /// Replaces the rounding of an extended minimum or maximum to its narrow type by the narrow result.
    fn forward_narrow(&self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let operation = cloner.from.op(op);
        let (&[operand], &[result]) = (&operation.operands[..], &operation.results[..]) else { return Ok(false) };
        let Some(&narrow) = self.narrow.get(&operand) else { return Ok(false) };
        if cloner.to.body().value_type(narrow) != cloner.from.value_type(result) {
            return Ok(false);
        }
        cloner.bind(result, narrow);
        Ok(true)
    }

    fn narrow_extremum(&mut self, op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
        let operation = cloner.from.op(op);
        let (&[left, right], &[result]) = (&operation.operands[..], &operation.results[..]) else { return Ok(false) };
        let operands = [left, right].map(|value| self.narrow_operand(value, cloner));
        let [Some(left), Some(right)] = operands else { return Ok(false) };
        let types = [&left, &right].map(|operand| match operand {
            NarrowOperand::Extended(value) => Some(cloner.to.body().value_type(*value).clone()),
            NarrowOperand::Constant(_) => None,
        });
        let ty = match types {
            [Some(left), Some(right)] if left != right => return Ok(false),
            [left, right] => left.or(right),
        };
        let Some(ty) = ty.filter(|ty| self.is_cheap(ty)) else { return Ok(false) };
        let mut values = Vec::new();
        for operand in [left, right] {
            values.push(match operand {
                NarrowOperand::Extended(value) => value,
                NarrowOperand::Constant(constant) => {
                    let Some(constant) = narrow_constant(&constant, &ty) else { return Ok(false) };
                    cloner.to.add_constant(constant)?
                }
            });
        }
        let narrow = cloner.to.binary(operation.name(), values[0], values[1])?;
        let wide = cloner.to.unary(arith::EXTF, narrow, cloner.from.value_type(result).clone())?;
        cloner.bind(result, wide);
        self.narrow.insert(result, narrow);
        Ok(true)
    }

    fn is_cheap(&self, ty: &TileType) -> bool {
        match ty.element() {
            TileType::Float(FloatType::F32) => true,
            TileType::Float(FloatType::F16 | FloatType::Bf16) => self.costs.has_narrow_extrema,
            _ => false,
        }
    }

    /// Returns an operand in the narrow type: the operand of an extension without other uses, or a constant.
    fn narrow_operand(&self, value: Value, cloner: &IrCloner<'_, '_, '_>) -> Option<NarrowOperand> {
        if let Some(constant) = cloner.from.constant_attribute(value) {
            return Some(NarrowOperand::Constant(constant.clone()));
        }
        if self.uses[value.index()] != 1 {
            return None;
        }
        let extended = || {
            let ValueOrigin::Result(op, _) = cloner.from.value_origin(value) else { return None };
            let operation = cloner.from.op(op);
            let from = operation.operands.first().filter(|_| operation.name() == arith::EXTF);
            from.map(|&from| cloner.clone_of(from))
        };
        self.narrow.get(&value).copied().or_else(extended).map(NarrowOperand::Extended)
    }
}

/// Replaces the bits of the elements of a constant by `change`, and its type by `ty`; `None` if the constant has no
/// floating-point elements, or if `change` returns `None` for one.
fn change_constant(
    constant: &Attribute,
    ty: &TileType,
    change: impl Fn(FloatType, u64) -> Option<u64>,
) -> Option<Attribute> {
    let float = |ty: &TileType| match ty.element() {
        TileType::Float(float) => Some(*float),
        _ => None,
    };
    match constant {
        Attribute::Number(number) => {
            let bits = change(float(&number.ty)?, number.bits)?;
            Some(Attribute::Number(NumberAttribute { bits, ty: ty.clone() }))
        }
        Attribute::Dense(dense) => {
            let from = float(&dense.ty)?;
            let elements = dense.elements.iter().map(|&bits| change(from, bits)).collect::<Option<Vec<_>>>()?;
            Some(Attribute::Dense(DenseElements { ty: ty.clone(), elements: elements.into() }))
        }
        _ => None,
    }
}

/// Returns a constant in a narrower type; `None` if an element has no equal in it, or is a NaN.
fn narrow_constant(constant: &Attribute, ty: &TileType) -> Option<Attribute> {
    let TileType::Float(to) = *ty.element() else { return None };
    change_constant(constant, ty, |from, bits| {
        let value = from.decode(bits);
        to.round_constant(value).filter(|&narrow| to.decode(narrow).to_bits() == value.to_bits() && !value.is_nan())
    })
}

/// Replaces a quotient of `f32` by a constant by a product. The reciprocal is rounded to nearest; it is a normal
/// number, as is the divisor.
fn multiply_by_reciprocal(op: Op, cloner: &mut IrCloner<'_, '_, '_>) -> Rewritten<bool> {
    let operation = cloner.from.op(op);
    let (&[dividend, divisor], &[result]) = (&operation.operands[..], &operation.results[..]) else { return Ok(false) };
    let Some(reciprocals) = find_reciprocals(cloner.from, divisor) else { return Ok(false) };
    let reciprocal = cloner.to.add_constant(reciprocals)?;
    let dividend = cloner.clone_of(dividend);
    let product = cloner.to.binary(arith::MULF, dividend, reciprocal)?;
    cloner.bind(result, product);
    Ok(true)
}

/// Returns the reciprocals of a constant of `f32`; `None` for other values, or if a reciprocal is no normal number.
fn find_reciprocals(body: &FunctionBody, divisor: Value) -> Option<Attribute> {
    let ty = body.value_type(divisor);
    change_constant(body.constant_attribute(divisor)?, ty, |float, bits| {
        let value = f32::from_bits(u32::try_from(bits).ok().filter(|_| float == FloatType::F32)?);
        let reciprocal = 1.0 / value;
        (value.is_normal() && reciprocal.is_normal()).then(|| reciprocal.to_bits().into())
    })
}
