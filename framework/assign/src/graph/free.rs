//! Values that are computed again in each layout in which they are wanted.

use super::build::Builder;
use super::{Remat, RequiredLayout, Role};
use crate::EngineError;
use crate::layouts::LayoutTransfer;
use tilewright_tile::facts::AxisInfo;
use tilewright_tile::op::name::{arith, tt, ub};
use tilewright_tile::{Op, Operation};

/// A value that takes more operations than these is not computed again for every layout.
const LARGEST_CONE: u32 = 48;

/// Operations that take no instruction of a register, and can be done again wherever the result is wanted.
const NO_INSTRUCTION: [&str; 9] = [
    arith::CONSTANT,
    tt::MAKE_RANGE,
    tt::SPLAT,
    tt::BROADCAST,
    tt::EXPAND_DIMS,
    tt::RESHAPE,
    tt::TRANS,
    tt::SPLIT,
    ub::POISON,
];

impl Builder<'_, '_> {
    /// Whether the operation gives what follows from constants by few operations, all of which can be done again.
    pub(super) fn is_free(&self, op: Op) -> bool {
        let operation = self.body.op(op);
        let given = operation.results.iter().any(|value| self.body.ty(*value).layout().is_some());
        let kind = is_issued(operation) || NO_INSTRUCTION.contains(&operation.name());
        let is_pure = operation.definition.traits.pure && operation.regions.is_empty();
        is_pure && kind && !given && self.cone(operation).is_some_and(|cone| cone <= LARGEST_CONE)
    }

    /// How many operations a value takes that is computed again; nothing where an operand cannot be.
    fn cone(&self, operation: &Operation) -> Option<u32> {
        let tensors = operation.operands.iter().filter(|value| self.is_tensor(**value));
        let mut cone = u32::from(!operation.operands.is_empty());
        for value in tensors {
            match self.graph.roles[value.index()] {
                Role::Free(own) => cone += own,
                _ => return None,
            }
        }
        Some(cone)
    }

    pub(super) fn freely(&mut self, op: Op, weight: f64) -> Result<(), EngineError> {
        let operation = self.body.op(op).clone();
        let cone = self.cone(&operation).unwrap_or(0);
        let view = self.views(op).map_or(LayoutTransfer::Same, |views| views.operand.0);
        let view = self.graph.pool.view(view);
        let mut operands = Vec::new();
        for (operand, value) in operation.operands.iter().enumerate() {
            if self.is_tensor(*value) {
                self.set_required(op, operand, RequiredLayout::OfResult(view));
                operands.push((*value, view));
            }
        }
        let is_issued = is_issued(&operation);
        for result in &operation.results {
            self.free(*result, cone, weight);
            let together = self.facts.get(*result).map_or_else(Vec::new, together);
            self.graph.again[result.index()] = Some(Remat { is_issued, together, operands: operands.clone() });
        }
        Ok(())
    }
}

/// Whether an operation is an instruction for each register.
fn is_issued(operation: &Operation) -> bool {
    let name = operation.name();
    (operation.definition.traits.elementwise || name == arith::SELECT) && !NO_INSTRUCTION.contains(&name)
}

/// How many neighbours along each axis are the same or follow each other.
fn together(fact: &AxisInfo) -> Vec<u64> {
    fact.axes.iter().map(|along| along.contiguity.max(along.constancy)).collect()
}
