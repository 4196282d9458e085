//! Shared memory of a block: its bytes and the accesses of each.

use super::accessor::{Accessor, Record, SEVERAL_LANES, race};
use super::flight::Flights;
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
    /// Whether the last write came through the asynchronous proxy.
    pub(super) by_proxy: Vec<bool>,
    pub(super) writes: Vec<Record>,
    reads: Vec<Record>,
    /// What atomic operations have changed since the block began; empty where there were none.
    pub(super) atomics: Vec<Record>,
    /// Bytes that several warps have read since they were written, where there are mbarriers: by warp.
    readers: HashMap<usize, Vec<Record>>,
    /// Whether some warps may meet without the others, so that it matters which of several have read a byte.
    in_groups: bool,
    pub(super) flights: Flights,
    pub(super) mbarriers: Mbarriers,
    /// By block and warp, the time before which its plain writes are seen by the asynchronous proxy.
    pub(super) fences: HashMap<(u8, u16), u64>,
    /// Where the kernel's buffers lie.
    buffers: Vec<Range<u64>>,
    /// Bytes of all stores so far.
    pub(super) bytes_stored: u64,
    /// Index in the cluster of the block whose memory it is.
    pub(super) owner: u8,
    /// The epoch of the cluster in which the blocks began.
    began: u64,
    /// An access by another block in the current epoch.
    visit: Option<Visit>,
}

/// An access of a block's memory by another block.
#[derive(Clone, Copy)]
pub(crate) struct Visit {
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
            flights: Flights::default(),
            mbarriers: Mbarriers::default(),
            fences: HashMap::new(),
            buffers,
            bytes_stored: 0,
            owner,
            began: 0,
            visit: None,
        }
    }

    /// Bytes of all stores so far, of all blocks.
    pub(crate) fn bytes_stored(&self) -> u64 {
        self.bytes_stored
    }

    /// Makes it the memory of a new block, whose cluster begins in this epoch.
    pub(crate) fn start_block(&mut self, epoch: u64) {
        self.began = epoch;
        self.visit = None;
        self.initialised.fill(false);
        self.atomics.clear();
        self.readers.clear();
        self.flights.clear();
        self.mbarriers.clear();
    }

    /// The access by another block with no barrier of the cluster between it and this epoch's end, with
    /// what is wrong about it where the block ends.
    pub(crate) fn visited(&self, epoch: u64) -> Option<(Visit, FaultKind)> {
        let visit = self.visit.filter(|visit| visit.epoch == epoch)?;
        let owner = u32::from(self.owner);
        Some((visit, FaultKind::NotRunning { direction: visit.direction, owner, ended: true }))
    }

    /// Notes an access by another block, which may only be made while this one runs for sure.
    fn visit(&mut self, direction: Direction, who: &Accessor<'_>) -> Result<(), FaultKind> {
        if who.block == self.owner {
            return Ok(());
        }
        let epoch = who.epoch.cluster;
        if epoch == self.began {
            return Err(FaultKind::NotRunning { direction, owner: u32::from(self.owner), ended: false });
        }
        let Accessor { block, warp, lane, operation, .. } = *who;
        self.visit = Some(Visit { block, warp, lane, operation, direction, epoch });
        Ok(())
    }

    /// The bytes of an access, which must lie in the buffer of its pointer, or in one of all where that
    /// is not known.
    pub(super) fn locate(
        &self,
        direction: Direction,
        address: u64,
        bytes: usize,
        buffer: Option<u32>,
    ) -> Result<Range<usize>, FaultKind> {
        let end = address.checked_add(bytes as u64);
        let holds = |range: &Range<u64>| end.is_some_and(|end| range.start <= address && end <= range.end);
        let own = buffer.and_then(|buffer| self.buffers.get(buffer as usize));
        let inside = own.map_or_else(|| self.buffers.iter().any(holds), holds);
        if inside {
            return Ok(address as usize..address as usize + bytes);
        }
        let expected = match own {
            Some(own) => format!("the pointer's buffer has addresses {:#x} to {:#x}", own.start, own.end),
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
        self.untouched(Direction::Load, &range, who)?;
        self.updated_before(Direction::Load, &range, who)?;
        for at in range.clone() {
            self.written_before(at, who)?;
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
        self.untouched(Direction::Store, &range, who)?;
        self.updated_before(Direction::Store, &range, who)?;
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
            self.read_before(at, who)?;
            self.writes[at] = record;
            self.bytes[at] = byte;
            self.initialised[at] = true;
            self.by_proxy[at] = false;
        }
        Ok(())
    }

    /// Stores a word that an operation writes by itself, at a multiple of its bytes; no store of a lane is counted.
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

    /// Whether what is under way leaves these bytes to an access, and no mbarrier lies in them.
    pub(super) fn untouched(
        &self,
        direction: Direction,
        range: &Range<usize>,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        if !self.mbarriers.are_none() {
            self.mbarriers.check(range.start as u64, range.len() as u64)?;
        }
        if self.flights.are_none() {
            return Ok(());
        }
        range.clone().try_for_each(|at| self.flights.check(direction, at, who.block))
    }

    /// Whether a byte has been written, before this access.
    pub(super) fn written_before(&self, at: usize, who: &Accessor<'_>) -> Result<(), FaultKind> {
        let write = self.writes[at];
        if !who.follows(&write) {
            return Err(race(Direction::Load, at, Direction::Store, &write, who));
        }
        if !self.initialised[at] {
            return Err(FaultKind::Uninitialised { space: MemorySpace::Shared, address: at as u64 });
        }
        Ok(())
    }

    /// Whether all reads of a byte come before this write.
    pub(super) fn read_before(&self, at: usize, who: &Accessor<'_>) -> Result<(), FaultKind> {
        let read = &self.reads[at];
        if who.follows(read) {
            return Ok(());
        }
        let late = self.readers.get(&at).map_or(Some(read), |all| all.iter().find(|one| !who.follows(one)));
        late.map_or(Ok(()), |read| Err(race(Direction::Store, at, Direction::Load, read, who)))
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
