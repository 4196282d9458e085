//! Tensor memory of a block: its words, and race detection.

use super::allocation::TensorMemoryBlock;
use crate::fault::{EarlierConflictingAccess, FaultKind};
use crate::shared::{Accessor, Record, describe, describe_in_block};
use tilewright_kernel::Queue;
use tilewright_target::{self as target, Direction};

/// One 32-bit word of tensor memory, with the records of its accesses.
#[derive(Clone, Copy, Default)]
pub(super) struct Word {
    bits: u32,
    /// Mask of the bits of the word that have been written.
    written: u32,
    write: Record,
    read: Record,
    /// The warp whose MMA made the latest write; `None` if another operation made it. Later MMAs of the same warp are
    /// ordered after that write, even if another warp has waited for it.
    mma_writer: Option<u16>,
    /// The warp whose MMA made the latest read; `None` if another operation made it. Later MMAs of the same warp are
    /// ordered after that read.
    mma_reader: Option<u16>,
    /// Number of asynchronous writes of the word in flight.
    writes_in_flight: u16,
    /// Number of asynchronous reads of the word in flight.
    reads_in_flight: u16,
}

/// An asynchronous access of tensor memory in flight.
struct InFlightAccess {
    id: u64,
    direction: Direction,
    queue: Queue,
    /// Indices of the words that are accessed, ascending.
    words: Vec<u32>,
    record: Record,
}

/// The tensor memory of one block.
pub(crate) struct TensorMemory {
    size: Option<target::TensorMemory>,
    /// Words row by row; empty before the first allocation.
    pub(super) words: Vec<Word>,
    pub(super) allocations: Vec<TensorMemoryBlock>,
    in_flight: Vec<InFlightAccess>,
    next: u64,
}

/// Consecutive bits of a 32-bit word of tensor memory: the index of the word, the lowest bit, and the number of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BitField {
    pub(crate) word: u32,
    pub(crate) shift: u32,
    pub(crate) bits: u32,
}

impl BitField {
    fn mask(self) -> u32 {
        (super::super::arithmetic::mask(self.bits) as u32) << self.shift
    }
}

impl TensorMemory {
    pub(crate) fn new(size: Option<&target::TensorMemory>) -> Self {
        Self { size: size.cloned(), words: Vec::new(), allocations: Vec::new(), in_flight: Vec::new(), next: 0 }
    }

    /// Resets the memory for a new block.
    pub(crate) fn start_block(&mut self) {
        self.words.clear();
        self.allocations.clear();
        self.in_flight.clear();
    }

    /// Returns the properties of the target's tensor memory; a fault if the target has none.
    pub(crate) fn size(&self) -> Result<&target::TensorMemory, FaultKind> {
        self.size.as_ref().ok_or_else(|| wrong("the target has no tensor memory".to_owned()))
    }

    /// Returns the index of the word at a row and a column; the column must be allocated.
    pub(crate) fn word(&self, row: u64, column: u64) -> Result<u32, FaultKind> {
        let size = self.size()?;
        if row >= size.rows.into() || column >= size.columns.into() {
            let end = format!("there are {} rows and {} columns", size.rows, size.columns);
            return Err(wrong(format!("row {row}, column {column} is accessed; {end}")));
        }
        if !self.allocations.iter().any(|allocation| allocation.holds(column as u32)) {
            return Err(wrong(format!("row {row}, column {column} is accessed, but its column is not allocated")));
        }
        Ok(row as u32 * size.columns + column as u32)
    }

    fn row_and_column(&self, word: u32) -> (u32, u32) {
        let columns = self.size.as_ref().map_or(1, |size| size.columns.max(1));
        (word / columns, word % columns)
    }

    /// Starts an asynchronous access of these words, which are listed in ascending order; returns its number.
    pub(crate) fn start_access(
        &mut self,
        direction: Direction,
        queue: Queue,
        words: Vec<u32>,
        who: &Accessor<'_>,
    ) -> Result<u64, FaultKind> {
        for &at in &words {
            self.follows(direction, Some(queue), at, who)?;
        }
        for &at in &words {
            let word = &mut self.words[at as usize];
            match direction {
                Direction::Store => word.writes_in_flight += 1,
                Direction::Load => word.reads_in_flight += 1,
            }
        }
        self.next += 1;
        self.in_flight.push(InFlightAccess { id: self.next, direction, queue, words, record: who.record() });
        Ok(self.next)
    }

    /// Checks that an access of the word at index `at` is ordered after all conflicting accesses; `queue` is `None` for
    /// the deallocation of the word's column.
    pub(super) fn follows(
        &self,
        direction: Direction,
        queue: Option<Queue>,
        at: u32,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        let word = &self.words[at as usize];
        let (row, column) = self.row_and_column(at);
        if word.writes_in_flight > 0 || direction == Direction::Store && word.reads_in_flight > 0 {
            let is_conflict = |access: &&InFlightAccess| {
                let in_order = access.record.warp() == who.warp && queue == Some(access.queue);
                let conflicts = direction == Direction::Store || access.direction == Direction::Store;
                conflicts && !(in_order && access.queue == Queue::Mma) && access.words.binary_search(&at).is_ok()
            };
            if let Some(access) = self.in_flight.iter().find(is_conflict) {
                let other = Box::new(describe(access.direction, &access.record, who));
                return Err(FaultKind::TensorInFlight { direction, row, column, other });
            }
        }
        let race = |earlier: Direction, record: &Record| {
            let other = Box::new(describe(earlier, record, who));
            Err(FaultKind::TensorRace { direction, row, column, other })
        };
        let in_order = |of: Option<u16>| queue == Some(Queue::Mma) && of == Some(who.warp);
        let follows_write = in_order(word.mma_writer) || who.follows(&word.write);
        let follows_read = direction == Direction::Load || in_order(word.mma_reader) || who.follows(&word.read);
        match (follows_write, follows_read) {
            (false, _) => race(Direction::Store, &word.write),
            (_, false) => race(Direction::Load, &word.read),
            _ => Ok(()),
        }
    }

    /// Returns the value of a bit field; a fault if some of its bits have not been written.
    pub(crate) fn read(&self, bit_field: BitField) -> Result<u64, FaultKind> {
        let word = &self.words[bit_field.word as usize];
        if bit_field.mask() & !word.written != 0 {
            let (row, column) = self.row_and_column(bit_field.word);
            return Err(FaultKind::TensorUninitialised { row, column });
        }
        Ok(u64::from((word.bits & bit_field.mask()) >> bit_field.shift))
    }

    /// Writes the value of a bit field; the other bits of its word stay.
    pub(crate) fn write(&mut self, bit_field: BitField, bits: u64) {
        let word = &mut self.words[bit_field.word as usize];
        word.bits = word.bits & !bit_field.mask() | ((bits as u32) << bit_field.shift) & bit_field.mask();
        word.written |= bit_field.mask();
    }

    /// Completes an access at the wait of `who`.
    pub(crate) fn complete(&mut self, id: u64, who: &Accessor<'_>) {
        let Some(at) = self.in_flight.iter().position(|access| access.id == id) else { return };
        let access = self.in_flight.remove(at);
        let record = who.record().of_operation(access.record);
        let mma = (access.queue == Queue::Mma).then(|| access.record.warp());
        for at in access.words {
            let word = &mut self.words[at as usize];
            match access.direction {
                Direction::Store => {
                    word.writes_in_flight -= 1;
                    (word.write, word.mma_writer) = (record, mma);
                }
                Direction::Load => {
                    word.reads_in_flight -= 1;
                    let is_only = who.follows(&word.read);
                    word.read = if is_only { record } else { record.by_several_warps() };
                    word.mma_reader = mma.filter(|_| is_only);
                }
            }
        }
    }

    /// Describes one access in flight; `None` if there is none.
    pub(crate) fn in_flight(&self) -> Option<EarlierConflictingAccess> {
        self.in_flight.first().map(|access| describe_in_block(access.direction, &access.record))
    }
}

pub(super) fn wrong(message: String) -> FaultKind {
    FaultKind::TensorMemory { message }
}
