//! The shared memory that tensors and scratch memory take at the same time. Lowering gives the memory of a tensor to
//! others before the first and after the last statement that accesses it, of the block that allocates it; a loop is one
//! statement.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use tilewright_tile::op::name::ttg;
use tilewright_tile::{Block, FunctionBody, Op, TileType, Value, ValueOrigin};

/// A tensor in shared memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct TensorBytes {
    /// The tensor.
    pub tensor: Value,
    /// Bytes of all of its buffers.
    pub bytes: u64,
    /// An operation of the block that allocates it: of the body of a loop if each iteration allocates it.
    pub beside: Op,
}

/// Returns a tensor whose buffers take `bytes`, allocated by the operation that defines it; `None` for an argument.
pub(super) fn allocated(body: &FunctionBody, tensor: Value, bytes: u64) -> Option<TensorBytes> {
    match body.value_origin(tensor) {
        ValueOrigin::Result(beside, _) => Some(TensorBytes { tensor, bytes, beside }),
        ValueOrigin::Argument(..) => None,
    }
}

/// Returns tensors with the bytes of each, as text, the largest first.
pub(super) fn describe_tensor_bytes(body: &FunctionBody, tensors: &[TensorBytes]) -> String {
    let mut tensors: Vec<&TensorBytes> = tensors.iter().collect();
    tensors.sort_by_key(|tensor| (Reverse(tensor.bytes), tensor.tensor));
    let name =
        |tensor: Value| body.value_name(tensor).map_or_else(|| "a tensor".to_owned(), |name| format!("`%{name}`"));
    tensors
        .iter()
        .map(|tensor| format!("{}: {} bytes", name(tensor.tensor), tensor.bytes))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the most bytes of shared memory that are live at the same time. `tensors` has the tensors; `scratch` returns
/// the bytes that an operation takes while it is executed.
pub(super) fn peak_live_bytes(body: &FunctionBody, tensors: &[TensorBytes], scratch: impl Fn(Op) -> u64) -> u64 {
    let entry = body.blocks(body.root()).first();
    entry.map_or(0, |entry| peak_of_block(body, *entry, tensors, &scratch))
}

/// Returns the most bytes that are live at the same time while a block is executed, of the tensors that the block and
/// the blocks within it allocate.
fn peak_of_block(body: &FunctionBody, block: Block, tensors: &[TensorBytes], scratch: &impl Fn(Op) -> u64) -> u64 {
    let statements = body.ops(block);
    let mut change = vec![0i64; statements.len() + 1];
    for &TensorBytes { tensor, bytes, .. } in tensors.iter().filter(|tensor| statements.contains(&tensor.beside)) {
        let Some((first, last)) = live_range(body, statements, tensor) else { continue };
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        change[first] = change[first].saturating_add(bytes);
        change[last + 1] = change[last + 1].saturating_sub(bytes);
    }
    let live = change.iter().scan(0i64, |live, change| {
        *live = live.saturating_add(*change);
        u64::try_from(*live).ok()
    });
    let within = |statement: &Op| {
        let blocks = body.op(*statement).regions.iter().flat_map(|region| body.blocks(*region));
        let peaks = blocks.map(|block| peak_of_block(body, *block, tensors, scratch));
        // Partitions of warps run at the same time.
        let peak = match body.op(*statement).name() == ttg::WARP_SPECIALIZE {
            true => peaks.fold(0, u64::saturating_add),
            false => peaks.max().unwrap_or(0),
        };
        peak.max(scratch(*statement))
    };
    live.zip(statements).map(|(live, statement)| live.saturating_add(within(statement))).max().unwrap_or(0)
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
