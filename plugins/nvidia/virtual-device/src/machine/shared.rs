//! Shared memory of a block: its bytes, the last accesses to each byte, and asynchronous operations on the bytes. It
//! detects races.

use std::collections::{BTreeMap, VecDeque};

use tilewright_target::Direction;

use super::in_flight::{Mbarrier, PendingBulkLoad};
use super::{DeviceFaultKind, PtxSpace};

/// The lane and the instruction that access shared memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accessor {
    pub(crate) warp: u8,
    pub(crate) lane: u8,
    /// Number of barriers that the accessing warp has passed before the access.
    pub(crate) epoch: u32,
    pub(crate) step: u32,
    pub(crate) atomic: bool,
}

/// The last load, or the last store, of one byte of shared memory.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    /// Number of barriers of the whole block before the access, plus one; zero if the byte was never accessed.
    generation: u32,
    epoch: u32,
    step: u32,
    warp: u8,
    lane: u8,
    atomic: bool,
}

/// Value of `warp` or `lane` in a [`Record`] that stands for accesses by several warps or lanes.
const SEVERAL: u8 = u8::MAX;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct State {
    is_written: bool,
    in_flight: bool,
    /// Number of asynchronous operations in flight that read the byte.
    async_reads: u16,
    /// Whether the byte belongs to an mbarrier.
    is_mbarrier: bool,
}

/// Shared memory of one block, with the state that detects races.
#[derive(Debug)]
pub(crate) struct Shared {
    bytes: Vec<u8>,
    state: Vec<State>,
    writes: Vec<Record>,
    reads: Vec<Record>,
    generation: u32,
    /// Whether warps have also synchronized by other means than barriers of the whole block. If true, races between
    /// warps are not reported, since the order of the accesses is unknown.
    other_orders: bool,
    /// Whether several lanes may store to the same address by one instruction without synchronization.
    replicated_stores: bool,
    pub(super) mbarriers: BTreeMap<u64, Mbarrier>,
    /// Bulk copies in flight by the address of the mbarrier at which they arrive, the oldest first.
    pub(super) arriving: BTreeMap<u64, VecDeque<PendingBulkLoad>>,
}

impl Shared {
    pub(super) fn new(bytes: usize, replicated_stores: bool) -> Self {
        Self {
            replicated_stores,
            bytes: vec![0; bytes],
            state: vec![State::default(); bytes],
            writes: vec![Record::default(); bytes],
            reads: vec![Record::default(); bytes],
            generation: 1,
            other_orders: false,
            mbarriers: BTreeMap::new(),
            arriving: BTreeMap::new(),
        }
    }

    /// Resets the shared memory for the next block of the grid.
    pub(super) fn clear(&mut self) {
        self.state.fill(State::default());
        self.writes.fill(Record::default());
        self.reads.fill(Record::default());
        self.generation = 1;
        self.other_orders = false;
        self.mbarriers.clear();
        self.arriving.clear();
    }

    /// Records a barrier of all warps of the block, which orders all earlier accesses before all later ones.
    pub(super) fn record_block_barrier(&mut self) {
        self.generation += 1;
    }

    /// Records a synchronization of only some warps of the block; from then on, races between warps are not reported.
    pub(crate) fn record_partial_barrier(&mut self) {
        self.other_orders = true;
    }

    fn range(
        &self,
        direction: Direction,
        address: u64,
        bytes: u64,
        who: &Accessor,
    ) -> Result<std::ops::Range<usize>, DeviceFaultKind> {
        let size = self.bytes.len() as u64;
        match address.checked_add(bytes).filter(|&end| end <= size) {
            Some(end) => Ok(address as usize..end as usize),
            None => Err(DeviceFaultKind::OutOfBounds {
                direction,
                space: PtxSpace::Shared,
                address,
                bytes,
                near: format!("the block has {size} bytes"),
                lane: who.lane.into(),
            }),
        }
    }

    pub(crate) fn load(&mut self, address: u64, into: &mut [u8], who: &Accessor) -> Result<(), DeviceFaultKind> {
        let range = self.range(Direction::Load, address, into.len() as u64, who)?;
        for at in range.clone() {
            self.check_accessible(at, who)?;
            if !self.state[at].is_written {
                return Err(DeviceFaultKind::Uninitialised {
                    space: PtxSpace::Shared,
                    address: at as u64,
                    lane: who.lane.into(),
                });
            }
            if self.races(&self.writes[at], who) {
                return Err(self.race(Direction::Load, at, Direction::Store, &self.writes[at], who));
            }
            self.note_read(at, who);
        }
        into.copy_from_slice(&self.bytes[range]);
        Ok(())
    }

    /// Stores bytes at an address for the lane `who`. If not `is_defined`, the bytes become uninitialized: a later load
    /// of them is a fault.
    pub(crate) fn store(
        &mut self,
        address: u64,
        from: &[u8],
        is_defined: bool,
        who: &Accessor,
    ) -> Result<(), DeviceFaultKind> {
        let range = self.range(Direction::Store, address, from.len() as u64, who)?;
        for (at, &byte) in range.zip(from) {
            self.check_accessible(at, who)?;
            self.check_not_being_read(at, who)?;
            let write = self.writes[at];
            let is_same = write.warp == who.warp
                && write.epoch == who.epoch
                && self.bytes[at] == byte
                && self.state[at].is_written == is_defined;
            let is_same = write.step == who.step && (is_same || self.replicated_stores);
            if !is_same && self.races(&write, who) {
                return Err(self.race(Direction::Store, at, Direction::Store, &write, who));
            }
            if self.races(&self.reads[at], who) {
                return Err(self.race(Direction::Store, at, Direction::Load, &self.reads[at], who));
            }
            self.bytes[at] = byte;
            self.state[at].is_written = is_defined;
            self.writes[at] = self.record(who);
        }
        Ok(())
    }

    /// Marks bytes as being written by an asynchronous copy of the lane `who`, so that any access before the copy
    /// completes is a fault.
    pub(super) fn send(&mut self, address: u64, bytes: u64, who: &Accessor) -> Result<(), DeviceFaultKind> {
        for at in self.range(Direction::Store, address, bytes, who)? {
            self.check_accessible(at, who)?;
            self.check_not_being_read(at, who)?;
            if self.races(&self.writes[at], who) {
                return Err(self.race(Direction::Store, at, Direction::Store, &self.writes[at], who));
            }
            if self.races(&self.reads[at], who) {
                return Err(self.race(Direction::Store, at, Direction::Load, &self.reads[at], who));
            }
            self.state[at].in_flight = true;
        }
        Ok(())
    }

    /// Completes an asynchronous copy: writes its data as a store by the lane `who` would.
    pub(super) fn land(&mut self, address: u64, from: &[u8], who: &Accessor) {
        for (at, &byte) in (address as usize..).zip(from) {
            self.bytes[at] = byte;
            self.state[at] = State { is_written: true, ..State::default() };
            self.writes[at] = self.record(who);
        }
    }

    /// Marks bytes as being read by an asynchronous operation if `begins`, or removes the mark when the operation has
    /// ended.
    pub(super) fn track_async_read(&mut self, address: u64, bytes: u64, begins: bool) {
        let range = address as usize..(address + bytes) as usize;
        self.state.get_mut(range).unwrap_or_default().iter_mut().for_each(|state| {
            state.async_reads =
                if begins { state.async_reads.saturating_add(1) } else { state.async_reads.saturating_sub(1) };
        });
    }

    fn check_not_being_read(&self, at: usize, who: &Accessor) -> Result<(), DeviceFaultKind> {
        match self.state[at].async_reads {
            0 => Ok(()),
            _ => Err(DeviceFaultKind::AsyncReadInFlight { address: at as u64, lane: who.lane.into() }),
        }
    }

    /// Makes the eight bytes at `address` an mbarrier if `is_mbarrier`; otherwise makes them plain uninitialized bytes.
    pub(super) fn reserve(&mut self, address: u64, is_mbarrier: bool, who: &Accessor) -> Result<(), DeviceFaultKind> {
        for at in self.range(Direction::Store, address, 8, who)? {
            self.state[at] = State { is_mbarrier, ..State::default() };
        }
        Ok(())
    }

    fn check_accessible(&self, at: usize, who: &Accessor) -> Result<(), DeviceFaultKind> {
        let state = self.state[at];
        if state.in_flight {
            return Err(DeviceFaultKind::InFlight { address: at as u64, lane: who.lane.into() });
        }
        if state.is_mbarrier {
            let message = "a plain access touches it".to_owned();
            return Err(DeviceFaultKind::Mbarrier { address: at as u64, message });
        }
        Ok(())
    }

    fn record(&self, who: &Accessor) -> Record {
        let Accessor { warp, lane, epoch, step, atomic } = *who;
        Record { generation: self.generation, epoch, step, warp, lane, atomic }
    }

    /// Whether no synchronization orders an earlier access before the access by `who`, so that they race.
    fn races(&self, earlier: &Record, who: &Accessor) -> bool {
        if earlier.generation != self.generation || earlier.atomic && who.atomic {
            return false;
        }
        if earlier.warp != who.warp {
            return !self.other_orders;
        }
        earlier.lane != who.lane && earlier.epoch >= who.epoch
    }

    fn race(
        &self,
        direction: Direction,
        at: usize,
        other: Direction,
        record: &Record,
        who: &Accessor,
    ) -> DeviceFaultKind {
        let one = |number: u8, what: &str| match number {
            SEVERAL => format!("several {what}s"),
            number => format!("{what} {number}"),
        };
        let other = format!("{other:?} by {} of {}", one(record.lane, "lane"), one(record.warp, "warp"));
        DeviceFaultKind::Race { direction, address: at as u64, other, lane: who.lane.into() }
    }

    fn note_read(&mut self, at: usize, who: &Accessor) {
        let access_record = self.record(who);
        let before = &mut self.reads[at];
        if before.generation != access_record.generation {
            *before = access_record;
            return;
        }
        if before.warp != access_record.warp {
            before.warp = SEVERAL;
        }
        if before.lane != access_record.lane {
            before.lane = SEVERAL;
        }
        before.epoch = before.epoch.max(access_record.epoch);
        before.step = access_record.step;
        before.atomic &= access_record.atomic;
    }
}
