//! Allotting columns, and giving them back.

use super::allocation::TensorMemoryBlock;
use super::columns::{TensorMemory, Word, wrong};
use crate::fault::FaultKind;
use crate::shared::Accessor;
use tilewright_target::Direction;

impl TensorMemory {
    /// Allots columns; gives their address. They are the last ones that are free, so that nobody gets by with the
    /// address zero.
    pub(crate) fn allocate(&mut self, columns: u32, who: &Accessor<'_>) -> Result<u32, FaultKind> {
        let size = self.size()?;
        let (all, least, words) = (size.columns, size.least_columns, (size.rows * size.columns) as usize);
        if columns < least || columns > all || !columns.is_power_of_two() {
            return Err(wrong(format!(
                "{columns} columns are asked for; expected a power of two from {least} to {all}"
            )));
        }
        let is_free = |first: &u32| (*first..first + columns).all(|column| !self.is_allocated(column));
        let starts = (0..=(all - columns) / least).rev().map(|number| number * least);
        let Some(first) = starts.into_iter().find(is_free) else {
            let free = (0..all).filter(|&column| !self.is_allocated(column)).count();
            let message = format!("{columns} columns are asked for; {free} are free, in no such piece");
            return Err(wrong(message));
        };
        self.words.resize(words, Word::default());
        self.allotments.push(TensorMemoryBlock { first, columns, warp: who.warp, operation: who.operation });
        Ok(first)
    }

    fn is_allocated(&self, column: u32) -> bool {
        self.allotments.iter().any(|allocation| allocation.holds(column))
    }

    /// Gives columns back, as they were allotted. All accesses must come before.
    pub(crate) fn free(&mut self, address: u32, columns: u32, who: &Accessor<'_>) -> Result<(), FaultKind> {
        let is_it = |allocation: &TensorMemoryBlock| allocation.first == address && allocation.columns == columns;
        let Some(at) = self.allotments.iter().position(is_it) else {
            let message =
                format!("{columns} columns at address {address:#x} are given back, which were not allotted so");
            return Err(wrong(message));
        };
        let size = self.size()?;
        let (rows, all) = (size.rows, size.columns);
        for word in (0..rows).flat_map(|row| (address..address + columns).map(move |column| row * all + column)) {
            self.follows(Direction::Store, None, word, who)?;
            self.words[word as usize] = Word::default();
        }
        self.allotments.remove(at);
        Ok(())
    }

    /// The warp that still has columns, the operation that allotted them, and how many.
    pub(crate) fn left(&self) -> Option<(u32, u32, u32)> {
        self.allotments.first().map(|one| (u32::from(one.warp), one.operation, one.columns))
    }
}
