//! Loads whose values can leave the warp that loads them, other than by a store with a predicate.
//!
//! Several warps load their replicas of an element, and a predicate selects the one that stores the result in place. If
//! another one loads the element after that store, it computes a wrong value, which matters only if something else than
//! such a store observes it: control flow, an address, shared memory, or an instruction.

use std::collections::HashSet;

use tilewright_kernel::{Kernel, MemorySpace, Op, Region, Statement, Type, Value};

/// Returns the indices of these loads, as in [`Kernel::statements`].
pub(super) fn find_observed_loads(kernel: &Kernel) -> HashSet<u32> {
    let mut search = Search { observed: HashSet::new(), global: HashSet::new() };
    let parameters = (0..).map(Value).zip(&kernel.parameters).map(|(value, parameter)| (value, parameter.ty));
    search.note_global(parameters);
    let statements = kernel.statements();
    statements.iter().for_each(|statement| search.note_global(statement.results.iter().copied()));
    // A loop passes values to earlier statements.
    let mut before = None;
    while before != Some(search.observed.len()) {
        before = Some(search.observed.len());
        search.visit_region(&kernel.body);
    }
    let is_observed = |statement: &Statement| {
        matches!(statement.op, Op::Load { .. })
            && statement.results.iter().any(|(value, _)| search.observed.contains(value))
    };
    (0..).zip(statements).filter(|(_, statement)| is_observed(statement)).map(|(number, _)| number).collect()
}

struct Search {
    observed: HashSet<Value>,
    /// The pointers to global memory.
    global: HashSet<Value>,
}

impl Search {
    fn note_global(&mut self, values: impl Iterator<Item = (Value, Type)>) {
        let is_global = |&(_, ty): &(Value, Type)| ty == Type::Pointer(MemorySpace::Global);
        self.global.extend(values.filter(is_global).map(|(value, _)| value));
    }

    /// Adds the observed values of a region, given those of the statements after it.
    fn visit_region(&mut self, region: &Region) {
        for statement in region.statements.iter().rev() {
            let results = statement.results.iter().map(|&(value, _)| value);
            match &statement.op {
                Op::If { condition, then, otherwise } => {
                    self.observed.insert(*condition);
                    self.pass(results.clone(), then.yielded_values());
                    self.pass(results, otherwise.yielded_values());
                    self.visit_region(then);
                    self.visit_region(otherwise);
                }
                Op::For { from, to, step, carried, body } => {
                    self.observed.extend([from, to, step]);
                    self.visit_loop(results, carried, body, body.yielded_values(), 1);
                }
                Op::While { carried, body } => {
                    let (condition, yielded) = body.yielded_values().split_at(1.min(body.yielded_values().len()));
                    self.observed.extend(condition);
                    self.visit_loop(results, carried, body, yielded, 0);
                }
                Op::Yield { .. } => {}
                op => self.visit_operation(op, results),
            }
        }
    }

    /// Adds the observed values of a loop: of its body, and those that it carries. The first `skip` arguments of the
    /// body are not carried.
    fn visit_loop(
        &mut self,
        results: impl Iterator<Item = Value>,
        carried: &[Value],
        body: &Region,
        yielded: &[Value],
        skip: usize,
    ) {
        self.pass(results, yielded);
        self.visit_region(body);
        let arguments = body.arguments.iter().skip(skip).map(|&(value, _)| value);
        self.pass(arguments.clone(), carried);
        self.pass(arguments, yielded);
    }

    fn visit_operation(&mut self, op: &Op, mut results: impl Iterator<Item = Value>) {
        match op {
            Op::Store { pointer, predicate: Some(predicate), .. }
            | Op::AtomicRmw { pointer, predicate: Some(predicate), .. }
            | Op::AtomicCompareExchange { pointer, predicate: Some(predicate), .. }
                if self.global.contains(pointer) =>
            {
                self.observed.insert(*predicate);
            }
            Op::Load { pointer, predicate, .. } => self.observed.extend(predicate.iter().chain([pointer])),
            op if op.has_single_result() || matches!(op, Op::Swap { .. }) => {
                if results.any(|result| self.observed.contains(&result)) {
                    self.observed.extend(op.operands());
                }
            }
            op => self.observed.extend(op.operands()),
        }
    }

    /// Adds the values that are passed to observed values.
    fn pass(&mut self, to: impl Iterator<Item = Value>, values: &[Value]) {
        let passed = to.zip(values).filter(|(to, _)| self.observed.contains(to)).map(|(_, &value)| value);
        let passed: Vec<Value> = passed.collect();
        self.observed.extend(passed);
    }
}
