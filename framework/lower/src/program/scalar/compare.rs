//! Lowers comparisons of scalars.

use tilewright_kernel::{Binary, Builder, Compare, Element, Type, Value};
use tilewright_tile as tile;
use tilewright_tile::op::name::arith;

use super::super::error::{LowerErrorReason, Lowered};
use super::super::types::native;
use super::integer::widened;
use super::narrow::widened as widened_float;
use super::{Results, Scalar, one};

pub(super) fn apply(scalar: &mut Scalar<'_>, name: &str) -> Option<Lowered<Results>> {
    let &[a, b] = scalar.values else { return None };
    let predicate = scalar.keyword("predicate").to_owned();
    let builder = &mut *scalar.builder;
    let found = match (name, scalar.from.first()) {
        (arith::CMPI, _) => of_integers(builder, &predicate, a, b),
        // Types without arithmetic are compared after an exact conversion.
        (arith::CMPF, Some(tile::TileType::Float(float))) if native(*float).is_none() => {
            match (widened_float(builder, a, *float), widened_float(builder, b, *float)) {
                (Ok(a), Ok(b)) => of_floats(builder, &predicate, a, b),
                (Err(reason), _) | (_, Err(reason)) => return Some(Err(reason)),
            }
        }
        (arith::CMPF, _) => of_floats(builder, &predicate, a, b),
        _ => return None,
    };
    Some(found.map(one).ok_or_else(|| LowerErrorReason::malformed(format!("there is no predicate `{predicate}`"))))
}

fn of_integers(builder: &mut Builder, predicate: &str, a: Value, b: Value) -> Option<Value> {
    let (op, swapped) = match predicate {
        "eq" => (Compare::Eq, false),
        "ne" => (Compare::Ne, false),
        "slt" => (Compare::LtS, false),
        "sle" => (Compare::LeS, false),
        "sgt" => (Compare::LtS, true),
        "sge" => (Compare::LeS, true),
        "ult" => (Compare::LtU, false),
        "ule" => (Compare::LeU, false),
        "ugt" => (Compare::LtU, true),
        "uge" => (Compare::LeU, true),
        _ => return None,
    };
    let is_bool = builder.type_of(a) == Type::Scalar(Element::I1);
    if is_bool && matches!(op, Compare::Eq | Compare::Ne) {
        let differ = builder.binary(Binary::Xor, a, b);
        return Some(if op == Compare::Ne { differ } else { inverted(builder, differ) });
    }
    let signed = matches!(op, Compare::LtS | Compare::LeS);
    let (a, b) = if is_bool { (widened(builder, a, signed), widened(builder, b, signed)) } else { (a, b) };
    Some(if swapped { builder.compare(op, b, a) } else { builder.compare(op, a, b) })
}

/// Emits the inverse of an `i1`.
fn inverted(builder: &mut Builder, value: Value) -> Value {
    let yes = builder.constant(Type::Scalar(Element::I1), 1);
    builder.binary(Binary::Xor, value, yes)
}

/// Emits a comparison of floating-point numbers. The kernel IR has four comparisons; unordered predicates are lowered
/// as the negation of the inverse ordered one. `None` if the predicate is not known.
fn of_floats(builder: &mut Builder, predicate: &str, a: Value, b: Value) -> Option<Value> {
    let bool_type = Type::Scalar(Element::I1);
    Some(match predicate {
        "false" | "true" => builder.constant(bool_type, u64::from(predicate == "true")),
        "oeq" => builder.compare(Compare::FEq, a, b),
        "olt" => builder.compare(Compare::FLt, a, b),
        "ole" => builder.compare(Compare::FLe, a, b),
        "ogt" => builder.compare(Compare::FLt, b, a),
        "oge" => builder.compare(Compare::FLe, b, a),
        "uno" => builder.compare(Compare::FUnordered, a, b),
        "one" => {
            let less = builder.compare(Compare::FLt, a, b);
            let greater = builder.compare(Compare::FLt, b, a);
            builder.binary(Binary::Or, less, greater)
        }
        _ => {
            let opposite = match predicate {
                "ord" => "uno",
                "ueq" => "one",
                "une" => "oeq",
                "ult" => "oge",
                "ule" => "ogt",
                "ugt" => "ole",
                "uge" => "olt",
                _ => return None,
            };
            let opposite = of_floats(builder, opposite, a, b)?;
            inverted(builder, opposite)
        }
    })
}
