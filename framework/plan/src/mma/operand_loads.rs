//! The loads of a plan's operands and scales from global memory.

use crate::movement::{MovementError, PlanContext};
use tilewright_layout::LinearLayout;
use tilewright_target::{ElementType, TargetDescription};

use super::elements::{ElementConversion, in_byte};
use super::operand_load::{GlobalMatrixChunk, OperandLoad, stored_bytes, stored_from};
use super::plan::MmaPlan;
use super::scale;

/// The type of a byte of memory, for elements that are moved packed in bytes.
const BYTE: ElementType = ElementType::Integer { bits: 8, signed: false };

impl MmaPlan {
    /// Plans the loads of both operands from global memory, one chunk (part of K) at a time. Elements narrower than a
    /// byte are loaded as bytes.
    ///
    /// # Errors
    /// [`MovementError`] if the loads, conversion or stores of an operand have no plan on this target.
    pub fn plan_operand_loads(&self, context: PlanContext<'_>) -> Result<[OperandLoad; 2], MovementError> {
        let context = self.share(context);
        Ok([self.operand_load(0, context)?, self.operand_load(1, context)?])
    }

    /// Plans the load of operand A (`side` 0) or B (1) from global memory, with its share of the context's scratch
    /// memory.
    pub(super) fn plan_operand_load(
        &self,
        side: usize,
        context: PlanContext<'_>,
    ) -> Result<OperandLoad, MovementError> {
        self.operand_load(side, self.share(context))
    }

    /// Plans the loads of scales, one chunk (part of K) at a time; `None` for an operand without scales. Scales are
    /// rows x blocks of K, row-major in global memory.
    ///
    /// # Errors
    /// [`MovementError`] if the loads or the conversion of the scales have no plan on this target.
    pub fn plan_scale_loads(&self, context: PlanContext<'_>) -> Result<[Option<OperandLoad>; 2], MovementError> {
        let context = self.share(context);
        let of = |side: usize| -> Result<Option<OperandLoad>, MovementError> {
            let (Some(layout), Some(scale)) = (&self.scales[side], self.problem.scales[side]) else {
                return Ok(None);
            };
            let blocks = (self.chunk_elements() / scale.block).max(1);
            let stride = (self.problem.shape[2] / scale.block).max(1);
            let matrix = GlobalMatrixChunk {
                shape: [self.problem.shape[side], blocks],
                strides: [stride, 1],
                divisibility: blocks,
                full_shape: [self.problem.shape[side], stride],
            };
            OperandLoad::new(layout, matrix, scale.element_type.bits(), context).map(Some)
        };
        Ok([of(0)?, of(1)?])
    }

    /// Returns the conversion of the elements of operand A (`side` 0) or B (1) from their type in memory to the atom's.
    pub(super) fn element_conversion(&self, side: usize) -> ElementConversion {
        let operands = [&self.atom.a, &self.atom.b][side];
        let native = self.native_casts;
        if operands.in_byte() > 0 {
            // The atom reads packed bytes as they are in memory, so nothing is converted.
            return ElementConversion { from: BYTE, to: BYTE, scale: None, k_axis: 1 - side, native };
        }
        let to = operands.element_type;
        let scale = self.problem.scales[side].filter(|_| self.atom.scales.is_none());
        ElementConversion { from: self.problem.operand_types()[side], to, scale, k_axis: 1 - side, native }
    }

    /// Returns the register layout from which operand A (`side` 0) or B (1) is stored to shared memory: of the atom's
    /// elements, or of their bytes if the atom reads several elements of a byte.
    pub(super) fn stored_from(&self, side: usize, target: &TargetDescription) -> Result<LinearLayout, MovementError> {
        let in_bytes = [&self.atom.a, &self.atom.b][side].in_byte() > 0;
        let stored = if in_bytes { stored_bytes } else { stored_from };
        stored(&self.problem, self.tiling.chunk, side, target)
    }

    /// Divides the scratch memory of the context evenly among the loads of the plan.
    fn share<'a>(&self, context: PlanContext<'a>) -> PlanContext<'a> {
        let buffer_count = 2 + self.scales.iter().flatten().count() as u64;
        context.with_scratch_bytes(context.scratch_bytes / buffer_count.next_power_of_two())
    }

    /// Plans the load of operand A (`side` 0) or B (1) from global memory; elements narrower than a byte are loaded as
    /// bytes.
    fn operand_load(&self, side: usize, context: PlanContext<'_>) -> Result<OperandLoad, MovementError> {
        let (layout, operands) = [(&self.a, &self.atom.a), (&self.b, &self.atom.b)][side];
        let chunk = self.tiling.chunk;
        let matrix = GlobalMatrixChunk::of_operand(&self.problem, chunk, side);
        let element_type = self.problem.operand_types()[side];
        if let Some(memory) = &operands.memory {
            let elements = self.stored_from(side, context.target)?;
            return OperandLoad::stored((layout, memory), matrix, (elements, self.element_conversion(side)), context);
        }
        let layout = scale::grouped(layout, 1 - side, in_byte(element_type))?;
        OperandLoad::new(&layout, matrix, element_type.stored_bits().max(8), context)
    }
}
