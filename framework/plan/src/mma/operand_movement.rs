//! Operands that another MMA produced: the movement from its result layout to this MMA's operand layout.

use crate::cost::WarpWork;
use crate::movement::{MovementError, PlanContext, PlanStats, plan_conversion, plan_shared_access};
use tilewright_kernel::Counts;
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_target::Direction;

use super::plan::MmaPlan;

impl MmaPlan {
    /// Plans the movement of operand A (`side` 0) or B (1) from the result layout of the MMA that produced it: a layout
    /// conversion, or stores to shared memory and a barrier if the atom reads the operand there. `None` if the operand
    /// comes from memory.
    fn operand_movement(&self, side: usize, context: PlanContext<'_>) -> Result<Option<PlanStats>, MovementError> {
        let (layout, operands) = [(&self.a, &self.atom.a), (&self.b, &self.atom.b)][side];
        let Some(produced) = &self.problem.operand_layouts[side] else { return Ok(None) };
        let place = if operands.memory.is_some() { Dim::OFFSET } else { Dim::REGISTER };
        let chunks = LinearLayout::identity(self.chunk_count(), place, Dim::tensor(1 - side))?;
        let all_chunks = layout.direct_sum(&chunks)?.transpose_outs(&[Dim::tensor(0), Dim::tensor(1)])?;
        let bits = [self.problem.a, self.problem.b][side].stored_bits().max(8);
        if operands.memory.is_none() {
            return Ok(Some(plan_conversion(produced, &all_chunks, bits, context)?.stats));
        }
        let memory = MemoryLayout::from_linear(all_chunks);
        let mut stored = plan_shared_access(produced, &memory, operands.bits, Direction::Store, context)?.stats;
        let (warps, counts) = (u64::from(self.problem.warps), Counts { barriers: 1, ..Counts::default() });
        let barrier = WarpWork::from_counts(counts, 0);
        stored.counts = stored.counts.add_counts(counts);
        stored.cost += barrier.predict_time(warps, context.target).total_cycles() * warps as f64;
        Ok(Some(stored))
    }

    /// Sets `operand_load_cycles` of the plan's cost: the cycles that move operands that another MMA left in registers;
    /// 0 if both operands come from memory.
    pub(super) fn with_conversion_cycles(mut self, context: PlanContext<'_>) -> Result<Self, MovementError> {
        self.cost.operand_load_cycles = 0.0;
        for side in 0..2 {
            self.cost.operand_load_cycles += self.operand_movement(side, context)?.map_or(0.0, |stats| stats.cost);
        }
        Ok(self)
    }

    /// Returns the cycles of a warp, without latency, that bring both operands to their layouts, from memory or from
    /// the result layout of another MMA.
    pub(super) fn operand_load_price(&self, context: PlanContext<'_>) -> Result<f64, MovementError> {
        Ok(self.operand_load_price_of(0, context)? + self.operand_load_price_of(1, context)?)
    }

    /// Returns the cycles of a warp, without latency, that bring operand A (`side` 0) or B (1) to its layout, from
    /// memory or from the result layout of another MMA.
    pub(super) fn operand_load_price_of(&self, side: usize, context: PlanContext<'_>) -> Result<f64, MovementError> {
        let warps = u64::from(self.problem.warps);
        Ok(match self.operand_movement(side, context)? {
            Some(stats) => {
                WarpWork::from_counts(stats.counts, 0).predict_time(warps, context.target).throughput_cycles()
            }
            None => self.plan_operand_load(side, context)?.warp_cycles(context.target),
        })
    }
}
