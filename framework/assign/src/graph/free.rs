//! Rematerializable values: they are computed once for each layout that is required of them.

use super::build::Builder;
use super::{Remat, RequiredLayout, Role};
use crate::AssignmentError;
use crate::layouts::LayoutTransfer;
use tilewright_tile::axis_info::AxisInfo;
use tilewright_tile::op::name::{arith, tt, ub};
use tilewright_tile::{Op, Operation};

/// Max number of operations by which a value is rematerialized.
const LARGEST_CONE: u32 = 48;

/// Operations that issue no instruction in any layout, and so can be rematerialized.
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
    /// Whether the result of an operation follows from constants by at most [`LARGEST_CONE`] pure operations.
    pub(super) fn is_free(&self, op: Op) -> bool {
        let operation = self.body.op(op);
        let given = operation.results.iter().any(|value| self.body.value_type(*value).layout().is_some());
        let kind = is_issued(operation) || NO_INSTRUCTION.contains(&operation.name());
        let is_pure = operation.definition.traits.pure && operation.regions.is_empty();
        is_pure && kind && !given && self.cone(operation).is_some_and(|cone| cone <= LARGEST_CONE)
    }

    /// Returns the number of operations that compute a value from constants; `None` if a tensor operand cannot be
    /// rematerialized.
    fn cone(&self, operation: &Operation) -> Option<u32> {
        let tensors = operation.operands.iter().filter(|value| self.is_tensor(**value));
        let mut cone = u32::from(!operation.operands.is_empty());
        for value in tensors {
            match self.graph.roles[value.index()] {
                Role::Free(conversion_ops) => cone += conversion_ops,
                _ => return None,
            }
        }
        Some(cone)
    }

    pub(super) fn freely(&mut self, op: Op, weight: f64) -> Result<(), AssignmentError> {
        let operation = self.body.op(op).clone();
        let cone = self.cone(&operation).unwrap_or(0);
        let transfer = self.transfers(op).map_or(LayoutTransfer::Same, |transfers| transfers.operand.0);
        let transfer = self.graph.interner.transfer(transfer);
        let mut operands = Vec::new();
        for (operand, value) in operation.operands.iter().enumerate() {
            if self.is_tensor(*value) {
                self.set_required(op, operand, RequiredLayout::OfResult(transfer));
                operands.push((*value, transfer));
            }
        }
        let is_issued = is_issued(&operation);
        for result in &operation.results {
            self.free(*result, cone, weight);
            let together = self.axis_info.get(*result).map_or_else(Vec::new, together);
            self.graph.remats[result.index()] = Some(Remat { is_issued, together, operands: operands.clone() });
        }
        Ok(())
    }
}

/// Whether an operation issues one instruction for each register.
fn is_issued(operation: &Operation) -> bool {
    let name = operation.name();
    (operation.definition.traits.elementwise || name == arith::SELECT) && !NO_INSTRUCTION.contains(&name)
}

/// Returns, for each axis, the number of neighbouring elements that are equal or consecutive, from axis information
/// (Triton's AxisInfo).
fn together(info: &AxisInfo) -> Vec<u64> {
    (0..info.rank()).map(|axis| info.dim_info(axis)).map(|along| along.contiguity.max(along.constancy)).collect()
}
