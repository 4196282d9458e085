//! Selects the transfer function of each operation: the axis information of its results from that of its operands.

use super::apply::Apply;
use super::arithmetic::Operands;
use super::division::Division;
use super::fold::KnownOperation;
use super::{AxisInfo, IntegerRange};
use crate::op::name::{arith, tt, ttg};
use crate::{Attribute, FunctionBody, Op, TileType};

/// The operation whose axis information is computed; `known` returns the axis information of the operand with an index.
struct Context<'a> {
    body: &'a FunctionBody,
    op: Op,
    apply: Apply<'a>,
    known: &'a dyn Fn(usize) -> Option<AxisInfo>,
}

/// Returns the axis information of an operation's result; for `tt.split`, which has two results, it holds for both.
///
/// `None` if the operation has no transfer function, or if an operand has no information.
pub(super) fn results(body: &FunctionBody, op: Op, known: &dyn Fn(usize) -> Option<AxisInfo>) -> Option<AxisInfo> {
    let ty = body.value_type(*body.op(op).results.first()?);
    let is_integral = matches!(ty.element(), TileType::Integer(..) | TileType::Index | TileType::Pointer(_));
    if !is_integral {
        return None;
    }
    let apply = Apply { ty, bits: ty.element_bits().unwrap_or(64) };
    let context = Context { body, op, apply, known };
    context.folded().or_else(|| context.reordered()).or_else(|| context.computed())
}

impl Context<'_> {
    fn operand_type(&self, index: usize) -> Option<&TileType> {
        self.body.op(self.op).operands.get(index).map(|value| self.body.value_type(*value))
    }

    fn number(&self, name: &str) -> Option<i64> {
        self.body.op(self.op).attributes.get(name).and_then(Attribute::as_integer)
    }

    /// Returns the axis information of an operation on known integers; `None` for other operations.
    fn folded(&self) -> Option<AxisInfo> {
        let operation = self.body.op(self.op);
        let operand = self.operand_type(0).filter(|ty| matches!(ty.element(), TileType::Integer(..)))?;
        let known = |index: usize| (self.known)(index)?.range.constant_value();
        let operands = [known(0)?, if operation.operands.len() > 1 { known(1)? } else { 0 }];
        let predicate = operation.attributes.get("predicate").and_then(Attribute::as_text).unwrap_or_default();
        let (operand_bits, result_bits) = (operand.element_bits()?, self.apply.bits);
        let known = KnownOperation { name: operation.name(), predicate, operands, operand_bits, result_bits };
        (operand_bits <= 64 && result_bits <= 64)
            .then(|| known.fold())
            .flatten()
            .map(|value| AxisInfo::constant(value, self.apply.ty))
    }

    /// Returns the axis information of a constant, of a range, or of a result with an operand's elements, reordered or
    /// converted; `None` for other operations.
    fn reordered(&self) -> Option<AxisInfo> {
        let (apply, operation) = (&self.apply, self.body.op(self.op));
        let one = || (self.known)(0);
        Some(match operation.name() {
            arith::CONSTANT => apply.constant(operation.attributes.get("value")?)?,
            tt::MAKE_RANGE => apply.range(self.number("start")?, self.number("end")?),
            tt::GET_PROGRAM_ID => apply.bounded(IntegerRange::between(0, i64::from(i32::MAX) - 1)),
            tt::GET_NUM_PROGRAMS => apply.bounded(IntegerRange::between(1, i64::from(i32::MAX))),
            tt::SPLAT => apply.splat(&one()?),
            tt::UNSPLAT => apply.first_of(&one()?),
            tt::BROADCAST => apply.broadcast(&one()?),
            tt::TRANS => apply.transposed(&one()?, operation.attributes.get("order")?)?,
            tt::RESHAPE if operation.attributes.get("allow_reorder").is_some() => apply.all_of(&one()?),
            tt::EXPAND_DIMS | tt::RESHAPE | ttg::CONVERT_LAYOUT | arith::INDEX_CAST => apply.kept(&one()?),
            tt::BITCAST | tt::INT_TO_PTR | tt::PTR_TO_INT => apply.reinterpreted(&one()?, self.operand_type(0)?)?,
            tt::JOIN => apply.joined(&one()?, &(self.known)(1)?),
            tt::CAT => apply.all_of(&one()?.join(&(self.known)(1)?)),
            tt::SPLIT => apply.split(&one()?),
            tt::GATHER => apply.all_of(&one()?),
            tt::LOAD => self.loaded()?,
            arith::EXTSI => apply.sign_extended(&one()?, self.operand_type(0)?.element_bits()?),
            arith::INDEX_CASTUI | arith::EXTUI => apply.widened(&one()?, self.operand_type(0)?.element_bits()?),
            arith::TRUNCI => apply.cut(&one()?),
            _ => return None,
        })
    }

    /// Returns the axis information of a load: equal pointers, masks and replacements give equal elements.
    fn loaded(&self) -> Option<AxisInfo> {
        let count = self.body.op(self.op).operands.len();
        let all: Vec<AxisInfo> = (0..count).map(|index| (self.known)(index)).collect::<Option<_>>()?;
        let bits = AxisInfo::unknown(self.apply.ty).steps.len();
        let is_equal = |bit: usize| all.iter().all(|info| info.steps.get(bit) == Some(&Some(0)));
        let steps = (0..bits).map(|bit| is_equal(bit).then_some(0));
        Some(self.apply.build(IntegerRange::of_integer_width(self.apply.bits), 1, steps))
    }

    /// Returns the axis information of a result that is computed element by element from two or three operands; `None`
    /// for other operations.
    fn computed(&self) -> Option<AxisInfo> {
        let (apply, operation) = (&self.apply, self.body.op(self.op));
        let (a, b) = ((self.known)(0)?, (self.known)(1)?);
        if operation.name() == tt::ADDPTR {
            return Some(apply.pointer_sum(&a, &b));
        }
        if operation.name() == arith::SELECT {
            let other = (self.known)(2)?;
            return Some(apply.choice(&a, &Operands { a: &b, b: &other }));
        }
        let both = Operands { a: &a, b: &b };
        let predicate = operation.attributes.get("predicate").and_then(Attribute::as_text);
        Some(match operation.name() {
            arith::CMPI => {
                apply.comparison(predicate.unwrap_or_default(), &both, self.operand_type(0)?.element_bits()?)
            }
            name if apply.bits == 1 => apply.bool_operation(name, &both)?,
            arith::ADDI => apply.sum(&both),
            arith::SUBI => apply.difference(&both),
            arith::MULI => apply.product(&both),
            arith::DIVSI => apply.quotient(&both, Division::Signed),
            arith::DIVUI => apply.quotient(&both, Division::Unsigned),
            arith::REMSI => apply.remainder(&both, Division::Signed),
            arith::REMUI => apply.remainder(&both, Division::Unsigned),
            arith::SHLI => apply.shifted_up(&both),
            arith::SHRSI => apply.shifted_down(&both, Division::Down),
            arith::SHRUI => apply.shifted_down(&both, Division::Unsigned),
            arith::ANDI => apply.and(&both),
            arith::ORI => apply.bitwise(&both, |a, b| a | b),
            arith::XORI => apply.bitwise(&both, |a, b| a ^ b),
            arith::MAXSI => apply.extreme(&both, i64::max),
            arith::MINSI => apply.extreme(&both, i64::min),
            arith::MAXUI => apply.unsigned_extreme(&both, i64::max),
            arith::MINUI => apply.unsigned_extreme(&both, i64::min),
            _ => return None,
        })
    }
}

impl Apply<'_> {
    /// The axis information of arithmetic on bools, which is modulo two; as signed numbers, true (-1) is less than
    /// false.
    fn bool_operation(&self, name: &str, both: &Operands<'_>) -> Option<AxisInfo> {
        Some(match name {
            arith::ANDI | arith::MULI | arith::MAXSI | arith::MINUI => self.and(both),
            arith::ORI | arith::MINSI | arith::MAXUI => self.bitwise(both, |a, b| a | b),
            arith::XORI | arith::ADDI | arith::SUBI => self.bitwise(both, |a, b| a ^ b),
            _ => return None,
        })
    }
}
