//! Shared memory of a block: bytes, who accessed them last, and what is under way to them.

use std::collections::{BTreeMap, VecDeque};

use tilewright_target::Direction;

use super::in_flight::{Arriving, Mbarrier};
use super::{DeviceFaultKind, PtxSpace};

/// Who accesses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accessor {
    pub(crate) warp: u8,
    pub(crate) lane: u8,
    /// Barriers of the warp so far.
    pub(crate) epoch: u32,
    pub(crate) step: u32,
    pub(crate) atomic: bool,
}

/// An access that was made.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    /// Barriers of the block before it, and one; zero where there was no access.
    generation: u32,
    epoch: u32,
    step: u32,
    warp: u8,
    lane: u8,
    atomic: bool,
}

/// In the place of a number: several.
const SEVERAL: u8 = u8::MAX;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct State {
    is_written: bool,
    in_flight: bool,
    /// How many asynchronous operations read it.
    lent: u16,
    /// Part of an mbarrier.
    is_mbarrier: bool,
}

/// Shared memory of one block.
#[derive(Debug)]
pub(crate) struct Shared {
    bytes: Vec<u8>,
    state: Vec<State>,
    writes: Vec<Record>,
    reads: Vec<Record>,
    generation: u32,
    /// Whether warps order each other by other means than barriers of the whole block: then nothing is said of races
    /// between them.
    other_orders: bool,
    pub(super) mbarriers: BTreeMap<u64, Mbarrier>,
    /// Bulk copies that arrive at each mbarrier, the oldest first.
    pub(super) arriving: BTreeMap<u64, VecDeque<Arriving>>,
}

impl Shared {
    pub(super) fn new(bytes: usize) -> Self {
        Self {
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

    /// Memory of another block.
    pub(super) fn clear(&mut self) {
        self.state.fill(State::default());
        self.writes.fill(Record::default());
        self.reads.fill(Record::default());
        self.generation = 1;
        self.other_orders = false;
        self.mbarriers.clear();
        self.arriving.clear();
    }

    /// All warps have come to a barrier of the block.
    pub(super) fn ordered(&mut self) {
        self.generation += 1;
    }

    /// Some warps order each other.
    pub(crate) fn ordered_otherwise(&mut self) {
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
            self.is_free(at, who)?;
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

    /// Stores bytes; of those the undefined ones hold nothing afterwards.
    pub(crate) fn store(
        &mut self,
        address: u64,
        from: &[u8],
        is_defined: bool,
        who: &Accessor,
    ) -> Result<(), DeviceFaultKind> {
        let range = self.range(Direction::Store, address, from.len() as u64, who)?;
        for (at, &byte) in range.zip(from) {
            self.is_free(at, who)?;
            self.is_own(at, who)?;
            let write = self.writes[at];
            let is_same = write.warp == who.warp
                && write.step == who.step
                && write.epoch == who.epoch
                && self.bytes[at] == byte
                && self.state[at].is_written == is_defined;
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

    /// Bytes that an asynchronous copy writes some time: nobody may access them until it has landed.
    pub(super) fn send(&mut self, address: u64, bytes: u64, who: &Accessor) -> Result<(), DeviceFaultKind> {
        for at in self.range(Direction::Store, address, bytes, who)? {
            self.is_free(at, who)?;
            self.is_own(at, who)?;
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

    /// It has landed: as if the lane had stored it now.
    pub(super) fn land(&mut self, address: u64, from: &[u8], who: &Accessor) {
        for (at, &byte) in (address as usize..).zip(from) {
            self.bytes[at] = byte;
            self.state[at] = State { is_written: true, ..State::default() };
            self.writes[at] = self.record(who);
        }
    }

    /// Lends bytes to an asynchronous operation that reads them, or takes them back.
    pub(super) fn lend(&mut self, address: u64, bytes: u64, is_lent: bool) {
        let range = address as usize..(address + bytes) as usize;
        self.state.get_mut(range).unwrap_or_default().iter_mut().for_each(|state| {
            state.lent = if is_lent { state.lent.saturating_add(1) } else { state.lent.saturating_sub(1) };
        });
    }

    fn is_own(&self, at: usize, who: &Accessor) -> Result<(), DeviceFaultKind> {
        match self.state[at].lent {
            0 => Ok(()),
            _ => Err(DeviceFaultKind::Lent { address: at as u64, lane: who.lane.into() }),
        }
    }

    /// Makes eight bytes those of an mbarrier, or plain ones again.
    pub(super) fn reserve(&mut self, address: u64, is_mbarrier: bool, who: &Accessor) -> Result<(), DeviceFaultKind> {
        for at in self.range(Direction::Store, address, 8, who)? {
            self.state[at] = State { is_mbarrier, ..State::default() };
        }
        Ok(())
    }

    fn is_free(&self, at: usize, who: &Accessor) -> Result<(), DeviceFaultKind> {
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

    /// Whether nothing orders an earlier access and this one.
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
        let own = self.record(who);
        let before = &mut self.reads[at];
        if before.generation != own.generation {
            *before = own;
            return;
        }
        if before.warp != own.warp {
            before.warp = SEVERAL;
        }
        if before.lane != own.lane {
            before.lane = SEVERAL;
        }
        before.epoch = before.epoch.max(own.epoch);
        before.step = own.step;
        before.atomic &= own.atomic;
    }
}
