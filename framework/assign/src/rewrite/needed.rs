//! Finds the layouts that are required of operands and of rematerialized values.

use super::Rewriter;
use crate::AssignmentError;
use crate::graph::{RequiredLayout, Role, usual};
use crate::interner::LayoutId;
use tilewright_tile::{Op, Value, ValueOrigin};

impl Rewriter<'_, '_, '_> {
    /// Returns the layout that an operation requires of an operand; `None` if it requires none. `result_layout` is the
    /// layout of the operation's result, given if the operation is rematerialized.
    pub(super) fn required(
        &self,
        op: Op,
        operand: usize,
        result_layout: Option<LayoutId>,
    ) -> Result<Option<LayoutId>, AssignmentError> {
        let value = self.body.op(op).operands[operand];
        let required = self.state.graph.wants[op.index()].get(operand).copied().unwrap_or(RequiredLayout::Scalar);
        Ok(match (required, result_layout) {
            (RequiredLayout::Scalar, _) | (RequiredLayout::OfResult(_), None) => None,
            (RequiredLayout::Of(node, transfer), _) => Some(self.layout_of(op, self.state.at(node, transfer))?),
            (RequiredLayout::OfResult(transfer), Some(result_layout)) => {
                Some(self.layout_of(op, self.state.graph.interner.apply(result_layout, transfer))?)
            }
            (RequiredLayout::AsIs, _) => match self.role(value) {
                Role::Free(_) => {
                    let shape = self.body.value_type(value).shape().unwrap_or_default();
                    Some(usual(shape, self.config, self.state.graph.interner)?)
                }
                _ => self.state.assigned_layout(value),
            },
        })
    }

    fn layout_of(&self, op: Op, layout: Option<LayoutId>) -> Result<LayoutId, AssignmentError> {
        layout.ok_or_else(|| AssignmentError::Program {
            operation: self.body.op(op).name().to_owned(),
            message: "no operand layout follows from the layout of its result".to_owned(),
        })
    }

    /// Finds all layouts that are required of rematerialized values, starting from operations that are not
    /// rematerialized.
    pub(super) fn find_needed(&mut self) -> Result<(), AssignmentError> {
        let mut open: Vec<(Value, LayoutId)> = Vec::new();
        for op in self.body.walk_region(self.body.root()) {
            if !self.is_free(op) {
                self.ask(op, None, &mut open)?;
            }
        }
        while let Some((value, layout)) = open.pop() {
            if self.needed[value.index()].contains(&layout) {
                continue;
            }
            let ValueOrigin::Result(op, _) = self.body.value_origin(value) else { continue };
            // All results of an operation are rematerialized together, by one clone.
            for result in self.body.op(op).results.clone() {
                self.needed[result.index()].push(layout);
            }
            self.ask(op, Some(layout), &mut open)?;
        }
        Ok(())
    }

    fn ask(
        &self,
        op: Op,
        result_layout: Option<LayoutId>,
        open: &mut Vec<(Value, LayoutId)>,
    ) -> Result<(), AssignmentError> {
        for (operand, &value) in self.body.op(op).operands.iter().enumerate() {
            if matches!(self.role(value), Role::Free(_))
                && let Some(layout) = self.required(op, operand, result_layout)?
            {
                open.push((value, layout));
            }
        }
        Ok(())
    }
}
