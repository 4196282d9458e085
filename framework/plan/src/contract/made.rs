//! Factors that another product has made: their ways from the registers that have them to those of which the unit takes them.

use crate::movement::{MovementError, Plan, PlanContext, convert, slots_with_accesses};
use tilewright_layout::{Dim, LinearLayout};

use super::operand_load::ACCESS_SLOTS;
use super::plan::Contraction;

impl Contraction {
    /// The way of factor 0 or 1 from where another product has made it; none where it comes from memory, or the unit
    /// reads it there.
    fn way_of(&self, side: usize, context: PlanContext<'_>) -> Result<Option<Plan>, MovementError> {
        let (layout, operands) = [(&self.a, &self.unit.a), (&self.b, &self.unit.b)][side];
        let Some(made) = self.problem.made[side].as_ref().filter(|_| operands.memory.is_none()) else {
            return Ok(None);
        };
        let chunks = LinearLayout::identity(self.chunks(), Dim::REGISTER, Dim::tensor(1 - side))?;
        let whole = layout.direct_sum(&chunks)?.transpose_outs(&[Dim::tensor(0), Dim::tensor(1)])?;
        let bits = [self.problem.a, self.problem.b][side].stored_bits().max(8);
        convert(made, &whole, bits, context.with_access_slots(ACCESS_SLOTS)).map(Some)
    }

    /// The same plan, with what these ways cost.
    pub(super) fn with_ways(mut self, context: PlanContext<'_>) -> Result<Self, MovementError> {
        self.cost.operand_load_cycles = 0.0;
        for side in 0..2 {
            self.cost.operand_load_cycles += self.way_of(side, context)?.map_or(0.0, |way| way.stats.cost);
        }
        Ok(self)
    }

    /// Wavefront slots in which both factors reach their layouts, from memory or from another product.
    pub(super) fn operand_load_slots(&self, context: PlanContext<'_>) -> Result<f64, MovementError> {
        Ok(self.operand_load_slots_of(0, context)? + self.operand_load_slots_of(1, context)?)
    }

    /// Those of factor 0 or 1.
    pub(super) fn operand_load_slots_of(&self, side: usize, context: PlanContext<'_>) -> Result<f64, MovementError> {
        Ok(match self.way_of(side, context)? {
            Some(way) => slots_with_accesses(&way.stats.counts, ACCESS_SLOTS),
            None => self.feed_of(side, context)?.slots(),
        })
    }
}
