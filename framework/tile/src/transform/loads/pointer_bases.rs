//! Finds the parameters of a function that pointers come from. Accesses through different parameters are assumed to
//! access different memory.

use std::collections::HashMap;

use crate::op::name::{scf, tt, ttg, tw};
use crate::{Block, FunctionBody, Op, Value, ValueOrigin};

/// The parameters of a function that its pointers come from.
#[derive(Debug, Clone)]
pub struct PointerBases<'b> {
    body: &'b FunctionBody,
    parameters: &'b [Value],
    /// For each argument of a loop, the value before the loop or, in the second block of a `scf.while`, the value that the
    /// first block passes.
    initial: HashMap<Value, Value>,
}

impl<'b> PointerBases<'b> {
    /// Analyses the loops of a function.
    #[must_use]
    pub fn of(body: &'b FunctionBody) -> Self {
        let parameters = body.blocks(body.root()).first().map_or(&[][..], |&entry| body.arguments(entry));
        let mut bases = Self { body, parameters, initial: HashMap::new() };
        let mut carried: Vec<[Value; 3]> = Vec::new();
        for op in body.walk_region(body.root()) {
            carried.extend(bases.carried(op));
            bases.initial.extend(bases.passed(op));
        }
        bases.initial.extend(carried.iter().map(|&[argument, initial, _]| (argument, initial)));
        // A pointer that a loop replaces by one of another base has no base.
        let is_replaced = |bases: &Self, [argument, initial, next]: [Value; 3]| {
            bases.initial.contains_key(&argument)
                && bases.find(next).is_none_or(|base| bases.find(initial) != Some(base))
        };
        while let Some(&[argument, ..]) = carried.iter().find(|&&values| is_replaced(&bases, values)) {
            bases.initial.remove(&argument);
        }
        bases
    }

    /// Returns, for each value that a loop carries, the argument of its first block, the value before the loop, and the
    /// value after an iteration; none for other operations.
    fn carried(&self, op: Op) -> Vec<[Value; 3]> {
        let operation = self.body.op(op);
        if !matches!(operation.name(), scf::FOR | scf::WHILE) {
            return Vec::new();
        }
        let blocks: Vec<Block> =
            operation.regions.iter().flat_map(|&region| self.body.blocks(region)).copied().collect();
        let [Some(&first), Some(&last)] = [blocks.first(), blocks.last()] else { return Vec::new() };
        let yielded = self.terminator_operands(last).iter().rev();
        let pairs = operation.operands.iter().rev().zip(yielded);
        let arguments = self.body.arguments(first).iter().rev();
        arguments.zip(pairs).map(|(&argument, (&initial, &next))| [argument, initial, next]).collect()
    }

    /// Returns each argument of the second block of an `scf.while` with the value that the first block passes to it.
    fn passed(&self, op: Op) -> Vec<(Value, Value)> {
        let operation = self.body.op(op);
        let blocks = || operation.regions.iter().flat_map(|&region| self.body.blocks(region));
        match (operation.name(), blocks().next(), blocks().nth(1)) {
            (scf::WHILE, Some(&before), Some(&after)) => {
                let passed = self.terminator_operands(before).iter().skip(1);
                self.body.arguments(after).iter().copied().zip(passed.copied()).collect()
            }
            _ => Vec::new(),
        }
    }

    fn terminator_operands(&self, block: Block) -> &'b [Value] {
        self.body.ops(block).last().map_or(&[], |&op| &self.body.op(op).operands)
    }

    /// Returns the parameter of the function that a pointer, each pointer of a tensor, a view, or a descriptor comes from;
    /// `None` if that is unknown.
    #[must_use]
    pub fn find(&self, pointer: Value) -> Option<Value> {
        let (op, index) = match self.body.value_origin(pointer) {
            ValueOrigin::Argument(..) => match self.initial.get(&pointer) {
                Some(&initial) => return self.find(initial),
                None => return self.parameters.contains(&pointer).then_some(pointer),
            },
            ValueOrigin::Result(op, index) => (op, index as usize),
        };
        let operation = self.body.op(op);
        let source = match operation.name() {
            // The result of a loop is the last value of an argument of its last block.
            scf::FOR | scf::WHILE => {
                let last = operation.regions.iter().flat_map(|&region| self.body.blocks(region)).last()?;
                self.body.arguments(*last).iter().rev().nth(operation.results.len().checked_sub(index + 1)?)
            }
            tt::ADDPTR
            | tt::SPLAT
            | tt::BROADCAST
            | tt::EXPAND_DIMS
            | tt::RESHAPE
            | tt::TRANS
            | tt::BITCAST
            | tt::MAKE_TENSOR_DESCRIPTOR
            | tw::GLOBAL_VIEW
            | tw::SLICE
            | tw::GATHER
            | ttg::CONVERT_LAYOUT => operation.operands.first(),
            _ => None,
        };
        source.and_then(|&source| self.find(source))
    }
}
