//! The shared memory that tensors and scratch memory take at the same time. Lowering gives the memory of a tensor to others before the first
//! and after the last statement of the program that accesses it; a loop at the outermost level is one statement.

use std::collections::BTreeSet;

use tilewright_tile::{FunctionBody, Op, TileType, Value};

/// Returns the most bytes of shared memory that are live at the same time. `tensors` has each tensor with its bytes,
/// including all of its buffers; `scratch` returns the bytes that an operation takes while it is executed.
pub(super) fn peak_live_bytes(
    body: &FunctionBody,
    tensors: impl IntoIterator<Item = (Value, u64)>,
    scratch: impl Fn(Op) -> u64,
) -> u64 {
    let statements = body.blocks(body.root()).first().map_or(&[][..], |entry| body.ops(*entry));
    let mut change = vec![0i64; statements.len() + 1];
    for (tensor, bytes) in tensors {
        let Some((first, last)) = live_range(body, statements, tensor) else { continue };
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        change[first] = change[first].saturating_add(bytes);
        change[last + 1] = change[last + 1].saturating_sub(bytes);
    }
    let live = change.iter().scan(0i64, |live, change| {
        *live = live.saturating_add(*change);
        u64::try_from(*live).ok()
    });
    let scratch_of = |statement: &Op| body.op_and_nested_ops(*statement).into_iter().map(&scratch).max().unwrap_or(0);
    let peaks = live.zip(statements).map(|(live, statement)| live.saturating_add(scratch_of(statement)));
    peaks.max().unwrap_or(0)
}

/// Returns the indices of the first and the last statement that accesses a tensor, itself or in its regions; `None` if
/// none does. Selections of its parts are no accesses.
fn live_range(body: &FunctionBody, statements: &[Op], tensor: Value) -> Option<(usize, usize)> {
    let mut parts = BTreeSet::from([tensor]);
    let mut accesses = |statement: &Op| {
        let mut found = false;
        for op in body.op_and_nested_ops(*statement) {
            let operation = body.op(op);
            if operation.operands.iter().any(|operand| parts.contains(operand)) {
                let is_memory = |value: &&Value| matches!(body.value_type(**value), TileType::Memory(_));
                let selected = parts.len();
                parts.extend(operation.results.iter().filter(is_memory));
                found |= parts.len() == selected || !operation.regions.is_empty();
            }
        }
        found
    };
    let accessed: Vec<usize> = (0..statements.len()).filter(|&at| accesses(&statements[at])).collect();
    Some((*accessed.first()?, *accessed.last()?))
}
