//! Allocation and deallocation of tensor memory.

use super::allocation::TensorMemoryBlock;
use super::columns::{TensorMemory, Word, wrong};
use crate::fault::FaultKind;
use crate::shared::Accessor;
use tilewright_target::Direction;

impl TensorMemory {
    /// Allocates columns and returns the address of the first. It takes the highest free columns, so that a kernel that
    /// assumes address zero fails.
    pub(crate) fn allocate(&mut self, columns: u32, who: &Accessor<'_>) -> Result<u32, FaultKind> {
        let size = self.size()?;
        let (all, min_columns, words) = (size.columns, size.least_columns, (size.rows * size.columns) as usize);
        if columns < min_columns || columns > all || !columns.is_power_of_two() {
            return Err(wrong(format!(
                "{columns} columns are requested; expected a power of two from {min_columns} to {all}"
            )));
        }
        let is_free = |first: &u32| (*first..first + columns).all(|column| !self.is_allocated(column));
        let starts = (0..=(all - columns) / min_columns).rev().map(|index| index * min_columns);
        let Some(first) = starts.into_iter().find(is_free) else {
            let free = (0..all).filter(|&column| !self.is_allocated(column)).count();
            let message = format!("{columns} columns are requested; {free} are free, but not contiguously");
            return Err(wrong(message));
        };
        self.words.resize(words, Word::default());
        self.allocations.push(TensorMemoryBlock { first, columns, warp: who.warp, operation: who.operation });
        Ok(first)
    }

    fn is_allocated(&self, column: u32) -> bool {
        self.allocations.iter().any(|allocation| allocation.holds(column))
    }

    /// Frees columns, which must be exactly those of one allocation. All accesses of these columns must be ordered
    /// before this operation.
    pub(crate) fn free(&mut self, address: u32, columns: u32, who: &Accessor<'_>) -> Result<(), FaultKind> {
        let is_it = |allocation: &TensorMemoryBlock| allocation.first == address && allocation.columns == columns;
        let Some(at) = self.allocations.iter().position(is_it) else {
            let message =
                format!("{columns} columns at address {address:#x} are freed, but were not allocated together");
            return Err(wrong(message));
        };
        let size = self.size()?;
        let (rows, all) = (size.rows, size.columns);
        for word in (0..rows).flat_map(|row| (address..address + columns).map(move |column| row * all + column)) {
            self.follows(Direction::Store, None, word, who)?;
            self.words[word as usize] = Word::default();
        }
        self.allocations.remove(at);
        Ok(())
    }

    /// Returns an allocation that is still live: the warp and the operation that made it, and its number of columns;
    /// `None` if there is none.
    pub(crate) fn find_live_allocation(&self) -> Option<(u32, u32, u32)> {
        self.allocations.first().map(|one| (u32::from(one.warp), one.operation, one.columns))
    }
}
