//! Operations whose layouts are all explicit in the IR: they keep these layouts.

use super::Kind;
use super::build::Builder;
use crate::AssignmentError;
use crate::layouts::LayoutTransfer;
use tilewright_tile::{Op, Value};

impl Builder<'_, '_> {
    /// Whether all tensors of the operation have explicit layouts, and their shapes differ. If the shapes are equal,
    /// the ordinary rules apply, which give the tensors one layout.
    pub(super) fn is_explicit(&self, op: Op) -> bool {
        let operation = self.body.op(op);
        let values = operation.operands.iter().chain(&operation.results);
        let mut tensors = values.filter(|value| self.is_tensor(**value)).peekable();
        tensors.peek().is_some()
            && tensors.all(|value| self.body.value_type(*value).layout().is_some())
            && !self.is_of_one_shape(op)
    }

    /// Adds nodes that keep the explicit layouts of operands, results and region arguments.
    pub(super) fn as_written(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        self.leave_unconstrained(op);
        let operation = self.body.op(op).clone();
        let blocks = operation.regions.iter().flat_map(|region| self.body.blocks(*region));
        let arguments: Vec<Value> = blocks.flat_map(|block| self.body.arguments(*block)).copied().collect();
        for value in operation.results.iter().copied().chain(arguments) {
            if self.is_tensor(value) {
                let node = self.node(Kind::Nothing, Some(op), weight, self.shape(value));
                self.out(node, value, LayoutTransfer::Same, Some(LayoutTransfer::Same), weight);
            }
        }
        self.regions(op, weight)
    }
}
