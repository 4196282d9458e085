//! Layout transfers of shape operations: how the layouts of operand and result follow from the key of a node.

use super::build::Builder;
use crate::layouts::{LayoutTransfer, shape_transfers};
use tilewright_tile::Op;
use tilewright_tile::op::name::{tt, ttg};

/// Layout transfers of a shape operation: from the key (chosen layout) of its graph node to the layouts of the result
/// and of the operand. Each comes with its inverse, `None` if it has no inverse.
pub(super) struct ReshapeTransfers {
    pub(super) result: (LayoutTransfer, Option<LayoutTransfer>),
    pub(super) operand: (LayoutTransfer, Option<LayoutTransfer>),
}

impl Builder<'_, '_> {
    /// Returns the layout transfers of an operation that only moves elements to other coordinates; `None` for other
    /// operations.
    pub(super) fn transfers(&self, op: Op) -> Option<ReshapeTransfers> {
        let operation = self.body.op(op);
        let from = self.shape(*operation.operands.first()?);
        let to = self.shape(*operation.results.first()?);
        let of_result = |operand: LayoutTransfer, back: Option<LayoutTransfer>| ReshapeTransfers {
            result: (LayoutTransfer::Same, Some(LayoutTransfer::Same)),
            operand: (operand, back),
        };
        let of_source = |result: LayoutTransfer, back: Option<LayoutTransfer>| ReshapeTransfers {
            result: (result, back),
            operand: (LayoutTransfer::Same, Some(LayoutTransfer::Same)),
        };
        Some(match operation.name() {
            tt::BROADCAST => {
                let cut = (0..to.len()).filter(|&axis| from.get(axis) == Some(&1) && to[axis] != 1);
                of_result(LayoutTransfer::ReduceToOne(cut.collect()), None)
            }
            tt::EXPAND_DIMS | tt::RESHAPE | tt::TRANS => {
                let [to_operand, to_result] = shape_transfers(self.body, op)?;
                of_result(to_operand, Some(to_result))
            }
            tt::JOIN => of_source(LayoutTransfer::Paired, Some(LayoutTransfer::Unpaired)),
            tt::SPLIT => of_result(LayoutTransfer::Paired, Some(LayoutTransfer::Unpaired)),
            tt::CAT => of_source(LayoutTransfer::Stacked(0), None),
            ttg::FP4_TO_FP => of_source(LayoutTransfer::Doubled(self.integer_attribute(op, "axis")?), None),
            _ => return None,
        })
    }
}
