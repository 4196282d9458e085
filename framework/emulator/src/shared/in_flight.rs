//! Asynchronous accesses in flight: writes that will happen and reads that have not completed. Until completion,
//! nothing may access the destination of a write or write the source of a read.

use std::ops::Range;

use crate::fault::{EarlierConflictingAccess, FaultKind};
use crate::shared::Accessor;
use tilewright_target::Direction;

/// One asynchronous access of shared memory that has been issued and is not complete.
struct InFlightAccess {
    id: u64,
    direction: Direction,
    bytes: Range<usize>,
    /// Index in the cluster of the block that issued the access.
    block: u8,
    warp: u16,
    lane: u8,
    operation: u32,
}

/// All asynchronous accesses of one block's shared memory that are in flight.
#[derive(Default)]
pub(super) struct InFlight {
    in_flight: Vec<InFlightAccess>,
    next: u64,
    /// For each byte, the number of reads in flight; empty before the first access.
    reads_in_flight: Vec<u16>,
    /// For each byte, the number of writes in flight; empty before the first access.
    writes_in_flight: Vec<u16>,
}

impl InFlight {
    pub(super) fn are_none(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Adds an asynchronous access by `who` of a range of bytes in a memory of `memory_bytes` bytes; returns the number
    /// of the access.
    pub(super) fn send(
        &mut self,
        direction: Direction,
        bytes: Range<usize>,
        who: &Accessor<'_>,
        memory_bytes: usize,
    ) -> u64 {
        if self.reads_in_flight.is_empty() {
            self.reads_in_flight = vec![0; memory_bytes];
            self.writes_in_flight = vec![0; memory_bytes];
        }
        self.count(direction, bytes.clone(), 1);
        self.next += 1;
        let Accessor { block, warp, lane, operation, .. } = *who;
        self.in_flight.push(InFlightAccess { id: self.next, direction, bytes, block, warp, lane, operation });
        self.next
    }

    /// Removes an access by its number; returns the range of its bytes and the index of its operation. `None` if no
    /// such access is in flight.
    pub(super) fn complete(&mut self, id: u64) -> Option<(Range<usize>, u32)> {
        let at = self.in_flight.iter().position(|access| access.id == id)?;
        let access = self.in_flight.swap_remove(at);
        self.count(access.direction, access.bytes.clone(), -1);
        Some((access.bytes, access.operation))
    }

    fn count(&mut self, direction: Direction, bytes: Range<usize>, by: i16) {
        let counts = match direction {
            Direction::Load => &mut self.reads_in_flight,
            Direction::Store => &mut self.writes_in_flight,
        };
        counts[bytes].iter_mut().for_each(|count| *count = count.saturating_add_signed(by));
    }

    /// Checks that no asynchronous access in flight conflicts with an access of the byte at `at`: a write of the byte
    /// always conflicts, a read of it only with a store. The fault describes the access in flight as seen from block
    /// `block`.
    pub(super) fn check(&self, direction: Direction, at: usize, block: u8) -> Result<(), FaultKind> {
        let is_accessed = |counts: &[u16]| counts.get(at).is_some_and(|&count| count > 0);
        if !is_accessed(&self.writes_in_flight) && (direction == Direction::Load || !is_accessed(&self.reads_in_flight))
        {
            return Ok(());
        }
        let is_conflict = |access: &&InFlightAccess| {
            access.bytes.contains(&at) && (direction == Direction::Store || access.direction == Direction::Store)
        };
        let other = self.in_flight.iter().find(is_conflict).map(|access| access.describe_access(block));
        match other {
            Some(other) => Err(FaultKind::InFlight { direction, address: at as u64, other: Box::new(other) }),
            None => Ok(()),
        }
    }

    /// Describes an access in flight, as seen from block `block`, for a fault; `None` if there is none.
    pub(super) fn any(&self, block: u8) -> Option<EarlierConflictingAccess> {
        self.in_flight.first().map(|access| access.describe_access(block))
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl InFlightAccess {
    /// Describes the access as seen from block `block`.
    fn describe_access(&self, block: u8) -> EarlierConflictingAccess {
        EarlierConflictingAccess {
            operation: self.operation as usize,
            text: String::new(),
            source: None,
            direction: self.direction,
            block: (self.block != block).then_some(u32::from(self.block)),
            warp: Some(u32::from(self.warp)),
            lane: (self.lane != super::SEVERAL_LANES).then_some(u32::from(self.lane)),
        }
    }
}
