//! Shared memory of a block: its bytes, who accessed each, and races.

use super::flight::Flights;
use super::mbarrier::Mbarriers;
use crate::fault::{FaultKind, OtherAccess};
use std::collections::HashMap;
use std::ops::Range;
use tilewright_kernel::Space;
use tilewright_target::Direction;

const SEVERAL_WARPS: u16 = u16::MAX;

pub(super) const SEVERAL_LANES: u8 = u8::MAX;

const SEVERAL_BLOCKS: u8 = u8::MAX;

/// How many barriers lie behind a block: of its cluster, from one on, and of its own.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Epoch {
    pub(crate) cluster: u64,
    pub(crate) block: u64,
}

/// An access of a byte. A record of an earlier epoch of the cluster says nothing anymore; one of an
/// earlier epoch of its block says nothing to that block.
#[derive(Clone, Copy, Default)]
pub(crate) struct Record {
    epoch: Epoch,
    pub(super) time: u64,
    operation: u32,
    pub(super) warp: u16,
    lane: u8,
    pub(super) block: u8,
}

impl Record {
    pub(crate) fn warp(&self) -> u16 {
        self.warp
    }

    /// The same place and time, for what an operation did that was issued before.
    pub(crate) fn of_operation(self, issued: Self) -> Self {
        Self { operation: issued.operation, ..self }
    }

    /// Makes it the record of an access that does not come after it, too.
    pub(super) fn join(&mut self, who: &Accessor<'_>) {
        self.block = if self.block == who.block { self.block } else { SEVERAL_BLOCKS };
        self.lane = if self.lane == who.lane { self.lane } else { SEVERAL_LANES };
        self.warp = if self.warp == who.warp { self.warp } else { SEVERAL_WARPS };
    }

    pub(crate) fn by_several_warps(self) -> Self {
        Self { warp: SEVERAL_WARPS, ..self }
    }
}

/// Who accesses.
#[derive(Clone)]
pub(crate) struct Accessor<'a> {
    /// Index of the block in its cluster.
    pub(crate) block: u8,
    pub(crate) epoch: Epoch,
    pub(crate) warp: u16,
    pub(crate) lane: u8,
    /// Number of this access in the program of the warp.
    pub(crate) time: u64,
    /// Accesses of the warp before this time lie before its last barrier.
    pub(crate) barrier: u64,
    pub(crate) operation: u32,
    /// Whether accesses of a warp are seen in the order of its program.
    pub(crate) warp_ordered: bool,
    /// Times of the `then` regions from whose lanes this one has parted.
    pub(crate) parted: &'a [Range<u64>],
    /// By warp of the block, the time before which all accesses come before this one.
    pub(crate) known: &'a [u64],
}

impl Accessor<'_> {
    pub(crate) fn record(&self) -> Record {
        let Self { block, epoch, warp, lane, time, operation, .. } = *self;
        Record { epoch, time, operation, warp, lane, block }
    }

    /// Whether the recorded access comes before this one.
    pub(crate) fn follows(&self, record: &Record) -> bool {
        if record.epoch.cluster != self.epoch.cluster {
            return true;
        }
        if record.block != self.block {
            return false;
        }
        if record.epoch.block != self.epoch.block {
            return true;
        }
        if self.known.get(usize::from(record.warp)).is_some_and(|&time| record.time < time) {
            return true;
        }
        if record.warp != self.warp {
            return false;
        }
        let in_order = record.time < self.time && !self.parted.iter().any(|times| times.contains(&record.time));
        record.time < self.barrier || record.lane == self.lane || (self.warp_ordered && in_order)
    }
}

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
        Err(FaultKind::OutOfBounds { direction, space: Space::Shared, address, bytes: bytes as u64, expected })
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
            let (direction, space) = (Direction::Store, Space::Shared);
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
            return Err(FaultKind::Uninitialised { space: Space::Shared, address: at as u64 });
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

pub(super) fn race(
    direction: Direction,
    at: usize,
    earlier: Direction,
    record: &Record,
    who: &Accessor<'_>,
) -> FaultKind {
    FaultKind::Race { direction, address: at as u64, other: Box::new(described(earlier, record, who)) }
}

/// A recorded access, as a fault of a later one describes it.
pub(crate) fn described(direction: Direction, record: &Record, who: &Accessor<'_>) -> OtherAccess {
    let elsewhere = record.block != who.block && record.block != SEVERAL_BLOCKS;
    OtherAccess { block: elsewhere.then_some(u32::from(record.block)), ..seen_by_own(direction, record) }
}

/// A recorded access, as its own block sees it.
pub(crate) fn seen_by_own(direction: Direction, record: &Record) -> OtherAccess {
    OtherAccess {
        operation: record.operation as usize,
        text: String::new(),
        direction,
        block: None,
        warp: (record.warp != SEVERAL_WARPS).then_some(u32::from(record.warp)),
        lane: (record.lane != SEVERAL_LANES).then_some(u32::from(record.lane)),
    }
}
