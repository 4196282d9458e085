//! Operations on shapes, as views of layouts.

use super::build::Builder;
use crate::layouts::View;
use tilewright_tile::op::name::{tt, ttg};
use tilewright_tile::{Attribute, Op};

/// The views of an operation on shapes: from the key to the result, and back; from the key to the operands, and back.
pub(super) struct Views {
    pub(super) result: (View, Option<View>),
    pub(super) operand: (View, Option<View>),
}

impl Builder<'_, '_> {
    /// Of operations that only move elements to other places.
    pub(super) fn views(&self, op: Op) -> Option<Views> {
        let operation = self.body.op(op);
        let from = self.shape(*operation.operands.first()?);
        let to = self.shape(*operation.results.first()?);
        let of_result = |operand: View, back: Option<View>| Views {
            result: (View::Same, Some(View::Same)),
            operand: (operand, back),
        };
        let of_source = |result: View, back: Option<View>| Views {
            result: (result, back),
            operand: (View::Same, Some(View::Same)),
        };
        Some(match operation.name() {
            tt::EXPAND_DIMS => {
                let axis = self.number(op, "axis")?;
                of_result(View::Without(axis), Some(View::With(axis)))
            }
            tt::BROADCAST => {
                let cut = (0..to.len()).filter(|&axis| from.get(axis) == Some(&1) && to[axis] != 1);
                of_result(View::Cut(cut.collect()), None)
            }
            tt::RESHAPE => of_result(View::Reshaped(from), Some(View::Reshaped(to))),
            tt::TRANS => {
                let Some(Attribute::Array(_, order)) = operation.attributes.get("order") else { return None };
                let order: Vec<usize> = order.iter().map(|&axis| axis as usize).collect();
                let mut inverse = vec![0; order.len()];
                for (place, &axis) in order.iter().enumerate() {
                    *inverse.get_mut(axis)? = place;
                }
                of_result(View::Permuted(inverse), Some(View::Permuted(order)))
            }
            tt::JOIN => of_source(View::Paired, Some(View::Unpaired)),
            tt::SPLIT => of_result(View::Paired, Some(View::Unpaired)),
            tt::CAT => of_source(View::Stacked(0), None),
            ttg::FP4_TO_FP => of_source(View::Doubled(self.number(op, "axis")?), None),
            _ => return None,
        })
    }
}
