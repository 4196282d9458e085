//! Makes the captures of warp partitions explicit.
//!
//! `ttg.warp_specialize` then has the captured values as operands, and each partition region has an argument for each
//! operand.

use crate::op::name::ttg;
use std::collections::{BTreeSet, HashMap};

use crate::{Block, Function, FunctionBody, Op, Region, Value, ValueOrigin};

const GROUPS: &str = ttg::WARP_SPECIALIZE;

/// Makes all captures of the function's warp partitions explicit.
#[must_use]
pub fn make_partition_captures_explicit(function: &Function) -> Function {
    let mut function = function.clone();
    if let Some(body) = &mut function.body {
        let groups = body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).name() == GROUPS);
        for op in groups.collect::<Vec<_>>() {
            capture(body, op);
        }
    }
    function
}

/// Returns the value that an argument of a partition region captures; if `value` is no such argument, `value` itself.
#[must_use]
pub fn resolve_captured_value(body: &FunctionBody, value: Value) -> Value {
    let ValueOrigin::Argument(block, index) = body.value_origin(value) else { return value };
    let groups = body.walk_region(body.root()).into_iter().filter(|op| body.op(*op).name() == GROUPS);
    let of = |op: &Op| body.op(*op).regions.iter().skip(1).any(|region| body.blocks(*region).first() == Some(&block));
    let given = groups.into_iter().find(of).and_then(|op| body.op(op).operands.get(index as usize).copied());
    given.map_or(value, |given| resolve_captured_value(body, given))
}

fn capture(body: &mut FunctionBody, op: Op) {
    let regions: Vec<Region> = body.op(op).regions.iter().skip(1).copied().collect();
    let taken: BTreeSet<Value> = regions.iter().flat_map(|region| from_outside(body, *region)).collect();
    let known = body.op(op).operands.to_vec();
    let taken: Vec<Value> = taken.into_iter().collect();
    for &region in &regions {
        let Some(&entry) = body.blocks(region).first() else { continue };
        let entry_arguments = body.arguments(entry).to_vec();
        let mut inside: HashMap<Value, Value> = known.iter().copied().zip(entry_arguments).collect();
        for &value in &taken {
            inside.entry(value).or_insert_with(|| named_like(body, entry, value));
        }
        for op in body.walk_region(region) {
            for operand in &mut body.op_mut(op).operands {
                *operand = inside.get(operand).copied().unwrap_or(*operand);
            }
        }
    }
    let operation = body.op_mut(op);
    operation.operands.extend(taken.into_iter().filter(|value| !known.contains(value)));
    let count = operation.operands.len() as u32;
    operation.group_sizes = smallvec::smallvec![count];
}

/// Adds an argument to a block, with the type and name of a value.
fn named_like(body: &mut FunctionBody, block: Block, value: Value) -> Value {
    let argument = body.add_argument(block, body.value_type(value).clone());
    if let Some(name) = body.value_name(value).map(str::to_owned) {
        body.set_name(argument, name);
    }
    argument
}

/// The values that a region uses but does not define.
fn from_outside(body: &FunctionBody, region: Region) -> BTreeSet<Value> {
    let inner = body.walk_region(region);
    let nested = inner.iter().flat_map(|op| body.op(*op).regions.iter().copied());
    let blocks = std::iter::once(region).chain(nested).flat_map(|region| body.blocks(region));
    let arguments = blocks.flat_map(|block| body.arguments(*block).iter().copied());
    let results = inner.iter().flat_map(|op| body.op(*op).results.iter().copied());
    let defined: BTreeSet<Value> = arguments.chain(results).collect();
    let used = inner.iter().flat_map(|op| body.op(*op).operands.iter().copied());
    used.filter(|value| !defined.contains(value)).collect()
}
