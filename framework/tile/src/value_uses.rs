//! The operations that use each value of a body or of a block, found by one walk.

use std::collections::HashMap;

use crate::{Block, FunctionBody, Op, Value};

/// The operations that use each value, each with the index of the operand, in pre-order.
#[derive(Debug, Default)]
pub struct ValueUses(HashMap<Value, Vec<(Op, usize)>>);

impl ValueUses {
    /// Finds the uses in all operations of a body.
    #[must_use]
    pub fn of(body: &FunctionBody) -> Self {
        Self::of_ops(body, body.walk_region(body.root()))
    }

    /// Finds the uses in the operations of a block and in their regions. They are all uses of the block's arguments and
    /// of its operations' results.
    #[must_use]
    pub fn of_block(body: &FunctionBody, block: Block) -> Self {
        Self::of_ops(body, body.ops(block).iter().flat_map(|op| body.op_and_nested_ops(*op)))
    }

    fn of_ops(body: &FunctionBody, ops: impl IntoIterator<Item = Op>) -> Self {
        let mut uses = HashMap::<Value, Vec<(Op, usize)>>::new();
        for op in ops {
            for (index, &operand) in body.op(op).operands.iter().enumerate() {
                uses.entry(operand).or_default().push((op, index));
            }
        }
        Self(uses)
    }

    /// Returns the uses of a value; empty if it has none.
    #[must_use]
    pub fn of_value(&self, value: Value) -> &[(Op, usize)] {
        self.0.get(&value).map_or(&[], Vec::as_slice)
    }

    /// Whether `op` is the only operation that uses a value, by one operand.
    #[must_use]
    pub fn is_only_user(&self, op: Op, value: Value) -> bool {
        matches!(self.of_value(value), [(user, _)] if *user == op)
    }
}
