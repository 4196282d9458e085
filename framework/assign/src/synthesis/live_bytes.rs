//! The shared memory that tensors and scratch memory take at the same time. Lowering gives the memory of a tensor to
//! others before the first and after the last statement that accesses it, of the block that allocates it; a loop is one
//! statement.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

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
    let inside: HashSet<Op> = statements.iter().copied().collect();
    let own: Vec<TensorBytes> = tensors.iter().copied().filter(|tensor| inside.contains(&tensor.beside)).collect();
    let live_ranges = find_live_ranges(body, statements, &own);
    let mut change = vec![0i64; statements.len() + 1];
    for (TensorBytes { bytes, .. }, live_range) in own.iter().zip(live_ranges) {
        let Some((first, last)) = live_range else { continue };
        let bytes = i64::try_from(*bytes).unwrap_or(i64::MAX);
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

/// Returns, for each tensor, the indices of the first and the last statement that accesses it, itself or in its regions;
/// `None` if none does. Selections of its parts are no accesses.
fn find_live_ranges(body: &FunctionBody, statements: &[Op], tensors: &[TensorBytes]) -> Vec<Option<(usize, usize)>> {
    // The numbers of the tensors that a value is, or is a part of.
    let mut numbers: HashMap<Value, Vec<usize>> = HashMap::new();
    tensors.iter().enumerate().for_each(|(number, of)| numbers.entry(of.tensor).or_default().push(number));
    let mut ranges: Vec<Option<(usize, usize)>> = vec![None; tensors.len()];
    for (index, statement) in statements.iter().enumerate() {
        for op in body.op_and_nested_ops(*statement) {
            let operation = body.op(op);
            let accessed: BTreeSet<usize> =
                operation.operands.iter().filter_map(|operand| numbers.get(operand)).flatten().copied().collect();
            let is_memory = |value: &Value| matches!(body.value_type(*value), TileType::Memory(_));
            let parts: Vec<Value> = operation.results.iter().copied().filter(is_memory).collect();
            for &number in &accessed {
                parts.iter().for_each(|part| numbers.entry(*part).or_default().push(number));
                if parts.is_empty() || !operation.regions.is_empty() {
                    let (first, _) = ranges[number].unwrap_or((index, index));
                    ranges[number] = Some((first, index));
                }
            }
        }
    }
    ranges
}
