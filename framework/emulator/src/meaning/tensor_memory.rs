//! How an instruction accesses tensor memory.

use super::Call;
use crate::fault::{FaultKind, LaneFault};
use crate::shared::Landing;
use crate::tensor_memory::Part;
use tilewright_kernel::Queue;
use tilewright_target::Direction;

/// Bits of a column, of which a word of tensor memory is one.
const COLUMN: u32 = 32;

impl Call<'_> {
    /// The bits of an operand that must be the same in all lanes.
    pub(crate) fn same_in_all(&self, operand: usize) -> Result<u64, LaneFault> {
        let first = self.operand(operand, 0, 0)?;
        for lane in 1..self.lanes() {
            if self.operand(operand, 0, lane)? != first {
                return Err(self.wrong(&format!("operand {operand}: lanes 0 and {lane} have different words")));
            }
        }
        Ok(first)
    }

    /// Where places of `bits` bits, as (row, place along the row) from the address that an operand gives, lie.
    pub(crate) fn parts(
        &self,
        operand: usize,
        places: impl Iterator<Item = [u64; 2]>,
        bits: u32,
    ) -> Result<Vec<Part>, LaneFault> {
        let address = self.same_in_all(operand)?;
        let (first_row, first_column) = (address >> 16, address & 0xffff);
        let part = |[row, place]: [u64; 2]| -> Result<Part, LaneFault> {
            let at = place * u64::from(bits);
            let word = self.memories.tensor.word(first_row + row, first_column + at / u64::from(COLUMN))?;
            Ok(Part { word, shift: (at % u64::from(COLUMN)) as u32, bits })
        };
        places.map(part).collect()
    }

    /// Whether all parts are in rows that the warp reaches.
    pub(crate) fn reaches(&self, parts: &[Part]) -> Result<(), LaneFault> {
        let size = self.memories.tensor.size()?;
        let (own, groups) = (size.warp_rows.max(1), (size.rows / size.warp_rows.max(1)).max(1));
        let first = self.warp() % groups * own;
        let row = |part: &Part| part.word / size.columns.max(1);
        match parts.iter().map(row).find(|row| !(first..first + own).contains(row)) {
            None => Ok(()),
            Some(row) => {
                let message = format!("warp {} accesses row {row}; it reaches {own} from {first} on", self.warp());
                Err(FaultKind::TensorMemory { message }.into())
            }
        }
    }

    /// Sends off an access of parts, which nobody else may touch until it has landed.
    pub(crate) fn send_tensor(&mut self, direction: Direction, parts: &[Part]) -> Result<(), LaneFault> {
        let queue: Queue = self.on_queue()?;
        let mut words: Vec<u32> = parts.iter().map(|part| part.word).collect();
        words.sort_unstable();
        words.dedup();
        let flight = self.memories.tensor.send(direction, queue, words, &self.accessor)?;
        self.landings.push(Landing::Tensor { flight });
        Ok(())
    }

    /// What lies in the parts.
    pub(crate) fn read_tensor(&self, parts: &[Part]) -> Result<Vec<u64>, LaneFault> {
        Ok(parts.iter().map(|&part| self.memories.tensor.read(part)).collect::<Result<_, _>>()?)
    }

    /// Puts something into a part.
    pub(crate) fn write_tensor(&mut self, part: Part, bits: u64) {
        self.memories.tensor.write(part, bits);
    }
}
