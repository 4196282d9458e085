//! The work of operations that access global memory, reduce, scan, convert layouts, or are elementwise, from their plans
//! and the costs of layout assignment.

use super::super::SynthesisError;
use super::super::model::StepWork;
use super::WorkCounter;
use crate::graph::{Access, Kind};
use crate::memory::{describe_descriptor_global_tensor, element_bits_while_moved};
use crate::op_costs::OpCosts;
use tilewright_layout::{Dim, LinearLayout};
use tilewright_plan::movement::{plan_conversion, plan_global_access};
use tilewright_target::Direction;
use tilewright_tile::op::name::{tt, ttg};
use tilewright_tile::{Op, TileType, Value};

impl WorkCounter<'_, '_> {
    /// Returns the work of an operation that accesses global memory, reduces or scans, or is elementwise, from its
    /// plan.
    pub(super) fn op_costs(&self, op: Op, direction: Direction) -> Result<StepWork, SynthesisError> {
        let operation = self.program.body.op(op);
        let first = operation.operands.iter().chain(&operation.results).find(|value| self.program.is_tensor(**value));
        let Some(&first) = first else { return Ok(StepWork::default()) };
        let Some(kind) = self.cost_kind(op, first, direction) else { return Ok(StepWork::default()) };
        let (layout, config) = (self.program.layout(first)?, self.program.config);
        let op_costs = OpCosts::of(&kind, &layout, config)?;
        let moves = StepWork::from_counts(&op_costs.counts, config.context.target);
        let arithmetic = moves.arithmetic + op_costs.plain.ceil() as u64;
        let (global_bytes, global_lines) = match &kind {
            Kind::Access(access) => self.global_traffic(access, &layout, op_costs.bytes)?,
            _ => (op_costs.bytes, 0),
        };
        let address_cycles = (op_costs.global.address_cycles * f64::from(config.warps)).round() as u64;
        let global_accesses = op_costs.accesses;
        Ok(StepWork { global_accesses, address_cycles, global_bytes, global_lines, arithmetic, ..moves })
    }

    /// Returns the kind of an operation by which its costs are known; `None` if it has none. `first` is its first tensor.
    fn cost_kind(&self, op: Op, first: Value, direction: Direction) -> Option<Kind> {
        let (program, target) = ((self.program.body, self.program.axis_info), self.program.config.context.target);
        let (operation, ty) = (self.program.body.op(op), |value| self.program.body.value_type(value));
        Some(match operation.name() {
            tt::REDUCE | tt::SCAN => Kind::along_an_axis(self.program.body, op),
            tt::LOAD | tt::ATOMIC_LOAD | ttg::ASYNC_COPY_GLOBAL_TO_LOCAL => {
                Kind::of_access(program, target, op, Direction::Load)
            }
            tt::DESCRIPTOR_LOAD
            | tt::DESCRIPTOR_GATHER
            | tt::DESCRIPTOR_STORE
            | tt::DESCRIPTOR_REDUCE
            | tt::DESCRIPTOR_SCATTER => {
                let named = describe_descriptor_global_tensor(ty(first), u64::MAX);
                named.map_or(Kind::Nothing, |named| Kind::Access(Access { named, direction, bulk_block: None }))
            }
            _ if direction == Direction::Store => Kind::of_access(program, target, op, direction),
            // Inline assembly counts as one instruction for each register.
            name if (operation.definition.traits.elementwise || name == tt::ELEMENTWISE_INLINE_ASM)
                && !is_memory_reference(ty(operation.results[0])) =>
            {
                Kind::elementwise(program, operation)
            }
            _ => return None,
        })
    }

    /// Returns the bytes and the lines of global memory that an access by threads of this layout moves; `stored_bytes` are
    /// those of a store.
    fn global_traffic(
        &self,
        access: &Access,
        layout: &LinearLayout,
        stored_bytes: u64,
    ) -> Result<(u64, u64), SynthesisError> {
        // The first-level cache has what several threads or accesses load, so its sectors are counted as those of one
        // access by all threads. Each access looks up its lines, but threads with the same elements once.
        let (named, target) = (&access.named, self.program.config.context.target);
        let stored = |layout| plan_global_access(layout, &named.tensor, named.bits, Direction::Store, target);
        let together = layout.flatten_ins().rename_in(Dim::REGISTER, Dim::LANE)?;
        let bytes = match access.direction {
            Direction::Load => stored(&together)?.transactions * u64::from(target.global.transaction_bytes),
            Direction::Store => stored_bytes,
        };
        Ok((bytes, stored(layout)?.lines))
    }

    pub(super) fn converted(&self, op: Op) -> Result<StepWork, SynthesisError> {
        let operation = self.program.body.op(op);
        let [from, to] = [operation.operands[0], operation.results[0]].map(|value| self.program.body.value_type(value));
        let layouts = [self.program.layouts.resolve_distributed(from)?, self.program.layouts.resolve_distributed(to)?];
        let plan =
            plan_conversion(&layouts[0], &layouts[1], element_bits_while_moved(from), self.program.config.context)?;
        Ok(StepWork::from_counts(&plan.stats.counts_with_packing(), self.program.config.context.target))
    }
}

/// Whether values of a type are addresses or masks, whose computation folds into immediates.
fn is_memory_reference(ty: &TileType) -> bool {
    matches!(ty.element(), TileType::Pointer(_)) || matches!(ty.element(), TileType::Integer(1, _))
}
