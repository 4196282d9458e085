//! The ways of both factors of a plan, and of their scales, from global memory.

use crate::movement::{MovementError, PlanContext};
use tilewright_layout::LinearLayout;
use tilewright_target::{ElementType, TargetDescription};

use super::elements::{Making, in_byte};
use super::operand_load::{Matrix, OperandLoad, stored_bytes, stored_from};
use super::plan::Contraction;
use super::scale;

/// A byte of memory, whatever it holds.
const BYTE: ElementType = ElementType::Integer { bits: 8, signed: false };

impl Contraction {
    /// How both factors reach their layouts a chunk at a time from global memory, where they lie as
    /// [`super::MmaProblem::a`] and [`super::MmaProblem::b`] say; of elements narrower than a byte, how their bytes do.
    ///
    /// # Errors
    /// [`MovementError`].
    pub fn operand_loads(&self, context: PlanContext<'_>) -> Result<[OperandLoad; 2], MovementError> {
        let context = self.share(context);
        Ok([self.operand_load(0, context)?, self.operand_load(1, context)?])
    }

    /// How factor 0 or 1 does.
    pub(super) fn feed_of(&self, side: usize, context: PlanContext<'_>) -> Result<OperandLoad, MovementError> {
        self.operand_load(side, self.share(context))
    }

    /// How scales, rows x blocks of K and row-major in global memory, reach their layouts a chunk at a time.
    ///
    /// # Errors
    /// [`MovementError`].
    pub fn scale_loads(&self, context: PlanContext<'_>) -> Result<[Option<OperandLoad>; 2], MovementError> {
        let context = self.share(context);
        let of = |side: usize| -> Result<Option<OperandLoad>, MovementError> {
            let (Some(layout), Some(scale)) = (&self.scales[side], self.problem.scales[side]) else {
                return Ok(None);
            };
            let blocks = (self.chunk() / scale.block).max(1);
            let stride = (self.problem.shape[2] / scale.block).max(1);
            let matrix = Matrix {
                shape: [self.problem.shape[side], blocks],
                strides: [stride, 1],
                grain: blocks,
                whole: [self.problem.shape[side], stride],
            };
            OperandLoad::new(layout, matrix, scale.number.bits(), context).map(Some)
        };
        Ok([of(0)?, of(1)?])
    }

    /// How elements of a factor become those of the unit.
    pub(super) fn making(&self, side: usize) -> Making {
        let operands = [&self.unit.a, &self.unit.b][side];
        if operands.in_byte() > 0 {
            // Bytes as they lie in memory.
            return Making { from: BYTE, to: BYTE, scale: None, k_axis: 1 - side };
        }
        let to = operands.number;
        let scale = self.problem.scales[side].filter(|_| self.unit.scales.is_none());
        Making { from: self.problem.factors()[side], to, scale, k_axis: 1 - side }
    }

    /// The elements of the registers from which a factor is stored to shared memory: the unit's, or the bytes that hold them.
    pub(super) fn stored_from(&self, side: usize, target: &TargetDescription) -> Result<LinearLayout, MovementError> {
        let in_bytes = [&self.unit.a, &self.unit.b][side].in_byte() > 0;
        let stored = if in_bytes { stored_bytes } else { stored_from };
        stored(&self.problem, self.tiling.chunk, side, target)
    }

    /// Each way has its part of the scratch memory.
    fn share<'a>(&self, context: PlanContext<'a>) -> PlanContext<'a> {
        let parts = 2 + self.scales.iter().flatten().count() as u64;
        context.with_scratch(context.scratch_bytes / parts.next_power_of_two())
    }

    /// The way of a factor; of elements narrower than a byte that of their bytes.
    fn operand_load(&self, side: usize, context: PlanContext<'_>) -> Result<OperandLoad, MovementError> {
        let (layout, operands) = [(&self.a, &self.unit.a), (&self.b, &self.unit.b)][side];
        let chunk = self.tiling.chunk;
        let matrix = Matrix::of_factor(&self.problem, chunk, side);
        let number = self.problem.factors()[side];
        if let Some(memory) = &operands.memory {
            let elements = self.stored_from(side, context.target)?;
            return OperandLoad::stored((layout, memory), matrix, (elements, self.making(side)), context);
        }
        let layout = scale::grouped(layout, 1 - side, in_byte(number))?;
        OperandLoad::new(&layout, matrix, number.stored_bits().max(8), context)
    }
}
