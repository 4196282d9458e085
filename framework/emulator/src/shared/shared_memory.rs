//! Shared memory of a block: its bytes and their latest accesses.

use super::accessor::{Accessor, Record, SEVERAL_LANES, race};
use super::in_flight::InFlight;
use super::mbarrier::Mbarriers;
use crate::fault::FaultKind;
use std::collections::HashMap;
use std::ops::Range;
use tilewright_kernel::MemorySpace;
use tilewright_target::Direction;

/// Shared memory of one block.
pub(crate) struct SharedMemory {
    pub(super) bytes: Vec<u8>,
    pub(super) initialised: Vec<bool>,
    /// For each byte, whether its last write came through the asynchronous proxy.
    pub(super) by_proxy: Vec<bool>,
    pub(super) writes: Vec<Record>,
    reads: Vec<Record>,
    /// For each byte, the record of atomic operations since the start of the block; empty if there were none.
    pub(super) atomics: Vec<Record>,
    /// For each byte that several warps have read since its last write, the records of the reads; used only by kernels
    /// with named barriers or mbarriers.
    readers: HashMap<usize, Vec<Record>>,
    /// Whether the kernel has named barriers. These, like mbarriers, order some warps only, so that each reader of a
    /// byte is recorded.
    in_groups: bool,
    pub(super) in_flight: InFlight,
    pub(super) mbarriers: Mbarriers,
    /// For each block and warp, the access index before which its plain writes are visible to the asynchronous proxy.
    pub(super) fences: HashMap<(u8, u16), u64>,
    /// Address ranges of the kernel's shared buffers.
    buffers: Vec<Range<u64>>,
    /// Number of bytes of all stores so far.
    pub(super) bytes_stored: u64,
    /// Index in the cluster of the block that owns the memory.
    pub(super) owner: u8,
    /// Number of cluster barriers passed when the block started.
    began: u64,
    /// The latest access by another block; `None` if there was none.
    visit: Option<ForeignAccess>,
}

/// An access of a block's memory by another block.
#[derive(Clone, Copy)]
pub(crate) struct ForeignAccess {
    pub(crate) block: u8,
    pub(crate) warp: u16,
    pub(crate) lane: u8,
    pub(crate) operation: u32,
    direction: Direction,
    epoch: u64,
}

impl SharedMemory {
    pub(crate) fn new(owner: u8, buffers: Vec<Range<u64>>, bytes: usize, in_groups: bool) -> Self {
        Self {
            bytes: vec![0; bytes],
            initialised: vec![false; bytes],
            by_proxy: vec![false; bytes],
            writes: vec![Record::default(); bytes],
            reads: vec![Record::default(); bytes],
            atomics: Vec::new(),
            readers: HashMap::new(),
            in_groups,
            in_flight: InFlight::default(),
            mbarriers: Mbarriers::default(),
            fences: HashMap::new(),
            buffers,
            bytes_stored: 0,
            owner,
            began: 0,
            visit: None,
        }
    }

    /// Returns the number of bytes that have been stored so far, over all blocks that used this memory.
    pub(crate) fn bytes_stored(&self) -> u64 {
        self.bytes_stored
    }

    /// Resets the memory for a new block; `epoch` counts the cluster barriers passed so far.
    pub(crate) fn start_block(&mut self, epoch: u64) {
        self.began = epoch;
        self.visit = None;
        self.initialised.fill(false);
        self.atomics.clear();
        self.readers.clear();
        self.in_flight.clear();
        self.mbarriers.clear();
    }

    /// Returns an access by another block since the last cluster barrier (`epoch` is the number of cluster barriers
    /// passed), with the fault to report if this block ends before the next one; `None` if there is no such access.
    pub(crate) fn find_unfinished_foreign_access(&self, epoch: u64) -> Option<(ForeignAccess, FaultKind)> {
        let visit = self.visit.filter(|visit| visit.epoch == epoch)?;
        let owner = u32::from(self.owner);
        Some((visit, FaultKind::NotRunning { direction: visit.direction, owner, too_late: true }))
    }

    /// Records an access by another block; returns a fault if no cluster barrier has been passed since this block
    /// started, since the access could then come before the start.
    fn visit(&mut self, direction: Direction, who: &Accessor<'_>) -> Result<(), FaultKind> {
        if who.block == self.owner {
            return Ok(());
        }
        let epoch = who.epoch.cluster;
        if epoch == self.began {
            return Err(FaultKind::NotRunning { direction, owner: u32::from(self.owner), too_late: false });
        }
        let Accessor { block, warp, lane, operation, .. } = *who;
        self.visit = Some(ForeignAccess { block, warp, lane, operation, direction, epoch });
        Ok(())
    }

    /// Returns the byte range of an access, which must lie in the shared buffer `buffer`, or, if that is unknown, in
    /// any one buffer.
    pub(super) fn locate(
        &self,
        direction: Direction,
        address: u64,
        bytes: usize,
        buffer: Option<u32>,
    ) -> Result<Range<usize>, FaultKind> {
        let end = address.checked_add(bytes as u64);
        let holds = |range: &Range<u64>| end.is_some_and(|end| range.start <= address && end <= range.end);
        let buffer_range = buffer.and_then(|buffer| self.buffers.get(buffer as usize));
        let inside = buffer_range.map_or_else(|| self.buffers.iter().any(holds), holds);
        if inside {
            return Ok(address as usize..address as usize + bytes);
        }
        let expected = match buffer_range {
            Some(buffer_range) => {
                format!("the pointer's buffer has addresses {:#x} to {:#x}", buffer_range.start, buffer_range.end)
            }
            None => "it is in no single shared buffer".to_owned(),
        };
        Err(FaultKind::OutOfBounds { direction, space: MemorySpace::Shared, address, bytes: bytes as u64, expected })
    }

    pub(crate) fn load(
        &mut self,
        address: u64,
        into: &mut [u8],
        buffer: Option<u32>,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        let range = self.locate(Direction::Load, address, into.len(), buffer)?;
        self.visit(Direction::Load, who)?;
        self.check_no_conflict(Direction::Load, &range, who)?;
        self.check_atomics_before(Direction::Load, &range, who)?;
        for at in range.clone() {
            self.check_written_before(at, who)?;
            self.note_read(at, who);
        }
        into.copy_from_slice(&self.bytes[range]);
        Ok(())
    }

    pub(crate) fn store(
        &mut self,
        address: u64,
        from: &[u8],
        buffer: Option<u32>,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        let range = self.locate(Direction::Store, address, from.len(), buffer)?;
        self.bytes_stored += from.len() as u64;
        self.visit(Direction::Store, who)?;
        self.check_no_conflict(Direction::Store, &range, who)?;
        self.check_atomics_before(Direction::Store, &range, who)?;
        for (at, &byte) in range.zip(from) {
            let write = self.writes[at];
            let mut record = who.record();
            if !who.follows(&write) {
                let same_operation = (write.block, write.warp, write.time) == (who.block, who.warp, who.time);
                if !same_operation || self.bytes[at] != byte {
                    return Err(race(Direction::Store, at, Direction::Store, &write, who));
                }
                record.lane = SEVERAL_LANES;
            }
            self.check_reads_before(at, who)?;
            self.writes[at] = record;
            self.bytes[at] = byte;
            self.initialised[at] = true;
            self.by_proxy[at] = false;
        }
        Ok(())
    }

    /// Stores a word of `bytes` bytes, such as an mbarrier, at a multiple of its size. The word does not count as
    /// stored bytes, because no lane's store instruction writes it.
    pub(crate) fn store_word(
        &mut self,
        address: u64,
        bytes: u64,
        word: &[u8],
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        if !address.is_multiple_of(bytes) {
            let (direction, space) = (Direction::Store, MemorySpace::Shared);
            return Err(FaultKind::Misaligned { direction, space, address, alignment: bytes });
        }
        self.store(address, word, None, who)?;
        self.bytes_stored -= bytes;
        Ok(())
    }

    /// Checks that the bytes conflict with no access in flight and contain no mbarrier.
    pub(super) fn check_no_conflict(
        &self,
        direction: Direction,
        range: &Range<usize>,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        if !self.mbarriers.are_none() {
            self.mbarriers.check(range.start as u64, range.len() as u64)?;
        }
        if self.in_flight.are_none() {
            return Ok(());
        }
        range.clone().try_for_each(|at| self.in_flight.check(direction, at, who.block))
    }

    /// Checks that a byte has been written, by a write ordered before this access.
    pub(super) fn check_written_before(&self, at: usize, who: &Accessor<'_>) -> Result<(), FaultKind> {
        let write = self.writes[at];
        if !who.follows(&write) {
            return Err(race(Direction::Load, at, Direction::Store, &write, who));
        }
        if !self.initialised[at] {
            return Err(FaultKind::Uninitialised { space: MemorySpace::Shared, address: at as u64 });
        }
        Ok(())
    }

    /// Checks that all reads of a byte are ordered before this write.
    pub(super) fn check_reads_before(&self, at: usize, who: &Accessor<'_>) -> Result<(), FaultKind> {
        let read = &self.reads[at];
        if who.follows(read) {
            return Ok(());
        }
        let unordered = self.readers.get(&at).map_or(Some(read), |all| all.iter().find(|one| !who.follows(one)));
        unordered.map_or(Ok(()), |read| Err(race(Direction::Store, at, Direction::Load, read, who)))
    }

    pub(super) fn note_read(&mut self, at: usize, who: &Accessor<'_>) {
        let read = &mut self.reads[at];
        if who.follows(read) {
            *read = who.record();
            if !self.readers.is_empty() {
                self.readers.remove(&at);
            }
            return;
        }
        if (self.in_groups || !self.mbarriers.are_none()) && (read.warp != who.warp || self.readers.contains_key(&at)) {
            let all = self.readers.entry(at).or_insert_with(|| vec![*read]);
            match all.iter_mut().find(|one| (one.block, one.warp) == (who.block, who.warp)) {
                Some(one) => *one = Record { lane: SEVERAL_LANES, ..who.record() },
                None => all.push(who.record()),
            }
        }
        read.join(who);
    }
}
