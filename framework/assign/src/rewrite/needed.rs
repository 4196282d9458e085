//! Which layouts are wanted, of operands and of values that are computed again.

use super::Rewriter;
use crate::EngineError;
use crate::graph::{RequiredLayout, Role, usual};
use crate::pool::LayoutId;
use tilewright_tile::{Op, Value, ValueOrigin};

impl Rewriter<'_, '_, '_> {
    /// The layout in which an operand is wanted that is computed again; `own` is that of the result.
    pub(super) fn required(
        &self,
        op: Op,
        operand: usize,
        own: Option<LayoutId>,
    ) -> Result<Option<LayoutId>, EngineError> {
        let value = self.body.op(op).operands[operand];
        let required = self.state.graph.wants[op.index()].get(operand).copied().unwrap_or(RequiredLayout::Scalar);
        Ok(match (required, own) {
            (RequiredLayout::Scalar, _) | (RequiredLayout::OfResult(_), None) => None,
            (RequiredLayout::Of(node, view), _) => Some(self.layout_of(op, self.state.at(node, view))?),
            (RequiredLayout::OfResult(view), Some(own)) => {
                Some(self.layout_of(op, self.state.graph.pool.seen(own, view))?)
            }
            (RequiredLayout::AsIs, _) => match self.role(value) {
                Role::Free(_) => {
                    let shape = self.body.ty(value).shape().unwrap_or_default();
                    Some(usual(shape, self.machine, self.state.graph.pool)?)
                }
                _ => self.state.home(value),
            },
        })
    }

    fn layout_of(&self, op: Op, layout: Option<LayoutId>) -> Result<LayoutId, EngineError> {
        layout.ok_or_else(|| EngineError::Program {
            operation: self.body.op(op).name().to_owned(),
            message: "no layout of its result gives one of its operands".to_owned(),
        })
    }

    /// Every layout of every value that is computed again, beginning with those that stay as they are.
    pub(super) fn find_needed(&mut self) -> Result<(), EngineError> {
        let mut open: Vec<(Value, LayoutId)> = Vec::new();
        for op in self.body.walk(self.body.root()) {
            if !self.is_free(op) {
                self.ask(op, None, &mut open)?;
            }
        }
        while let Some((value, layout)) = open.pop() {
            if self.needed[value.index()].contains(&layout) {
                continue;
            }
            let ValueOrigin::Result(op, _) = self.body.origin(value) else { continue };
            // All results of an operation are made together.
            for result in self.body.op(op).results.clone() {
                self.needed[result.index()].push(layout);
            }
            self.ask(op, Some(layout), &mut open)?;
        }
        Ok(())
    }

    fn ask(&self, op: Op, own: Option<LayoutId>, open: &mut Vec<(Value, LayoutId)>) -> Result<(), EngineError> {
        for (operand, &value) in self.body.op(op).operands.iter().enumerate() {
            if matches!(self.role(value), Role::Free(_))
                && let Some(layout) = self.required(op, operand, own)?
            {
                open.push((value, layout));
            }
        }
        Ok(())
    }
}
