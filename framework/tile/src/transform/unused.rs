//! Dead code elimination.

use std::collections::{HashMap, HashSet};

use super::allocations::Allocations;
use crate::op::name::{scf, tt, ttg};
use crate::{FunctionBody, Op, TileModule};

/// Removes operations whose results are unused and that have no side effects, transitively.
///
/// Loops and branches are removed if all operations in them can be. Stores to an allocation in shared memory that no
/// operation reads have no effect.
pub fn remove_unused_operations(module: &mut TileModule) {
    module.functions.iter_mut().filter_map(|function| function.body.as_mut()).for_each(of_body);
}

fn of_body(body: &mut FunctionBody) {
    let all = body.walk_region(body.root());
    let mut uses = vec![0u32; body.value_count()];
    for operand in all.iter().flat_map(|op| &body.op(*op).operands) {
        uses[operand.index()] += 1;
    }
    let mut around = vec![None; body.op_count()];
    for &op in &all {
        // A later operation overwrites the entry of an earlier one, so the innermost enclosing operation remains.
        body.op_and_nested_ops(op).into_iter().skip(1).for_each(|inner| around[inner.index()] = Some(op));
    }
    let mut removed = Removed { ops: vec![false; body.op_count()], stores: DeadStores::of(body) };
    // Revisit the definition of a value when its last use is removed.
    let mut requested = all;
    requested.extend(removed.stores.dead.iter().copied());
    while let Some(op) = requested.pop() {
        let unused = body.op(op).results.iter().all(|value| uses[value.index()] == 0);
        if removed.ops[op.index()] || !unused || !removed.is_removable(body, op) {
            continue;
        }
        requested.extend(around[op.index()]);
        for nested in body.op_and_nested_ops(op) {
            // Subtract the uses by each operation only once.
            if std::mem::replace(&mut removed.ops[nested.index()], true) {
                continue;
            }
            requested.extend(removed.stores.without_reader(nested));
            for operand in &body.op(nested).operands {
                uses[operand.index()] -= 1;
                if let crate::ValueOrigin::Result(by, _) = body.value_origin(*operand) {
                    requested.push(by);
                }
            }
        }
    }
    let blocks: Vec<_> = regions(body).into_iter().flat_map(|region| body.blocks(region).to_vec()).collect();
    for block in blocks {
        let kept = body.ops(block).iter().copied().filter(|op| !removed.ops[op.index()]).collect();
        body.set_ops(block, kept);
    }
}

/// The operations to remove (a flag for each operation index), and the stores that no operation reads.
struct Removed {
    ops: Vec<bool>,
    stores: DeadStores,
}

impl Removed {
    /// Whether an operation has no effect besides its results. A loop that may not terminate counts as an effect.
    fn is_removable(&self, body: &FunctionBody, op: Op) -> bool {
        let operation = body.op(op);
        let traits = operation.definition.traits;
        if traits.terminator {
            return false;
        }
        match operation.name() {
            scf::IF | scf::FOR => body.op_and_nested_ops(op).iter().skip(1).all(|&inner| {
                let is_terminator =
                    body.op(inner).definition.traits.terminator && body.op(inner).definition.traits.pure;
                self.ops[inner.index()] || is_terminator || self.is_removable(body, inner)
            }),
            tt::EXTERN_ELEMENTWISE | tt::ELEMENTWISE_INLINE_ASM | ttg::INLINE_ASM => {
                operation.attributes.get("pure").and_then(crate::Attribute::as_integer) == Some(1)
            }
            ttg::LOCAL_ALLOC | ttg::LOCAL_LOAD | ttg::LOCAL_GATHER => true,
            _ => traits.pure || self.stores.dead.contains(&op),
        }
    }
}

/// The stores to allocations in shared memory that no operation reads.
struct DeadStores {
    /// For each reader, the allocation that it reads.
    reads: HashMap<Op, usize>,
    /// For each allocation, the number of its readers that are not removed, and its stores.
    allocations: Vec<(usize, Vec<Op>)>,
    dead: HashSet<Op>,
}

impl DeadStores {
    fn of(body: &FunctionBody) -> Self {
        let mut found = Self { reads: HashMap::new(), allocations: Vec::new(), dead: HashSet::new() };
        for allocation in Allocations::of(body).iter() {
            let at = found.allocations.len();
            found.reads.extend(allocation.readers.iter().map(|&reader| (reader, at)));
            let stores = [&allocation.writers[..], &allocation.ends].concat();
            if allocation.readers.is_empty() {
                found.dead.extend(&stores);
            }
            found.allocations.push((allocation.readers.len(), stores));
        }
        found
    }

    /// Returns the stores without any reader left after the operation `removed` is removed.
    fn without_reader(&mut self, removed: Op) -> Vec<Op> {
        let Some(at) = self.reads.remove(&removed) else { return Vec::new() };
        let (readers, stores) = &mut self.allocations[at];
        *readers -= 1;
        if *readers > 0 {
            return Vec::new();
        }
        self.dead.extend(&*stores);
        std::mem::take(stores)
    }
}

fn regions(body: &FunctionBody) -> Vec<crate::Region> {
    let inner = body.walk_region(body.root());
    let inner = inner.iter().flat_map(|op| body.op(*op).regions.iter().copied());
    std::iter::once(body.root()).chain(inner).collect()
}
