//! Accesses of shared memory that are under way: what asynchronous operations will write, and what they still
//! read. Until they have landed, nobody may touch the one or write the other.

use std::ops::Range;

use crate::fault::{FaultKind, OtherAccess};
use crate::shared::Accessor;
use tilewright_target::Direction;

/// One access under way.
struct Flight {
    number: u64,
    direction: Direction,
    bytes: Range<usize>,
    /// Who issued it, and by which operation.
    block: u8,
    warp: u16,
    lane: u8,
    operation: u32,
}

/// All accesses of one memory that are under way.
#[derive(Default)]
pub(super) struct Flights {
    under_way: Vec<Flight>,
    next: u64,
    /// By byte, how many flights read it and how many write it; empty before the first.
    reading: Vec<u16>,
    writing: Vec<u16>,
}

impl Flights {
    pub(super) fn are_none(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Sends one off, in a memory of so many bytes; gives its number.
    pub(super) fn send(
        &mut self,
        direction: Direction,
        bytes: Range<usize>,
        who: &Accessor<'_>,
        memory_bytes: usize,
    ) -> u64 {
        if self.reading.is_empty() {
            self.reading = vec![0; memory_bytes];
            self.writing = vec![0; memory_bytes];
        }
        self.mark(direction, bytes.clone(), 1);
        self.next += 1;
        let Accessor { block, warp, lane, operation, .. } = *who;
        self.under_way.push(Flight { number: self.next, direction, bytes, block, warp, lane, operation });
        self.next
    }

    /// Takes out the one of this number; gives its bytes and operation.
    pub(super) fn land(&mut self, number: u64) -> Option<(Range<usize>, u32)> {
        let at = self.under_way.iter().position(|flight| flight.number == number)?;
        let flight = self.under_way.swap_remove(at);
        self.mark(flight.direction, flight.bytes.clone(), -1);
        Some((flight.bytes, flight.operation))
    }

    fn mark(&mut self, direction: Direction, bytes: Range<usize>, by: i16) {
        let marks = match direction {
            Direction::Load => &mut self.reading,
            Direction::Store => &mut self.writing,
        };
        marks[bytes].iter_mut().for_each(|mark| *mark = mark.saturating_add_signed(by));
    }

    /// Whether a byte may be accessed while all this is under way.
    pub(super) fn check(&self, direction: Direction, at: usize, block: u8) -> Result<(), FaultKind> {
        let marked = |marks: &[u16]| marks.get(at).is_some_and(|&mark| mark > 0);
        if !marked(&self.writing) && (direction == Direction::Load || !marked(&self.reading)) {
            return Ok(());
        }
        let meets = |flight: &&Flight| {
            flight.bytes.contains(&at) && (direction == Direction::Store || flight.direction == Direction::Store)
        };
        let other = self.under_way.iter().find(meets).map(|flight| flight.described(block));
        match other {
            Some(other) => Err(FaultKind::InFlight { direction, address: at as u64, other: Box::new(other) }),
            None => Ok(()),
        }
    }

    /// One that is still under way, as a fault describes it.
    pub(super) fn any(&self, block: u8) -> Option<OtherAccess> {
        self.under_way.first().map(|flight| flight.described(block))
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Flight {
    /// As seen by an access of this block.
    fn described(&self, block: u8) -> OtherAccess {
        OtherAccess {
            operation: self.operation as usize,
            text: String::new(),
            direction: self.direction,
            block: (self.block != block).then_some(u32::from(self.block)),
            warp: Some(u32::from(self.warp)),
            lane: (self.lane != super::SEVERAL_LANES).then_some(u32::from(self.lane)),
        }
    }
}
