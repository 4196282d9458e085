//! The positions of operations in a program.

use std::collections::HashMap;

use tilewright_tile::op::name::scf;
use tilewright_tile::{Block, FunctionBody, Op, Value, ValueUses};

use super::state::AWAIT;

/// The positions of operations in the program.
pub(in crate::program) struct OpPositions {
    /// For each operation, the operation whose region contains it.
    around: HashMap<Op, Op>,
    /// For each operation, its block, and its index in the block.
    pub within: HashMap<Op, (Block, usize)>,
    uses: ValueUses,
}

impl OpPositions {
    pub(in crate::program) fn of(body: &FunctionBody) -> Self {
        let (mut around, mut within) = (HashMap::new(), HashMap::new());
        let mut regions = vec![(None, body.root())];
        while let Some((parent, region)) = regions.pop() {
            for &block in body.blocks(region) {
                for (at, &op) in body.ops(block).iter().enumerate() {
                    around.extend(parent.map(|parent| (op, parent)));
                    within.insert(op, (block, at));
                    regions.extend(body.op(op).regions.iter().map(|&region| (Some(op), region)));
                }
            }
        }
        Self { around, within, uses: ValueUses::of(body) }
    }

    /// The operations that use a value, each with the index of the operand.
    pub(super) fn users(&self, value: Value) -> &[(Op, usize)] {
        self.uses.of_value(value)
    }

    /// Whether the operation is in no other control flow than `scf.for` loops.
    pub(in crate::program) fn is_only_in_loops(&self, body: &FunctionBody, op: Op) -> bool {
        let mut parents = std::iter::successors(self.around.get(&op), |parent| self.around.get(parent));
        parents.all(|parent| body.op(*parent).name() == scf::FOR)
    }

    /// Whether the iteration that executes the operation also waits for MMAs, in the same block; true outside of loops.
    pub(super) fn is_waited_for(&self, body: &FunctionBody, op: Op) -> bool {
        let is_wait = |op: &Op| body.op(*op).name() == AWAIT;
        let waits = || self.within.get(&op).is_some_and(|(block, _)| body.ops(*block).iter().any(is_wait));
        !self.around.contains_key(&op) || waits()
    }

    /// Whether the operation, a terminator, ends the body of an `scf.for` loop.
    pub(super) fn ends_iteration(&self, body: &FunctionBody, op: Op) -> bool {
        self.around.get(&op).is_some_and(|around| body.op(*around).name() == scf::FOR)
    }
}
