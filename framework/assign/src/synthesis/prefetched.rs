//! Finds the loads that a pipelined loop prefetches through registers, and the loads before the loop that begin this.
//!
//! The program uses the result of such a load in the next iteration only: the loop carries it, or a store puts it into a
//! buffer that the program selects by an index.

use std::collections::HashMap;
use tilewright_tile::op::name::{scf, tt, ttg};

use super::accesses::buffer_count;
use tilewright_tile::op_attrs::PREFETCH;
use tilewright_tile::{Body, Op, Operation, Region, Value};

/// The loads that are prefetched through registers.
#[derive(Debug, Default)]
pub(super) struct PrefetchedLoads {
    /// Whether each load is predicated: marked, or in an `scf.if` around it. The loop then has a predicate for its last
    /// iterations, and no fewer iterations than the program's.
    predicated: HashMap<Op, bool>,
}

impl PrefetchedLoads {
    /// Finds all prefetched loads of a program.
    pub(super) fn of(body: &Body) -> Self {
        let mut users = Users::default();
        users.add_region(body, body.root(), None);
        let loads = body.walk(body.root()).into_iter().filter(|op| is_load(body.op(*op)));
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

/// The operations that use each value, each with the operation whose region contains it.
#[derive(Default)]
struct Users(HashMap<Value, Vec<(Op, Option<Op>)>>);

impl Users {
    fn add_region(&mut self, body: &Body, region: Region, parent: Option<Op>) {
        for &op in body.blocks(region).iter().flat_map(|block| body.ops(*block)) {
            for &value in &body.op(op).operands {
                self.0.entry(value).or_default().push((op, parent));
            }
            body.op(op).regions.iter().for_each(|inner| self.add_region(body, *inner, Some(op)));
        }
    }

    /// Whether a prefetched load is predicated; `None` if the load is not prefetched.
    fn find_prefetch(&self, body: &Body, load: Op) -> Option<bool> {
        if body.op(load).attributes.get(PREFETCH).is_some() {
            return Some(true);
        }
        let mut values: Vec<Value> = body.op(load).results.iter().copied().collect();
        let (mut is_predicated, mut is_used) = (false, false);
        while let Some(value) = values.pop() {
            for &(user, parent) in self.0.get(&value)? {
                is_used = true;
                match (body.op(user).name(), parent) {
                    (scf::YIELD, Some(parent)) if body.op(parent).name() == scf::IF => {
                        let index = body.op(user).operands.iter().position(|operand| *operand == value)?;
                        values.push(*body.op(parent).results.get(index)?);
                        is_predicated = true;
                    }
                    (scf::YIELD, Some(parent)) if body.op(parent).name() == scf::FOR => {}
                    // The value of the first iteration of a loop.
                    (scf::FOR, _) if is_predicated => {}
                    (ttg::LOCAL_STORE, _) if buffer_count(body, body.op(user).operands[1]).is_some() => {}
                    _ => return None,
                }
            }
        }
        is_used.then_some(is_predicated)
    }
}
