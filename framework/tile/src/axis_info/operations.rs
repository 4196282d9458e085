//! Selects the transfer function of each operation: the axis information of its results from that of its operands.

use super::apply::Apply;
use super::{AxisInfo, Range};
use crate::op::name::{arith, tt, ttg};
use crate::{Attribute, Body, Op, TileType};

/// The axis information of the results of an operation; `None` if the operation has no transfer function.
pub(super) fn results(body: &Body, op: Op, known: &dyn Fn(usize) -> Option<AxisInfo>) -> Option<AxisInfo> {
    let operation = body.op(op);
    let ty = body.ty(*operation.results.first()?);
    let is_integral = matches!(ty.element(), TileType::Integer(..) | TileType::Index | TileType::Pointer(_));
    if !is_integral {
        return None;
    }
    let apply = Apply { ty, bits: ty.element_bits().unwrap_or(64) };
    let one = || known(0);
    let two = || Some((known(0)?, known(1)?));
    let word = |name: &str| operation.attributes.get(name).and_then(Attribute::as_text);
    let number = |name: &str| operation.attributes.get(name).and_then(Attribute::as_integer);
    Some(match operation.name() {
        arith::CONSTANT => apply.constant(operation.attributes.get("value")?)?,
        tt::MAKE_RANGE => apply.range(number("start")?, number("end")?),
        tt::GET_PROGRAM_ID => apply.bounded(Range { min: 0, max: i64::from(i32::MAX) - 1 }),
        tt::GET_NUM_PROGRAMS => apply.bounded(Range { min: 1, max: i64::from(i32::MAX) }),
        tt::SPLAT => apply.splat(&one()?),
        tt::UNSPLAT => apply.all_of(&one()?),
        tt::EXPAND_DIMS => apply.expanded(&one()?, usize::try_from(number("axis")?).ok()?),
        tt::BROADCAST => apply.broadcast(&one()?, body.ty(operation.operands[0]).shape()?),
        tt::TRANS => apply.transposed(&one()?, operation.attributes.get("order")?)?,
        tt::RESHAPE if operation.attributes.get("allow_reorder").is_none() => apply.reshaped(&one()?),
        tt::CAT | tt::JOIN => two().map(|(a, b)| apply.all_of(&a.or(&b)))?,
        tt::SPLIT | tt::GATHER => apply.all_of(&one()?),
        ttg::CONVERT_LAYOUT | arith::INDEX_CAST | arith::EXTSI => apply.kept(&one()?),
        arith::INDEX_CASTUI | arith::EXTUI => apply.widened(&one()?, body.ty(operation.operands[0]).element_bits()?),
        arith::TRUNCI => apply.cut(&one()?),
        arith::ADDI | tt::ADDPTR => two().map(|(a, b)| apply.sum(&a, &b))?,
        arith::SUBI => two().map(|(a, b)| apply.difference(&a, &b))?,
        arith::MULI => two().map(|(a, b)| apply.product(&a, &b))?,
        arith::DIVSI | arith::DIVUI => two().and_then(|(a, b)| apply.quotient(&a, &b))?,
        arith::REMSI | arith::REMUI => two().and_then(|(a, b)| apply.remainder(&a, &b))?,
        arith::ANDI => two().map(|(a, b)| apply.and(&a, &b))?,
        arith::ORI | arith::XORI => two().map(|(a, b)| apply.bitwise(&a, &b))?,
        arith::SHLI => two().and_then(|(a, b)| apply.shifted_up(&a, &b))?,
        arith::SHRSI => two().and_then(|(a, b)| apply.shifted_down(&a, &b))?,
        arith::SHRUI => two().filter(|(a, _)| a.range.is_natural()).and_then(|(a, b)| apply.shifted_down(&a, &b))?,
        arith::MAXSI => two().map(|(a, b)| apply.extreme(&a, &b, i64::max))?,
        arith::MINSI => two().map(|(a, b)| apply.extreme(&a, &b, i64::min))?,
        arith::MAXUI | arith::MINUI => two().map(|(a, b)| apply.all_of(&a.or(&b)))?,
        arith::SELECT => apply.choice(&one()?, &known(1)?, &known(2)?),
        arith::CMPI => two().map(|(a, b)| apply.comparison(word("predicate").unwrap_or_default(), &a, &b))?,
        _ => return None,
    })
}
