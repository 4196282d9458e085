//! A program whose tensors all have a layout: what is counted (`work`) and traced back to constraints (`derived`).

use std::collections::HashMap;
use tilewright_tile::op::name::ttg;

use super::SynthesisError;
use crate::LaunchConfig;
use crate::layouts::LayoutCache;
use tilewright_layout::LinearLayout;
use tilewright_plan::contract::Contraction;
use tilewright_tile::facts::AxisInfoMap;
use tilewright_tile::{Body, Op, TileType, Value, ValueOrigin};

/// A program whose tensors all have a layout.
#[derive(Clone, Copy)]
pub(super) struct Solved<'s, 'm> {
    pub body: &'s Body,
    pub facts: &'s AxisInfoMap,
    pub machine: &'s LaunchConfig<'m>,
    pub layouts: &'s LayoutCache<'s>,
    /// The plans of products.
    pub plans: &'s HashMap<Op, Contraction>,
}

impl Solved<'_, '_> {
    pub(super) fn is_tensor(&self, value: Value) -> bool {
        matches!(self.body.ty(value), TileType::Tensor(_))
    }

    /// Who holds what of a tensor.
    pub(super) fn layout(&self, value: Value) -> Result<LinearLayout, SynthesisError> {
        Ok(self.layouts.distributed(self.body.ty(value))?)
    }
}

/// Whether a value follows from ranges and constants alone, so that it is computed where it is used.
pub(super) fn is_free(body: &Body, value: Value) -> bool {
    match body.origin(value) {
        ValueOrigin::Argument(..) => false,
        ValueOrigin::Result(op, _) => {
            let operation = body.op(op);
            let tensors = operation.operands.iter().filter(|value| matches!(body.ty(**value), TileType::Tensor(_)));
            operation.definition.traits.pure
                && operation.regions.is_empty()
                && operation.name() != ttg::CONVERT_LAYOUT
                && tensors.into_iter().all(|value| is_free(body, *value))
        }
    }
}
