//! Defines the rules of arithmetic on pairs of elements.

use tilewright_tile::TileType;
use tilewright_tile::rules::{Check, Checked, Rule, ensure};

/// The rule of `ttng`'s arithmetic on pairs.
pub(super) const RULES: [Rule; 1] = [Rule::new("packed_arith", packed_arith)];

/// `packed_arith` (`ttng.packed_arith`): the operands are pairs of elements in the registers of the result.
fn packed_arith(check: &Check<'_>, _: &[String]) -> Checked {
    let Some(TileType::Tensor(result)) = check.group_type("result") else { return Ok(()) };
    let kind = check.text("op_kind").unwrap_or_default();
    let kinds = ["add", "sub", "mul", "fma", "min", "max"];
    ensure(kinds.contains(&kind), || format!("`{kind}` is no packed operation: expected one of {}", kinds.join(", ")))?;
    let expected = if kind == "fma" { 3 } else { 2 };
    let count = check.operation().operands.len();
    ensure(count == expected, || format!("`{kind}` of {count} operands: expected {expected}"))?;
    let Some(layout) = &result.layout else { return Err("the result has no layout: expected one".to_owned()) };
    for operand in check.group_types("operands") {
        ensure(operand.shape() == Some(&result.shape[..]), || {
            format!("`{operand}`: expected the shape of the result, {:?}", result.shape)
        })?;
        ensure(*operand.element() == result.element, || {
            format!("`{operand}`: expected the elements of the result, `{}`", result.element)
        })?;
        ensure(operand.layout().is_some_and(|own| check.may_be_equal(own, layout, &result.shape)), || {
            format!("`{operand}`: expected the layout of the result, `{}`", layout.text())
        })?;
    }
    let name = result.element.to_string();
    let known = match kind {
        "min" | "max" => ["f16", "bf16"].contains(&name.as_str()),
        _ => ["f16", "bf16", "f32"].contains(&name.as_str()),
    };
    ensure(known, || format!("`{kind}` of pairs of `{name}` is no packed operation"))?;
    ensure(check.bases(layout, &result.shape).is_none_or(|bases| !bases.registers.is_empty()), || {
        format!("`{}` has one element in each lane: expected pairs", layout.text())
    })
}
