//! Bulk tensor copies (TMA) between global and shared memory, issued once by a warp. A copy to shared memory fills
//! bytes outside of the tensor as its map states, and completes on an mbarrier by all bytes of the box. A copy from
//! shared memory drops bytes outside of the tensor, and completes on a queue.

use super::super::fault::LaneFault;
use super::super::semantics::InstructionCall;
use tilewright_kernel::OutOfBoundsFill;
use tilewright_target::{
    Completion, ElementType, Instruction, InstructionOperand, MemoryReduction, Semantics, TensorCopyLayout,
    TensorCopyOperand,
};

/// The semantics of a bulk tensor copy instruction, which copies a box of a tensor between global and shared memory.
/// The numbers are indices of its operands.
pub(super) struct BulkTensorCopy {
    tensor: usize,
    coordinates: Vec<usize>,
    memory: usize,
    /// Index of the mbarrier operand; `None` for a copy from shared memory.
    mbarrier: Option<usize>,
    operand: TensorCopyOperand,
    /// The operation that combines elements with those in global memory; `None` for a copy.
    reduction: Option<MemoryReduction>,
}

impl BulkTensorCopy {
    /// Derives the semantics of a bulk tensor copy from a table row; `None` if the row has no operand for a box of
    /// shared memory.
    pub(super) fn of(row: &Instruction) -> Option<Result<Self, String>> {
        let (memory, operand) = row.operands.iter().enumerate().find_map(|(index, operand)| match operand {
            InstructionOperand::Box(operand) => Some((index, operand)),
            _ => None,
        })?;
        Some(Self::with(row, memory, operand))
    }

    fn with(row: &Instruction, memory: usize, operand: &TensorCopyOperand) -> Result<Self, String> {
        let at = |required: &InstructionOperand| row.operands.iter().position(|operand| operand == required);
        let tensor = at(&InstructionOperand::TensorMap).ok_or("its description has no tensor")?;
        let numbers = row.operands.iter().enumerate();
        let coordinates: Vec<_> = numbers
            .filter(|(_, operand)| **operand == InstructionOperand::Coordinate)
            .map(|(index, _)| index)
            .collect();
        if coordinates.len() != operand.rank as usize {
            return Err(format!("its description has {} coordinates of {} axes", coordinates.len(), operand.rank));
        }
        let mbarrier = at(&InstructionOperand::Mbarrier);
        match (row.completion, mbarrier, memory < tensor) {
            (Completion::Mbarrier, Some(_), true) | (Completion::Queue(_), None, false) => {}
            _ => return Err("its description has neither an mbarrier nor a queue".to_owned()),
        }
        let reduction = match row.semantics {
            Semantics::Reduce(_) if mbarrier.is_some() => return Err("it reduces to shared memory".to_owned()),
            Semantics::Reduce(reduction) => Some(reduction),
            _ => None,
        };
        Ok(Self { tensor, coordinates, memory, mbarrier, operand: operand.clone(), reduction })
    }

    pub(super) fn execute(&self, call: &mut InstructionCall<'_>) -> Result<(), LaneFault> {
        let tensor = call.tensor(self.tensor)?;
        let fits = tensor.map.check_for_operand(&self.operand).map_err(|error| error.to_string());
        let aligned = || tensor.check_alignment(self.operand.global_alignment.into());
        fits.and_then(|()| aligned()).map_err(|message| call.invalid_use_fault(&message))?;
        let missing = || call.invalid_use_fault("no layout of its boxes has this mode");
        let box_layout = self.operand.find_layout(tensor.map.swizzle).ok_or_else(missing)?;
        let mut origin = Vec::with_capacity(self.coordinates.len());
        for &coordinate in &self.coordinates {
            origin.push(i64::from(call.uniform_operand(coordinate)? as u32 as i32));
        }
        let start = call.uniform_operand(self.memory)?;
        match self.mbarrier {
            Some(mbarrier) => self.bring(call, (start, box_layout), &origin, mbarrier),
            None => self.put_back(call, (start, box_layout), &origin),
        }
    }

    fn bring(
        &self,
        call: &mut InstructionCall<'_>,
        (start, box_layout): (u64, &TensorCopyLayout),
        origin: &[i64],
        mbarrier: usize,
    ) -> Result<(), LaneFault> {
        let tensor = call.tensor(self.tensor)?;
        let outside = match tensor.map.outside {
            OutOfBoundsFill::Zeros => 0,
            OutOfBoundsFill::NotANumber => 0xff,
        };
        let mut content = vec![outside; tensor.map.box_bytes() as usize];
        call.load_runs(&tensor.runs(origin), tensor.map.element_bits / 8, &mut content)?;
        let mut placed = vec![0; content.len()];
        for (at, byte) in (0..).zip(content) {
            *swizzled_byte(&mut placed, (start, box_layout), at).ok_or_else(|| call.invalid_use_fault(PARTED))? = byte;
        }
        let mbarrier = call.uniform_operand(mbarrier)?;
        call.set_completion_mbarrier(mbarrier);
        call.write_shared_asynchronously(0, start, &placed, box_layout.alignment)?;
        call.count_bulk_copy(placed.len());
        Ok(())
    }

    fn put_back(
        &self,
        call: &mut InstructionCall<'_>,
        (start, box_layout): (u64, &TensorCopyLayout),
        origin: &[i64],
    ) -> Result<(), LaneFault> {
        let tensor = call.tensor(self.tensor)?;
        let bytes = tensor.map.box_bytes();
        let mut placed = call.read_shared_asynchronously(start, bytes as u32, box_layout.alignment)?;
        let mut content = Vec::with_capacity(placed.len());
        for at in 0..bytes {
            content.push(
                *swizzled_byte(&mut placed, (start, box_layout), at).ok_or_else(|| call.invalid_use_fault(PARTED))?,
            );
        }
        let combined = self.combined(call)?;
        call.send_runs(&tensor.runs(origin), tensor.map.element_bits / 8, &content, combined)?;
        call.count_bulk_copy(content.len());
        Ok(())
    }

    /// Returns the operation and the element type of a bulk reduction; `None` for a copy.
    fn combined(&self, call: &InstructionCall<'_>) -> Result<Option<(MemoryReduction, ElementType)>, LaneFault> {
        let Some(reduction) = self.reduction else { return Ok(None) };
        let element = call.tensor(self.tensor)?.map.element.as_deref().and_then(ElementType::from_name);
        let missing = || call.invalid_use_fault("the tensor map has no element type");
        Ok(Some((reduction, element.ok_or_else(missing)?)))
    }
}

/// Returns the byte of `placed`, the bytes of a box in shared memory from address `start` on, that holds the byte at
/// offset `at` of the box before the XOR swizzle; `None` if the swizzle moves it out of the box. The XOR swizzle
/// permutes bytes only between multiples of the alignment.
fn swizzled_byte<'a>(
    placed: &'a mut [u8],
    (start, box_layout): (u64, &TensorCopyLayout),
    at: u64,
) -> Option<&'a mut u8> {
    let offset = box_layout.swizzle.apply(start.wrapping_add(at)).checked_sub(start)?;
    placed.get_mut(usize::try_from(offset).ok()?)
}

const PARTED: &str = "the XOR swizzle moves bytes out of the box: it must start at a multiple of the alignment";
