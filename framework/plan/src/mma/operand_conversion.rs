//! Operands that another MMA produced: the layout conversion from its result layout to this MMA's operand layout.

use crate::movement::{ConversionPlan, MovementError, PlanContext, plan_conversion};
use tilewright_layout::{Dim, LinearLayout};

use super::plan::MmaPlan;

impl MmaPlan {
    /// Plans the conversion of operand A (`side` 0) or B (1) from the result layout of the MMA that produced it. `None`
    /// if the operand comes from memory, or if the atom reads it from shared memory.
    fn operand_conversion(
        &self,
        side: usize,
        context: PlanContext<'_>,
    ) -> Result<Option<ConversionPlan>, MovementError> {
        let (layout, operands) = [(&self.a, &self.atom.a), (&self.b, &self.atom.b)][side];
        let Some(produced) = self.problem.operand_layouts[side].as_ref().filter(|_| operands.memory.is_none()) else {
            return Ok(None);
        };
        let chunks = LinearLayout::identity(self.chunks(), Dim::REGISTER, Dim::tensor(1 - side))?;
        let all_chunks = layout.direct_sum(&chunks)?.transpose_outs(&[Dim::tensor(0), Dim::tensor(1)])?;
        let bits = [self.problem.a, self.problem.b][side].stored_bits().max(8);
        plan_conversion(produced, &all_chunks, bits, context.with_issue_price()).map(Some)
    }

    /// Returns the same plan with the cycles of its operand conversions added to the cost.
    pub(super) fn with_conversion_cycles(mut self, context: PlanContext<'_>) -> Result<Self, MovementError> {
        self.cost.operand_load_cycles = 0.0;
        for side in 0..2 {
            self.cost.operand_load_cycles +=
                self.operand_conversion(side, context)?.map_or(0.0, |conversion| conversion.stats.cost);
        }
        Ok(self)
    }

    /// Cycles for each warp that bring both operands to their layouts: a load from memory, or a conversion from another
    /// MMA.
    pub(super) fn operand_load_price(&self, context: PlanContext<'_>) -> Result<f64, MovementError> {
        Ok(self.operand_load_price_of(0, context)? + self.operand_load_price_of(1, context)?)
    }

    /// Cycles for each warp of the load or conversion of operand A (`side` 0) or B (1), without latency.
    pub(super) fn operand_load_price_of(&self, side: usize, context: PlanContext<'_>) -> Result<f64, MovementError> {
        Ok(match self.operand_conversion(side, context)? {
            Some(conversion) => conversion.work().time(self.problem.warps.into(), context.target).throughput(),
            None => self.plan_operand_load(side, context)?.cycles(context.target),
        })
    }
}
