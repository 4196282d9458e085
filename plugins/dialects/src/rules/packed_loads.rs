//! Defines the rule of loads that transpose packed 4-bit elements.

use tilewright_tile::TensorType;
use tilewright_tile::rules::{
    CheckResult, OpContext, VerifyRule, ensure, find_layout_integer_by_names, find_layout_integer_list,
};

/// The rule for `amdg`'s transposing load, by the name that dialect files use.
pub(super) const RULES: [VerifyRule; 1] = [VerifyRule::new("packed_transposed", packed_transposed)];

/// Rule `packed_transposed` of `amdg.local_load_packed_transposed`: checks the shapes, the result's layout and the
/// order of the shared memory. Two 4-bit elements share a byte: neighbours along M or N in shared memory, and
/// neighbours along K in the result, which must be a dot operand (`#ttg.dot_op`).
fn packed_transposed(check: &OpContext<'_>, _: &[String]) -> CheckResult {
    let (Some(memory), Some(result)) = (check.memory_type("src"), check.group_type("result")) else { return Ok(()) };
    let Some(TensorType { shape, layout: Some(layout), .. }) = result.as_tensor() else { return Ok(()) };
    let spec = layout.spec();
    ensure(spec.name == "dot_op" || spec.name == "dot_operand", || {
        format!("the result's layout is `{}`: expected `#ttg.dot_op`", layout.text())
    })?;
    let index = find_layout_integer_by_names(spec, ["op_idx", "operand_index"]).unwrap_or(0);
    let expected = if index == 0 { [0, 1] } else { [1, 0] };
    if let Some(order) = find_layout_integer_list(memory.layout.spec(), "order") {
        ensure(order == expected, || format!("memory has `order = {order:?}`: expected {expected:?}"))?;
    }
    let [rows, columns] = memory.shape[..] else { return Ok(()) };
    let unpacked = if index == 0 { [rows * 2, columns / 2] } else { [rows / 2, columns * 2] };
    ensure(shape[..] == unpacked, || format!("memory of {:?} becomes {shape:?}: expected {unpacked:?}", memory.shape))
}
