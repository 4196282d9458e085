//! Operations on shapes, as views of layouts.

use super::build::Builder;
use crate::layouts::LayoutTransfer;
use tilewright_tile::op::name::{tt, ttg};
use tilewright_tile::{Attribute, Op};

/// The views of an operation on shapes: from the key to the result, and back; from the key to the operands, and back.
pub(super) struct Views {
    pub(super) result: (LayoutTransfer, Option<LayoutTransfer>),
    pub(super) operand: (LayoutTransfer, Option<LayoutTransfer>),
}

impl Builder<'_, '_> {
    /// Of operations that only move elements to other places.
    pub(super) fn views(&self, op: Op) -> Option<Views> {
        let operation = self.body.op(op);
        let from = self.shape(*operation.operands.first()?);
        let to = self.shape(*operation.results.first()?);
        let of_result = |operand: LayoutTransfer, back: Option<LayoutTransfer>| Views {
            result: (LayoutTransfer::Same, Some(LayoutTransfer::Same)),
            operand: (operand, back),
        };
        let of_source = |result: LayoutTransfer, back: Option<LayoutTransfer>| Views {
            result: (result, back),
            operand: (LayoutTransfer::Same, Some(LayoutTransfer::Same)),
        };
        Some(match operation.name() {
            tt::EXPAND_DIMS => {
                let axis = self.number(op, "axis")?;
                of_result(LayoutTransfer::Without(axis), Some(LayoutTransfer::With(axis)))
            }
            tt::BROADCAST => {
                let cut = (0..to.len()).filter(|&axis| from.get(axis) == Some(&1) && to[axis] != 1);
                of_result(LayoutTransfer::Cut(cut.collect()), None)
            }
            tt::RESHAPE => of_result(LayoutTransfer::Reshaped(from), Some(LayoutTransfer::Reshaped(to))),
            tt::TRANS => {
                let Some(Attribute::Array(_, order)) = operation.attributes.get("order") else { return None };
                let order: Vec<usize> = order.iter().map(|&axis| axis as usize).collect();
                let mut inverse = vec![0; order.len()];
                for (place, &axis) in order.iter().enumerate() {
                    *inverse.get_mut(axis)? = place;
                }
                of_result(LayoutTransfer::Permuted(inverse), Some(LayoutTransfer::Permuted(order)))
            }
            tt::JOIN => of_source(LayoutTransfer::Paired, Some(LayoutTransfer::Unpaired)),
            tt::SPLIT => of_result(LayoutTransfer::Paired, Some(LayoutTransfer::Unpaired)),
            tt::CAT => of_source(LayoutTransfer::Stacked(0), None),
            ttg::FP4_TO_FP => of_source(LayoutTransfer::Doubled(self.number(op, "axis")?), None),
            _ => return None,
        })
    }
}
