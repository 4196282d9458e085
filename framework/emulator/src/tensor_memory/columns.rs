//! Tensor memory of a block: its columns, and races.

use super::allocation::TensorMemoryBlock;
use crate::fault::{FaultKind, OtherAccess};
use crate::shared::{Accessor, Record, described, seen_by_own};
use tilewright_kernel::Queue;
use tilewright_target::{self as target, Direction};

/// One word.
#[derive(Clone, Copy, Default)]
pub(super) struct Word {
    bits: u32,
    /// The bits that have been written.
    written: u32,
    write: Record,
    read: Record,
    /// How many accesses under way write it, and read it.
    writing: u16,
    reading: u16,
}

/// An access under way.
struct Flight {
    number: u64,
    direction: Direction,
    queue: Queue,
    /// Indices of the words, ascending.
    words: Vec<u32>,
    record: Record,
}

/// Tensor memory of one block.
pub(crate) struct TensorMemory {
    size: Option<target::TensorMemory>,
    /// Row after row; empty before the first allotment.
    pub(super) words: Vec<Word>,
    pub(super) allotments: Vec<TensorMemoryBlock>,
    under_way: Vec<Flight>,
    next: u64,
}

/// A part of a word: index of the word, lowest bit, number of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) word: u32,
    pub(crate) shift: u32,
    pub(crate) bits: u32,
}

impl Part {
    fn mask(self) -> u32 {
        (super::super::arithmetic::mask(self.bits) as u32) << self.shift
    }
}

impl TensorMemory {
    pub(crate) fn new(size: Option<&target::TensorMemory>) -> Self {
        Self { size: size.cloned(), words: Vec::new(), allotments: Vec::new(), under_way: Vec::new(), next: 0 }
    }

    /// Makes it the memory of a new block.
    pub(crate) fn start_block(&mut self) {
        self.words.clear();
        self.allotments.clear();
        self.under_way.clear();
    }

    /// Its size; a fault where there is none.
    pub(crate) fn size(&self) -> Result<&target::TensorMemory, FaultKind> {
        self.size.as_ref().ok_or_else(|| wrong("the target has none".to_owned()))
    }

    /// The index of the word in a row and a column, which must be allotted.
    pub(crate) fn word(&self, row: u64, column: u64) -> Result<u32, FaultKind> {
        let size = self.size()?;
        if row >= size.rows.into() || column >= size.columns.into() {
            let end = format!("there are {} rows and {} columns", size.rows, size.columns);
            return Err(wrong(format!("row {row}, column {column} is accessed; {end}")));
        }
        if !self.allotments.iter().any(|allocation| allocation.holds(column as u32)) {
            return Err(wrong(format!("row {row}, column {column} is accessed, and its column is not allotted")));
        }
        Ok(row as u32 * size.columns + column as u32)
    }

    fn place(&self, word: u32) -> (u32, u32) {
        let columns = self.size.as_ref().map_or(1, |size| size.columns.max(1));
        (word / columns, word % columns)
    }

    /// Sends off an access of these words, ascending; gives its number.
    pub(crate) fn send(
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
                Direction::Store => word.writing += 1,
                Direction::Load => word.reading += 1,
            }
        }
        self.next += 1;
        self.under_way.push(Flight { number: self.next, direction, queue, words, record: who.record() });
        Ok(self.next)
    }

    /// Whether an access of a word comes after those that it must not meet.
    pub(super) fn follows(
        &self,
        direction: Direction,
        queue: Option<Queue>,
        at: u32,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        let word = &self.words[at as usize];
        let (row, column) = self.place(at);
        if word.writing > 0 || direction == Direction::Store && word.reading > 0 {
            let meets = |flight: &&Flight| {
                let in_order = flight.record.warp() == who.warp && queue == Some(flight.queue);
                let conflicts = direction == Direction::Store || flight.direction == Direction::Store;
                conflicts && !(in_order && flight.queue == Queue::Products) && flight.words.binary_search(&at).is_ok()
            };
            if let Some(flight) = self.under_way.iter().find(meets) {
                let other = Box::new(described(flight.direction, &flight.record, who));
                return Err(FaultKind::TensorInFlight { direction, row, column, other });
            }
        }
        let race = |earlier: Direction, record: &Record| {
            let other = Box::new(described(earlier, record, who));
            Err(FaultKind::TensorRace { direction, row, column, other })
        };
        match (who.follows(&word.write), direction == Direction::Load || who.follows(&word.read)) {
            (false, _) => race(Direction::Store, &word.write),
            (_, false) => race(Direction::Load, &word.read),
            _ => Ok(()),
        }
    }

    /// What is in a part of a word, which must have been written.
    pub(crate) fn read(&self, part: Part) -> Result<u64, FaultKind> {
        let word = &self.words[part.word as usize];
        if part.mask() & !word.written != 0 {
            let (row, column) = self.place(part.word);
            return Err(FaultKind::TensorUninitialised { row, column });
        }
        Ok(u64::from((word.bits & part.mask()) >> part.shift))
    }

    /// Puts something there.
    pub(crate) fn write(&mut self, part: Part, bits: u64) {
        let word = &mut self.words[part.word as usize];
        word.bits = word.bits & !part.mask() | ((bits as u32) << part.shift) & part.mask();
        word.written |= part.mask();
    }

    /// An access has landed where `who` waits.
    pub(crate) fn land(&mut self, number: u64, who: &Accessor<'_>) {
        let Some(at) = self.under_way.iter().position(|flight| flight.number == number) else { return };
        let flight = self.under_way.remove(at);
        let record = who.record().of_operation(flight.record);
        for at in flight.words {
            let word = &mut self.words[at as usize];
            match flight.direction {
                Direction::Store => {
                    word.writing -= 1;
                    word.write = record;
                }
                Direction::Load => {
                    word.reading -= 1;
                    word.read = if who.follows(&word.read) { record } else { record.by_several_warps() };
                }
            }
        }
    }

    /// What is still under way.
    pub(crate) fn under_way(&self) -> Option<OtherAccess> {
        self.under_way.first().map(|flight| seen_by_own(flight.direction, &flight.record))
    }
}

pub(super) fn wrong(message: String) -> FaultKind {
    FaultKind::TensorMemory { message }
}
