//! A program whose tensors all have layouts: the input of `work` and `derived`.

use std::collections::HashMap;
use tilewright_tile::op::name::ttg;

use super::SynthesisError;
use crate::LaunchConfig;
use crate::layouts::LayoutCache;
use tilewright_layout::LinearLayout;
use tilewright_plan::mma::MmaPlan;
use tilewright_tile::axis_info::AxisInfoMap;
use tilewright_tile::{FunctionBody, Op, TileType, Value, ValueOrigin};

/// A program whose tensors all have layouts.
#[derive(Clone, Copy)]
pub(super) struct Solved<'s, 'm> {
    pub body: &'s FunctionBody,
    pub axis_info: &'s AxisInfoMap,
    pub config: &'s LaunchConfig<'m>,
    pub layouts: &'s LayoutCache<'s>,
    /// The plan of each dot.
    pub plans: &'s HashMap<Op, MmaPlan>,
}

impl Solved<'_, '_> {
    pub(super) fn is_tensor(&self, value: Value) -> bool {
        matches!(self.body.value_type(value), TileType::Tensor(_))
    }

    /// Returns the distributed layout of a tensor in registers.
    pub(super) fn layout(&self, value: Value) -> Result<LinearLayout, SynthesisError> {
        Ok(self.layouts.resolve_distributed(self.body.value_type(value))?)
    }
}

/// Whether a value follows from ranges and constants alone, so that it is rematerialized (computed again) at its uses.
pub(super) fn is_free(body: &FunctionBody, value: Value) -> bool {
    match body.value_origin(value) {
        ValueOrigin::Argument(..) => false,
        ValueOrigin::Result(op, _) => {
            let operation = body.op(op);
            let tensors =
                operation.operands.iter().filter(|value| matches!(body.value_type(**value), TileType::Tensor(_)));
            operation.definition.traits.pure
                && operation.regions.is_empty()
                && operation.name() != ttg::CONVERT_LAYOUT
                && tensors.into_iter().all(|value| is_free(body, *value))
        }
    }
}
