//! Finds the loads that a pipelined loop prefetches through registers, and the loads in the prologue before the loop.
//!
//! The program uses the result of such a load in the next iteration only. Either the loop carries the result, or the
//! program stores it, or a value computed from it alone, to a buffer that an index selects.

use std::collections::{HashMap, HashSet};
use tilewright_tile::op::name::{scf, tt, ttg};

use super::accesses::buffer_count;
use tilewright_tile::op_attrs::IS_PREFETCH;
use tilewright_tile::{FunctionBody, Op, Operation, Region, Value};

/// The loads that are prefetched through registers.
#[derive(Debug, Default)]
pub(super) struct PrefetchedLoads {
    /// Whether each load is predicated: by its attribute [`IS_PREFETCH`], or because an `scf.if` contains it. A
    /// predicated load is omitted in the last iterations; without a predicate, the loop has fewer iterations instead.
    predicated: HashMap<Op, bool>,
}

impl PrefetchedLoads {
    /// Finds all prefetched loads of a program.
    pub(super) fn of(body: &FunctionBody) -> Self {
        let mut users = Users::default();
        users.add_region(body, body.root(), None);
        let loads = body.walk_region(body.root()).into_iter().filter(|op| is_load(body.op(*op)));
        let predicated = loads.filter_map(|load| Some((load, users.find_prefetch(body, load)?)));
        Self { predicated: predicated.collect() }
    }

    pub(super) fn contains(&self, op: Op) -> bool {
        self.predicated.contains_key(&op)
    }

    /// Whether a load is prefetched under a predicate, so that a load before the loop replaces one that the loop omits
    /// in its last iterations.
    pub(super) fn is_predicated(&self, op: Op) -> bool {
        self.predicated.get(&op) == Some(&true)
    }
}

/// Whether an operation loads a tensor from global memory to registers.
pub(super) fn is_load(operation: &Operation) -> bool {
    matches!(operation.name(), tt::LOAD | tt::DESCRIPTOR_LOAD | tt::DESCRIPTOR_GATHER)
}

/// Whether an operation computes values from its operands alone, and multiplies no matrices.
fn is_elementary(operation: &Operation) -> bool {
    let is_computed = operation.regions.is_empty() && !operation.results.is_empty();
    is_computed && operation.definition.traits.pure && !operation.is_dot()
}

/// The operations that use each value, each with the operation whose region contains it.
#[derive(Default)]
struct Users(HashMap<Value, Vec<(Op, Option<Op>)>>);

impl Users {
    fn add_region(&mut self, body: &FunctionBody, region: Region, parent: Option<Op>) {
        for &op in body.blocks(region).iter().flat_map(|block| body.ops(*block)) {
            for &value in &body.op(op).operands {
                self.0.entry(value).or_default().push((op, parent));
            }
            body.op(op).regions.iter().for_each(|inner| self.add_region(body, *inner, Some(op)));
        }
    }

    /// Whether a prefetched load is predicated; `None` if the load is not prefetched.
    fn find_prefetch(&self, body: &FunctionBody, load: Op) -> Option<bool> {
        if body.op(load).attributes.get(IS_PREFETCH).is_some() {
            return Some(true);
        }
        // Each value, and whether it is computed from the loaded one.
        let mut values: Vec<(Value, bool)> = body.op(load).results.iter().map(|value| (*value, false)).collect();
        let (mut is_predicated, mut is_used, mut visited) = (false, false, HashSet::new());
        while let Some((value, is_computed)) = values.pop() {
            for &(user, parent) in self.0.get(&value)? {
                is_used = true;
                let operation = body.op(user);
                match (operation.name(), parent) {
                    (scf::YIELD, Some(parent)) if body.op(parent).name() == scf::IF => {
                        let index = operation.operands.iter().position(|operand| *operand == value)?;
                        values.push((*body.op(parent).results.get(index)?, is_computed));
                        is_predicated = true;
                    }
                    (scf::YIELD, Some(parent)) if body.op(parent).name() == scf::FOR && !is_computed => {}
                    // The value of the first iteration of a loop.
                    (scf::FOR, _) if is_predicated && !is_computed => {}
                    (ttg::LOCAL_STORE, _) if buffer_count(body, operation.operands[1]).is_some() => {}
                    // Computed before the store.
                    _ if is_elementary(operation) && visited.insert(user) => {
                        values.extend(operation.results.iter().map(|result| (*result, true)));
                    }
                    _ if visited.contains(&user) => {}
                    _ => return None,
                }
            }
        }
        is_used.then_some(is_predicated)
    }
}
