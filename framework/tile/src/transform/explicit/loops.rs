//! Finds loops whose copies from global to shared memory can be prefetched.

use crate::op::name::{scf, tt, tw};
use crate::transform::loads::PointerBases;
use std::collections::{BTreeSet, HashMap};

use super::choices::ExplicitMemoryChoices;
use super::parts::{cover, full_tensor, is_selection, region};
use crate::transform::pipeliner::{
    AccumulationChain, EnclosingLoop, Slice, backward, check_tile_groups, find_enclosing_loops, is_persistent_loop,
    is_repeatable, outermost_loop,
};
use crate::{Attribute, Block, Function, FunctionBody, Op, Operation, TileType, Value, ValueOrigin};

/// A loop that fills tensors in shared memory from global memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedCopyLoop {
    /// The `scf.for` operation of the loop.
    pub op: Op,
    /// The copies from global to shared memory in the loop's body.
    pub copies: Vec<Op>,
    /// The `tw.shared_tensor` operations of the tensors that the copies fill.
    pub tensors: Vec<Op>,
    /// The operations on which the copies of an iteration depend, and the copies, in program order; empty if rejected.
    pub prefetch_slice: Vec<Op>,
    /// The reason why the copies cannot be prefetched for a later iteration; `None` if they can.
    pub rejected: Option<String>,
    /// The loops around the loop, the outermost one first; the error is the reason why a producer warp cannot execute
    /// them.
    pub enclosing: Result<Vec<EnclosingLoop>, String>,
    /// The dots whose MMAs may overlap with the start of the next iteration.
    ///
    /// Their results are used only as the accumulator of the next of them, or of the first one in the next iteration, and
    /// after the loop.
    pub accumulator: Vec<Op>,
}

impl SharedCopyLoop {
    /// The outermost loop around the loop that a producer warp executes, too; the loop itself if none is around it.
    #[must_use]
    pub fn outermost(&self) -> Op {
        outermost_loop(self.enclosing.as_deref().unwrap_or_default(), self.op)
    }

    /// Checks that groups of consumer warps can alternate between the iterations of the loop around the loop.
    ///
    /// # Errors
    /// The reason: [`check_tile_groups`], or why a producer warp cannot execute the loops.
    pub fn check_tile_groups(&self, function: &Function) -> Result<(), String> {
        let body = function.body.as_ref().ok_or("the function has no body")?;
        let filled: Vec<Value> = self.tensors.iter().flat_map(|op| body.op(*op).results.iter().copied()).collect();
        check_tile_groups(body, self.op, self.enclosing.as_ref().map_err(String::clone)?, &filled)
    }

    /// Whether the iterations of the outermost loop are known to have no order: it is the loop of a persistent program,
    /// which begins at the index of the block; that index is only used as its first counter; it reads no memory that it
    /// may write; and all addresses to which it writes depend on its counter.
    #[must_use]
    pub fn has_unordered_tiles(&self, function: &Function) -> bool {
        let (Some(body), tiles) = (&function.body, self.outermost()) else { return false };
        let block = body.op(tiles).regions.first().and_then(|region| body.blocks(*region).first());
        let Some(&block) = block.filter(|_| is_persistent_loop(body, tiles)) else { return false };
        let counter = body.arguments(block)[0];
        let index = body.op(tiles).operands[0];
        let within = ops_within(body, block);
        let axis = |op: Op| body.op(op).attributes.get("axis");
        let is_index = |value: Value| match (body.value_origin(value), body.value_origin(index)) {
            (ValueOrigin::Result(op, _), ValueOrigin::Result(of_index, _)) => {
                body.op(op).name() == body.op(of_index).name() && axis(op) == axis(of_index)
            }
            _ => false,
        };
        let operands = |op: &Op| body.op(*op).operands.clone();
        let uses_index = within.iter().flat_map(operands).any(|value| depends(body, value, &is_index));
        let written = within.iter().filter_map(|op| stores_to(body, *op));
        let mut loads = within.iter().filter(|op| reads_global(body, **op).is_some());
        !uses_index
            && written.into_iter().all(|address| depends(body, address, &|value| value == counter))
            && loads.all(|load| check_load(body, block, *load).is_ok())
    }
}

/// The loops of a function that fill tensors in shared memory, inner loops first.
#[must_use]
pub fn find_shared_copy_loops(function: &Function) -> Vec<SharedCopyLoop> {
    let Some(body) = &function.body else { return Vec::new() };
    let all = body.walk_region(body.root()).into_iter().rev().filter(|op| body.op(*op).name() == scf::FOR);
    all.filter_map(|op| of_loop(body, op)).collect()
}

fn of_loop(body: &FunctionBody, op: Op) -> Option<SharedCopyLoop> {
    let block = *body.blocks(*body.op(op).regions.first()?).first()?;
    let copies: Vec<Op> = body.ops(block).iter().copied().filter(|copy| fills(body, *copy).is_some()).collect();
    if copies.is_empty() {
        return None;
    }
    let mut filled: Vec<Value> = copies.iter().filter_map(|copy| fills(body, *copy)).collect();
    filled.sort_unstable();
    filled.dedup();
    let tensors: Vec<Op> = filled.iter().filter_map(|value| maker(body, *value)).collect();
    let (prefetch_slice, rejected) = match find_prefetch_slice(body, block, &copies)
        .and_then(|slice| used_here(body, block, &filled).map(|()| slice))
    {
        Ok(prefetch_slice) => (prefetch_slice, None),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    let rejected = rejected
        .or_else(|| (tensors.len() < filled.len()).then(|| "a tensor that it fills is allocated elsewhere".to_owned()));
    let dots = body.ops(block).iter().copied().filter(|dot| matches!(body.op(*dot).name(), tw::MMA | tt::DOT));
    let chains = dots.map(|dot| AccumulationChain::ending_with(body, block, dot));
    let accumulator = chains.filter(|chain| chain.carried.is_some()).flat_map(|chain| chain.dots).collect();
    let enclosing = find_enclosing_loops(body, op, &prefetch_slice, &[], |value| maker(body, value).is_some());
    Some(SharedCopyLoop { op, copies, tensors, prefetch_slice, rejected, enclosing, accumulator })
}

/// The tensor in shared memory that a copy from global memory fills, or fills a part of; `None` if the operation is no
/// such copy.
fn fills(body: &FunctionBody, op: Op) -> Option<Value> {
    let operation = body.op(op);
    let target = body.operand(op, "dst").filter(|_| operation.name() == tw::COPY)?;
    let from_global = matches!(body.value_type(operation.operands[0]), TileType::View(_));
    (from_global && matches!(body.value_type(target), TileType::Memory(_))).then(|| full_tensor(body, target))
}

/// The pointer or view from which an operation loads elements of global memory to registers, such as the list of pages
/// whose tiles a loop copies; `None` for other operations.
fn loads_from(body: &FunctionBody, op: Op) -> Option<Value> {
    let operation = body.op(op);
    let source = operation.operands.first().copied();
    match operation.name() {
        tt::LOAD if operation.attributes.get("isVolatile") != Some(&Attribute::Bool(true)) => source,
        tw::COPY if body.operand(op, "dst").is_none() => {
            source.filter(|view| matches!(body.value_type(*view), TileType::View(_)))
        }
        _ => None,
    }
}

/// The pointer or view from which an operation reads global memory, to registers or shared memory; `None` for other
/// operations.
fn reads_global(body: &FunctionBody, op: Op) -> Option<Value> {
    loads_from(body, op).or_else(|| fills(body, op).map(|_| body.op(op).operands[0]))
}

/// The pointer or view through which an operation stores to global memory; `None` for other operations.
fn stores_to(body: &FunctionBody, op: Op) -> Option<Value> {
    match body.op(op).name() {
        tw::COPY => body.operand(op, "dst").filter(|to| matches!(body.value_type(*to), TileType::View(_))),
        tt::STORE => body.op(op).operands.first().copied(),
        _ => None,
    }
}

/// Whether a value is, or follows from, a value that satisfies `is`, through operands of operations.
fn depends(body: &FunctionBody, value: Value, is: &dyn Fn(Value) -> bool) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![value]);
    while let Some(value) = open.pop() {
        if is(value) {
            return true;
        }
        if let ValueOrigin::Result(op, _) = body.value_origin(value)
            && seen.insert(op)
        {
            open.extend(body.op_and_nested_ops(op).into_iter().flat_map(|op| body.op(op).operands.clone()));
        }
    }
    false
}

/// Checks that a load in the loop body `block` can be executed in an earlier iteration: no operation of the loop may
/// write the elements that it loads. The error is the reason.
fn check_load(body: &FunctionBody, block: Block, load: Op) -> Result<(), String> {
    let bases = PointerBases::of(body);
    let read = reads_global(body, load).and_then(|source| bases.find(source));
    for op in ops_within(body, block) {
        let operation = body.op(op);
        let written = stores_to(body, op);
        let is_shared = matches!(operation.name(), tw::COPY | tw::SHARED_TENSOR) && written.is_none();
        if is_shared || is_pure(operation) || loads_from(body, op).is_some() {
            continue;
        }
        let base = written.and_then(|to| bases.find(to));
        if read.is_none() || base.is_none() || base == read {
            return Err(format!("`{}` of the loop may write its elements", operation.name()));
        }
    }
    Ok(())
}

/// Whether an operation has no effects but those of the operations in its regions.
fn is_pure(operation: &Operation) -> bool {
    let traits = operation.definition.traits;
    traits.pure || traits.terminator || matches!(operation.name(), scf::IF | scf::FOR | scf::WHILE)
}

fn maker(body: &FunctionBody, value: Value) -> Option<Op> {
    match body.value_origin(value) {
        ValueOrigin::Result(op, _) if body.op(op).name() == tw::SHARED_TENSOR => Some(op),
        _ => None,
    }
}

/// The operations on which the copies of an iteration depend, and the copies, in program order.
///
/// The error is the reason why the copies cannot be prefetched.
fn find_prefetch_slice(body: &FunctionBody, block: Block, copies: &[Op]) -> Result<Vec<Op>, String> {
    let roots = copies.iter().flat_map(|copy| body.op(*copy).operands.iter().copied()).collect();
    let check = |op| match body.op(op).name() {
        _ if is_repeatable(body, op) => Ok(()),
        name if loads_from(body, op).is_some() => check_load(body, block, op)
            .map_err(|reason| format!("its source depends on `{name}`, which cannot be executed earlier: {reason}")),
        name => Err(format!("its source depends on `{name}`, which cannot be rematerialized")),
    };
    let Slice { ops, carried, .. } = backward(body, block, roots, |_| false, check)?;
    if !carried.is_empty() {
        return Err("its source depends on loop-carried values".to_owned());
    }
    Ok(body.ops(block).iter().copied().filter(|op| ops.contains(op) || copies.contains(op)).collect())
}

/// Checks that no tile in the tensors `filled` outlives an iteration of the loop body `block`: its copies fill all of
/// each tensor, before all other uses of it, and all uses of it outside of the loop are in other loops that fill it
/// first.
fn used_here(body: &FunctionBody, block: Block, filled: &[Value]) -> Result<(), String> {
    let within = ops_within(body, block);
    for &value in filled {
        is_filled_first(body, block, value)?;
        let elsewhere = ops_of_loops_that_fill(body, value).filter(|ops| ops.is_disjoint(&within)).flatten();
        let allowed: BTreeSet<Op> = within.iter().copied().chain(elsewhere).collect();
        if body.walk_region(body.root()).iter().any(|op| uses(body, *op, value) && !allowed.contains(op)) {
            return Err("a tensor that it fills is used outside of the loops that fill it".to_owned());
        }
    }
    Ok(())
}

/// Checks that the copies of a block fill each element of the tensor `value` once, before all other uses of the tensor
/// in the block. The error is the reason.
fn is_filled_first(body: &FunctionBody, block: Block, value: Value) -> Result<(), String> {
    let use_of = |op: &Op| body.op_and_nested_ops(*op).iter().any(|op| uses(body, *op, value));
    let all: Vec<Op> = body.ops(block).iter().copied().filter(use_of).collect();
    let first: Vec<Op> = all.iter().copied().take_while(|op| fills(body, *op) == Some(value)).collect();
    let nested = all[first.len()..].iter().flat_map(|op| body.op_and_nested_ops(*op));
    if nested.into_iter().any(|op| fills(body, op) == Some(value)) {
        return Err("a tensor is used before it is filled".to_owned());
    }
    let targets = first.iter().filter_map(|copy| body.operand(*copy, "dst"));
    let regions: Option<Vec<_>> = targets.map(|target| region(body, target)).collect();
    let regions = regions.ok_or("the program selects the buffers of a tensor that it fills")?;
    match cover(&regions, body.value_type(value).shape().unwrap_or_default()) {
        true => Ok(()),
        false if first.is_empty() => Err("a tensor is used before it is filled".to_owned()),
        false => Err("its copies do not fill each element of a tensor once".to_owned()),
    }
}

/// Finds the tensors whose tiles no iteration hands to the next one, each with the loop that fills it: a loop of one stage
/// that contains all uses of the tensor, and whose body fills it before all others.
#[must_use]
pub fn tensors_of_iterations(body: &FunctionBody, choices: &ExplicitMemoryChoices) -> HashMap<Op, Op> {
    let ops = body.walk_region(body.root());
    let tensors = ops.iter().copied().filter(|op| body.op(*op).name() == tw::SHARED_TENSOR);
    let is_alone =
        |op: &&Op| body.op(**op).name() == scf::FOR && choices.stages.get(op).is_none_or(|stages| *stages <= 1);
    let of = |tensor: Op| {
        let value = *body.op(tensor).results.first()?;
        let contains_uses = |block: Block| {
            let within = ops_within(body, block);
            ops.iter().all(|op| within.contains(op) || !uses(body, *op, value))
        };
        let fills = |of: &&Op| {
            let block = body.op(**of).regions.first().and_then(|region| body.blocks(*region).first());
            block.is_some_and(|block| is_filled_first(body, *block, value).is_ok() && contains_uses(*block))
        };
        ops.iter().filter(is_alone).find(fills).map(|of| (tensor, *of))
    };
    tensors.filter_map(of).collect()
}

/// The operations within each loop whose body fills the tensor `value` before all other uses of it.
fn ops_of_loops_that_fill(body: &FunctionBody, value: Value) -> impl Iterator<Item = BTreeSet<Op>> {
    let loops = body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).name() == scf::FOR);
    let blocks = loops.filter_map(|op| body.blocks(*body.op(op).regions.first()?).first().copied());
    let fills_first = move |block: &Block| is_filled_first(body, *block, value).is_ok();
    blocks.filter(fills_first).map(|block| ops_within(body, block))
}

/// Whether an operation reads or writes the tensor `value` or a part of it.
fn uses(body: &FunctionBody, op: Op, value: Value) -> bool {
    !is_selection(body, op) && body.op(op).operands.iter().any(|operand| full_tensor(body, *operand) == value)
}

fn ops_within(body: &FunctionBody, block: Block) -> BTreeSet<Op> {
    body.ops(block).iter().flat_map(|op| body.op_and_nested_ops(*op)).collect()
}
