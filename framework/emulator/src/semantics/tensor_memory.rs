//! Accesses of tensor memory by vendor instructions.

use super::InstructionCall;
use crate::fault::{FaultKind, LaneFault};
use crate::shared::CompletionEffect;
use crate::tensor_memory::BitField;
use tilewright_kernel::Queue;
use tilewright_target::Direction;

/// Width in bits of a column of tensor memory, equal to one word.
const COLUMN: u32 = 32;

impl InstructionCall<'_> {
    /// Locates elements of `bits` bits in the words of tensor memory. `positions` has (row, index along the row) of
    /// each element, relative to the address in the operand `operand`.
    pub(crate) fn bit_fields(
        &self,
        operand: usize,
        positions: impl Iterator<Item = [u64; 2]>,
        bits: u32,
    ) -> Result<Vec<BitField>, LaneFault> {
        let address = self.uniform_operand(operand)?;
        let (first_row, first_column) = (address >> 16, address & 0xffff);
        let bit_field = |[row, column]: [u64; 2]| -> Result<BitField, LaneFault> {
            let at = column * u64::from(bits);
            let word = self.memories.tensor.word(first_row + row, first_column + at / u64::from(COLUMN))?;
            Ok(BitField { word, shift: (at % u64::from(COLUMN)) as u32, bits })
        };
        positions.map(bit_field).collect()
    }

    /// Checks that all bit fields are in rows of tensor memory that the warp can access.
    pub(crate) fn check_tensor_rows(&self, bit_fields: &[BitField]) -> Result<(), LaneFault> {
        let size = self.memories.tensor.size()?;
        let (rows_per_warp, groups) = (size.warp_rows.max(1), (size.rows / size.warp_rows.max(1)).max(1));
        let first = self.warp() % groups * rows_per_warp;
        let row = |bit_field: &BitField| bit_field.word / size.columns.max(1);
        match bit_fields.iter().map(row).find(|row| !(first..first + rows_per_warp).contains(row)) {
            None => Ok(()),
            Some(row) => {
                let message =
                    format!("warp {} accesses row {row}; it can access {rows_per_warp} rows from {first}", self.warp());
                Err(FaultKind::TensorMemory { message }.into())
            }
        }
    }

    /// Starts an asynchronous access of the words with these bit fields, which nothing else may access until it
    /// completes.
    pub(crate) fn send_tensor(&mut self, direction: Direction, bit_fields: &[BitField]) -> Result<(), LaneFault> {
        let queue: Queue = self.on_queue()?;
        let mut words: Vec<u32> = bit_fields.iter().map(|bit_field| bit_field.word).collect();
        words.sort_unstable();
        words.dedup();
        let access_id = self.memories.tensor.start_access(direction, queue, words, &self.accessor)?;
        self.landings.push(CompletionEffect::Tensor { access_id });
        Ok(())
    }

    /// Returns the bits of each of the bit fields, in their order.
    pub(crate) fn read_tensor(&self, bit_fields: &[BitField]) -> Result<Vec<u64>, LaneFault> {
        Ok(bit_fields.iter().map(|&bit_field| self.memories.tensor.read(bit_field)).collect::<Result<_, _>>()?)
    }

    /// Writes the bits of a bit field; the other bits of its word stay.
    pub(crate) fn write_tensor(&mut self, bit_field: BitField, bits: u64) {
        self.memories.tensor.write(bit_field, bits);
    }
}
