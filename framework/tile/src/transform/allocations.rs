//! Finds the allocations of a function in shared memory, and the operations that access them.

use std::collections::HashMap;

use crate::op::name::ttg;
use crate::{FunctionBody, Op, Value};

/// An allocation in shared memory whose accesses are all known: they access views of it, and none is asynchronous.
#[derive(Debug)]
pub(super) struct Allocation {
    /// The operation that allocates; if it has an operand, it also stores this value.
    pub op: Op,
    /// The loads from the allocation, and other operations that read it.
    pub readers: Vec<Op>,
    /// The stores, and other operations that write it, in program order; without the allocation itself.
    pub writers: Vec<Op>,
    /// The operations that end the allocation's lifetime.
    pub ends: Vec<Op>,
}

/// The allocations of a function.
#[derive(Debug, Default)]
pub(super) struct Allocations {
    all: Vec<Allocation>,
    /// For each view of an allocation, the index of the allocation.
    views: HashMap<Value, usize>,
}

impl Allocations {
    pub(super) fn of(body: &FunctionBody) -> Self {
        let mut found = Self::default();
        let mut escaped = Vec::new();
        for op in body.walk_region(body.root()) {
            let operation = body.op(op);
            let result =
                operation.results.first().copied().filter(|&result| body.value_type(result).as_memory().is_some());
            if operation.name() == ttg::LOCAL_ALLOC {
                let Some(result) = result else { continue };
                found.views.insert(result, found.all.len());
                found.all.push(Allocation { op, readers: Vec::new(), writers: Vec::new(), ends: Vec::new() });
                continue;
            }
            for &operand in &operation.operands {
                let Some(&at) = found.views.get(&operand) else { continue };
                let allocation = &mut found.all[at];
                match operation.name() {
                    ttg::LOCAL_LOAD | ttg::LOCAL_GATHER => allocation.readers.push(op),
                    ttg::LOCAL_STORE | ttg::LOCAL_SCATTER => allocation.writers.push(op),
                    ttg::LOCAL_DEALLOC => allocation.ends.push(op),
                    _ => match result.filter(|_| operation.definition.traits.pure) {
                        Some(view) => drop(found.views.insert(view, at)),
                        None => escaped.push(at),
                    },
                }
            }
        }
        found.views.retain(|_, at| !escaped.contains(at));
        found
    }

    /// Returns the allocations whose accesses are all known.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Allocation> {
        let known: std::collections::BTreeSet<usize> = self.views.values().copied().collect();
        known.into_iter().map(|at| &self.all[at])
    }

    /// Whether a value in memory is a view of the allocation.
    pub(super) fn is_view(&self, value: Value, allocation: &Allocation) -> bool {
        self.views.get(&value).is_some_and(|&at| self.all[at].op == allocation.op)
    }
}
