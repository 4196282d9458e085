//! Shared memory of one block, with what is needed to find races: for every byte, who wrote it last
//! and who has read it since. The rules are in the module's doc.
//!
//! What must come before an access is a partial order, so one record of each kind is enough: a
//! record is replaced by an access that comes after it, for whatever comes after that access comes
//! after the record too. Reads that nothing orders are joined into one record, as reads by several.

use std::ops::Range;

use super::fault::{FaultKind, OtherAccess};
use crate::kernel::Space;
use crate::target::Direction;

const SEVERAL_WARPS: u16 = u16::MAX;
const SEVERAL_LANES: u8 = u8::MAX;

/// An access of a byte. Epochs count barriers of the block, from one; a record of an earlier epoch
/// says nothing anymore.
#[derive(Clone, Copy, Default)]
struct Record {
    epoch: u64,
    time: u64,
    operation: u32,
    warp: u16,
    lane: u8,
}

/// Who accesses.
#[derive(Clone)]
pub(super) struct Accessor<'a> {
    pub(super) warp: u16,
    pub(super) lane: u8,
    /// Number of this access in the program of the warp.
    pub(super) time: u64,
    /// Accesses of the warp before this time lie before its last barrier.
    pub(super) barrier: u64,
    pub(super) operation: u32,
    /// Whether accesses of a warp are seen in the order of its program.
    pub(super) warp_ordered: bool,
    /// Times of the `then` regions from whose lanes this one has parted.
    pub(super) parted: &'a [Range<u64>],
}

impl Accessor<'_> {
    fn record(&self, epoch: u64) -> Record {
        Record { epoch, time: self.time, operation: self.operation, warp: self.warp, lane: self.lane }
    }

    /// Whether the recorded access comes before this one.
    fn follows(&self, record: &Record, epoch: u64) -> bool {
        if record.epoch != epoch {
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
pub(super) struct SharedMemory {
    bytes: Vec<u8>,
    initialised: Vec<bool>,
    writes: Vec<Record>,
    reads: Vec<Record>,
    epoch: u64,
    /// Where the kernel's buffers lie.
    buffers: Vec<Range<u64>>,
    /// Bytes of all stores so far.
    bytes_stored: u64,
}

impl SharedMemory {
    pub(super) fn new(buffers: Vec<Range<u64>>, bytes: usize) -> Self {
        Self {
            bytes: vec![0; bytes],
            initialised: vec![false; bytes],
            writes: vec![Record::default(); bytes],
            reads: vec![Record::default(); bytes],
            epoch: 1,
            buffers,
            bytes_stored: 0,
        }
    }

    /// Bytes of all stores so far, of all blocks.
    pub(super) fn bytes_stored(&self) -> u64 {
        self.bytes_stored
    }

    /// Makes it the memory of a new block.
    pub(super) fn start_block(&mut self) {
        self.epoch += 1;
        self.initialised.fill(false);
    }

    /// All warps of the block have passed a barrier.
    pub(super) fn pass_barrier(&mut self) {
        self.epoch += 1;
    }

    /// The bytes of an access, which must lie in the buffer of its pointer, or in one of all where that
    /// is not known.
    fn locate(
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

    pub(super) fn load(
        &mut self,
        address: u64,
        into: &mut [u8],
        buffer: Option<u32>,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        let range = self.locate(Direction::Load, address, into.len(), buffer)?;
        for at in range.clone() {
            let write = self.writes[at];
            if !who.follows(&write, self.epoch) {
                return Err(race(Direction::Load, at, Direction::Store, &write));
            }
            if !self.initialised[at] {
                return Err(FaultKind::Uninitialised { space: Space::Shared, address: at as u64 });
            }
            let read = &mut self.reads[at];
            if who.follows(read, self.epoch) {
                *read = who.record(self.epoch);
            } else {
                read.lane = if read.lane == who.lane { read.lane } else { SEVERAL_LANES };
                read.warp = if read.warp == who.warp { read.warp } else { SEVERAL_WARPS };
            }
        }
        into.copy_from_slice(&self.bytes[range]);
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        address: u64,
        from: &[u8],
        buffer: Option<u32>,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        let range = self.locate(Direction::Store, address, from.len(), buffer)?;
        self.bytes_stored += from.len() as u64;
        for (at, &byte) in range.zip(from) {
            let (write, read) = (self.writes[at], self.reads[at]);
            let mut record = who.record(self.epoch);
            if !who.follows(&write, self.epoch) {
                let same_operation = write.warp == who.warp && write.time == who.time;
                if !same_operation || self.bytes[at] != byte {
                    return Err(race(Direction::Store, at, Direction::Store, &write));
                }
                record.lane = SEVERAL_LANES;
            }
            if !who.follows(&read, self.epoch) {
                return Err(race(Direction::Store, at, Direction::Load, &read));
            }
            self.writes[at] = record;
            self.bytes[at] = byte;
            self.initialised[at] = true;
        }
        Ok(())
    }
}

fn race(direction: Direction, at: usize, earlier: Direction, record: &Record) -> FaultKind {
    let other = OtherAccess {
        operation: record.operation as usize,
        text: String::new(),
        direction: earlier,
        warp: (record.warp != SEVERAL_WARPS).then_some(u32::from(record.warp)),
        lane: (record.lane != SEVERAL_LANES).then_some(u32::from(record.lane)),
    };
    FaultKind::Race { direction, address: at as u64, other: Box::new(other) }
}
