//! Checks the layouts of the operands of dots.

use super::encodings::layout_text;
use super::layout_parameters::{find_layout_integer, find_layout_integer_by_names};
use super::{CheckResult, DotOperandParameters, LayoutStorage, OpContext, ensure};
use crate::{LayoutAttribute, TensorType, TileType};

/// Checks `tt.dot`: the operands' elements have the same width, and their layouts are those that the result's layout
/// requires.
pub(super) fn dot(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let tensor = |group: &str| check.operand_type(group).and_then(TileType::as_tensor);
    let (Some(a), Some(b), Some(c)) = (tensor("a"), tensor("b"), tensor("c")) else { return Ok(()) };
    let widths = (a.element_bits(), b.element_bits());
    ensure(widths.0 == widths.1, || {
        format!("elements of `{}` and `{}` differ in width: expected operands of one width", a.element, b.element)
    })?;
    let (left, right) = match (&a.layout, &b.layout) {
        (None, None) => return Ok(()),
        (Some(left), Some(right)) => (left, right),
        (left, right) => {
            return Err(format!(
                "operand A has {}, and operand B {}: expected both to have a layout, or neither",
                layout_text(left.as_ref()),
                layout_text(right.as_ref())
            ));
        }
    };
    ensure(c.layout.is_some(), || "the operands have layouts, and the accumulator has none: expected one".to_owned())?;
    if let Some(result) = &c.layout {
        dot_operand(check, left, result, "A")?;
        dot_operand(check, right, result, "B")?;
        let family = check.rules().find_layout_rules(&result.spec().name);
        let precision = check.text_attribute("inputPrecision").unwrap_or("ieee");
        family.map_or(Ok(()), |family| family.check_dot_elements(result.spec(), &a.element, precision))?;
        check_least_k(check, left, a.shape.last(), "A")?;
        check_least_k(check, right, b.shape.iter().rev().nth(1), "B")?;
    }
    let width = |layout: &LayoutAttribute| find_layout_integer(layout.spec(), "k_width").unwrap_or(0);
    ensure(width(left) == width(right), || {
        format!("operand A has `kWidth = {}`, and operand B {}: expected one width", width(left), width(right))
    })
}

/// Checks that operand `name` (`A` or `B`) has at least the number of elements along K that the result's layout needs.
fn check_least_k(check: &OpContext<'_>, layout: &LayoutAttribute, k: Option<&u64>, name: &str) -> CheckResult {
    let spec = layout.spec();
    let Some(parent) = spec.parent.as_deref() else { return Ok(()) };
    let Some(family) = check.rules().find_layout_rules(&parent.name) else { return Ok(()) };
    let index = i64::from(name == "B");
    let operand = DotOperandParameters { parent, index, k_width: find_layout_integer(spec, "k_width").unwrap_or(0) };
    let (k, least) = (k.copied().unwrap_or(0), family.least_k(&operand));
    ensure(k >= least, || format!("operand {name} has K of {k}: expected at least {least} for its `kWidth`"))
}

/// Checks the layout of operand `name` (`A` or `B`): its `opIdx` is 0 for A and 1 for B, and its parent is the result's
/// layout.
fn dot_operand(check: &OpContext<'_>, layout: &LayoutAttribute, result: &LayoutAttribute, name: &str) -> CheckResult {
    let spec = layout.spec();
    let index = i64::from(name == "B");
    let is_operand = spec.name == "dot_op" || spec.name == "dot_operand";
    if !is_operand {
        // A layout is accepted if its family is not known to be one of registers, such as a family of another dialect:
        // it does not state for which operand it is.
        let storage = check.rules().find_layout_rules(&spec.name).map(|family| family.storage());
        return ensure(storage != Some(LayoutStorage::Registers), || {
            format!(
                "operand {name} has the layout `{}`: expected `#ttg.dot_op<{{opIdx = {index}, ...}}>`",
                layout.text()
            )
        });
    }
    let given = find_layout_integer_by_names(spec, ["op_idx", "operand_index"]);
    ensure(given == Some(index), || {
        format!("operand {name} has `opIdx = {}`: expected {index}", given.unwrap_or_default())
    })?;
    ensure(spec.parent.as_deref() == Some(result.spec()), || {
        format!(
            "the parent of operand {name}'s layout `{}` is not that of the result, `{}`",
            layout.text(),
            result.text()
        )
    })
}

impl TensorType {
    fn element_bits(&self) -> Option<u32> {
        self.element.element_bits()
    }
}
