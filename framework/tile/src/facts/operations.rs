//! What follows for the result of an operation from what is known of its operands.

use super::apply::Apply;
use super::{Fact, Range};
use crate::{Attribute, Body, Op, Type};

/// What is known of the results; nothing where the operation says nothing of them.
pub(super) fn results(body: &Body, op: Op, known: &dyn Fn(usize) -> Option<Fact>) -> Option<Fact> {
    let operation = body.op(op);
    let ty = body.ty(*operation.results.first()?);
    let is_integral = matches!(ty.element(), Type::Integer(..) | Type::Index | Type::Pointer(_));
    if !is_integral {
        return None;
    }
    let apply = Apply { ty, bits: ty.element_bits().unwrap_or(64) };
    let one = || known(0);
    let two = || Some((known(0)?, known(1)?));
    let word = |name: &str| operation.attributes.get(name).and_then(Attribute::as_text);
    let number = |name: &str| operation.attributes.get(name).and_then(Attribute::as_integer);
    Some(match operation.name() {
        "arith.constant" => apply.constant(operation.attributes.get("value")?)?,
        "tt.make_range" => apply.range(number("start")?, number("end")?),
        "tt.get_program_id" => apply.bounded(Range { least: 0, greatest: i64::from(i32::MAX) - 1 }),
        "tt.get_num_programs" => apply.bounded(Range { least: 1, greatest: i64::from(i32::MAX) }),
        "tt.splat" => apply.splat(&one()?),
        "tt.unsplat" => apply.all_of(&one()?),
        "tt.expand_dims" => apply.expanded(&one()?, usize::try_from(number("axis")?).ok()?),
        "tt.broadcast" => apply.broadcast(&one()?, body.ty(operation.operands[0]).shape()?),
        "tt.trans" => apply.transposed(&one()?, operation.attributes.get("order")?)?,
        "tt.reshape" if operation.attributes.get("allow_reorder").is_none() => apply.reshaped(&one()?),
        "tt.cat" | "tt.join" => two().map(|(a, b)| apply.all_of(&a.or(&b)))?,
        "tt.split" | "tt.gather" => apply.all_of(&one()?),
        "ttg.convert_layout" | "arith.index_cast" | "arith.extsi" => apply.kept(&one()?),
        "arith.index_castui" | "arith.extui" => apply.widened(&one()?, body.ty(operation.operands[0]).element_bits()?),
        "arith.trunci" => apply.cut(&one()?),
        "arith.addi" | "tt.addptr" => two().map(|(a, b)| apply.sum(&a, &b))?,
        "arith.subi" => two().map(|(a, b)| apply.difference(&a, &b))?,
        "arith.muli" => two().map(|(a, b)| apply.product(&a, &b))?,
        "arith.divsi" | "arith.divui" => two().and_then(|(a, b)| apply.quotient(&a, &b))?,
        "arith.remsi" | "arith.remui" => two().and_then(|(a, b)| apply.remainder(&a, &b))?,
        "arith.andi" => two().map(|(a, b)| apply.and(&a, &b))?,
        "arith.ori" | "arith.xori" => two().map(|(a, b)| apply.bitwise(&a, &b))?,
        "arith.shli" => two().and_then(|(a, b)| apply.shifted_up(&a, &b))?,
        "arith.shrsi" => two().and_then(|(a, b)| apply.shifted_down(&a, &b))?,
        "arith.shrui" => two().filter(|(a, _)| a.range.is_natural()).and_then(|(a, b)| apply.shifted_down(&a, &b))?,
        "arith.maxsi" => two().map(|(a, b)| apply.extreme(&a, &b, i64::max))?,
        "arith.minsi" => two().map(|(a, b)| apply.extreme(&a, &b, i64::min))?,
        "arith.maxui" | "arith.minui" => two().map(|(a, b)| apply.all_of(&a.or(&b)))?,
        "arith.select" => apply.choice(&one()?, &known(1)?, &known(2)?),
        "arith.cmpi" => two().map(|(a, b)| apply.comparison(word("predicate").unwrap_or_default(), &a, &b))?,
        _ => return None,
    })
}
