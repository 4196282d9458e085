//! Races in global memory: accesses of one address by two programs (clusters of the launch), or by two warps of one
//! program, that nothing orders.
//!
//! Programs of a launch are unordered, except by atomic operations: a program that accesses an address after an atomic
//! operation of another one is ordered after that program and all earlier ones. The check never reports ordered
//! accesses, and may miss races. A store that changes nothing does not race: programs may store the same value. Nor does
//! a load that another warp of the program has done before the store, as the same access in program order, if nothing
//! observes the value that it gets: both warps have replicas of one element of a tensor, and only one stores it.

use std::collections::{HashMap, HashSet};

use super::fault::FaultKind;
use super::observed::find_observed_loads;
use super::shared::{Accessor, Record, describe_in_block};
use tilewright_kernel::Kernel;
use tilewright_target::Direction;

/// Initial size of a buffer's granules in bytes; an access of smaller size or alignment splits them. Accesses are
/// recorded for each granule.
const WIDEST_GRANULE: usize = 16;

/// Index in [`GlobalRaces::events`] that stands for no access.
const NONE: u32 = 0;

/// Bit of a granule's reader that is set if several programs have read the granule.
const SEVERAL: u32 = 1 << 31;

/// A recorded access of global memory by a warp.
#[derive(Clone, Copy)]
struct Event {
    /// Number of the program (cluster of blocks) in order of start, from one; 0 in the entry that stands for no access.
    program: u32,
    record: Record,
}

/// The latest write and the latest read of the bytes of one granule, as indices in [`GlobalRaces::events`]; the read
/// may have the bit [`SEVERAL`].
#[derive(Clone, Copy, Default)]
struct Granule {
    write: u32,
    read: u32,
    /// The other reads by the program of `read`, as an index in [`GlobalRaces::reads`].
    reads: u32,
}

/// A read of a granule that is not the latest one, and the index in [`GlobalRaces::reads`] of those before it.
#[derive(Clone, Copy, Default)]
struct EarlierRead {
    event: u32,
    before: u32,
}

impl Granule {
    /// Iterates over all reads by the program of the latest one, from the latest on, given the lists of all granules.
    fn reads<'a>(&self, lists: &'a [EarlierRead]) -> impl Iterator<Item = u32> + 'a {
        let earlier = |at: u32| lists.get(at as usize).filter(move |_| at != NONE).copied();
        let earlier = std::iter::successors(earlier(self.reads), move |read| earlier(read.before));
        std::iter::once(self.read & !SEVERAL).chain(earlier.map(|read| read.event))
    }

    /// Returns the latest read, if there is one.
    fn latest_read(&self) -> Option<u32> {
        (self.read != NONE).then_some(self.read)
    }

    /// Records a write; `is_own` if the latest read is by the same program.
    fn note_write(&mut self, event: u32, is_own: bool) {
        self.write = event;
        if !is_own {
            (self.read, self.reads) = (NONE, NONE);
        }
    }

    /// Records a read by the program of the latest read. Unless both are alike, the latest one is added to the lists.
    fn note_own_read(&mut self, event: u32, is_alike: bool, lists: &mut Vec<EarlierRead>) {
        if !is_alike {
            lists.push(EarlierRead { event: self.read & !SEVERAL, before: self.reads });
            self.reads = lists.len() as u32 - 1;
        }
        self.read = event | self.read & SEVERAL;
    }
}

/// Number of bytes of a buffer whose accesses are recorded together.
const PAGE_BYTES: usize = 4096;

/// The recorded accesses of one page of a buffer: one [`Granule`] for every `granule_bytes` bytes.
struct Page {
    granule_bytes: usize,
    granules: Vec<Granule>,
}

impl Page {
    fn new() -> Self {
        Self { granule_bytes: WIDEST_GRANULE, granules: vec![Granule::default(); PAGE_BYTES / WIDEST_GRANULE] }
    }

    /// Returns the granules of the `bytes` bytes from `offset` on; splits all granules of the page first if these
    /// bytes are not whole granules.
    fn granules(&mut self, offset: usize, bytes: usize) -> &mut [Granule] {
        let alignment = 1 << (offset | bytes | WIDEST_GRANULE).trailing_zeros();
        if alignment < self.granule_bytes {
            let parts = self.granule_bytes / alignment;
            self.granules = self.granules.iter().flat_map(|granule| std::iter::repeat_n(*granule, parts)).collect();
            self.granule_bytes = alignment;
        }
        let first = offset / self.granule_bytes;
        &mut self.granules[first..first + bytes / self.granule_bytes]
    }
}

/// The recorded accesses of one buffer, by page; `None` before the first access of a page.
struct BufferRecord {
    pages: Vec<Option<Page>>,
}

impl BufferRecord {
    fn new(bytes: usize) -> Self {
        Self { pages: std::iter::repeat_with(|| None).take(bytes.div_ceil(PAGE_BYTES)).collect() }
    }

    /// Iterates over the granules of the `bytes` bytes from `offset` on.
    fn granules(&mut self, offset: usize, bytes: usize) -> impl Iterator<Item = &mut Granule> {
        let (first, end) = (offset / PAGE_BYTES, offset + bytes);
        let pages = self.pages[first..end.div_ceil(PAGE_BYTES)].iter_mut().enumerate();
        pages.flat_map(move |(index, page)| {
            let start = (first + index) * PAGE_BYTES;
            let from = offset.max(start);
            page.get_or_insert_with(Page::new).granules(from - start, end.min(start + PAGE_BYTES) - from)
        })
    }
}

/// The bytes of one access of global memory, all in one buffer.
#[derive(Clone, Copy)]
pub(super) struct BufferRange {
    pub(super) buffer: usize,
    pub(super) offset: usize,
    pub(super) bytes: usize,
    /// Size of the whole buffer in bytes.
    pub(super) size: usize,
    /// Global-memory address of the first byte.
    pub(super) address: u64,
}

/// The record of all accesses of global memory of a launch, from which races are detected.
#[derive(Default)]
pub(super) struct GlobalRaces {
    /// The records of the buffers, by index; `None` before the first access.
    buffers: Vec<Option<BufferRecord>>,
    /// All recorded accesses; the entry at [`NONE`] stands for no access.
    events: Vec<Event>,
    /// The lists of reads of all granules; the entry at [`NONE`] stands for the end of a list.
    reads: Vec<EarlierRead>,
    /// The operations whose loaded values something observes, other than a store with a predicate.
    observed: HashSet<u32>,
    /// For each address of an atomic operation, the last program that executed one there.
    atomics: HashMap<u64, u32>,
    /// Number of the running program, in order of start, from one.
    program: u32,
    /// Number of the last program whose accesses are ordered before the next ones of the running program; 0 if there is
    /// none.
    known: u32,
}

impl GlobalRaces {
    pub(super) fn new(kernel: &Kernel) -> Self {
        Self { observed: find_observed_loads(kernel), ..Self::default() }
    }

    /// Starts or resumes a program; `known` is the value of [`Self::known`] when it was suspended, or 0.
    pub(super) fn enter(&mut self, program: u32, known: u32) {
        (self.program, self.known) = (program, known);
    }

    /// Returns the number of the last program whose accesses are ordered before the next ones of the running program.
    pub(super) fn known(&self) -> u32 {
        self.known
    }

    /// Records an atomic operation of the running program at an address: the program's next accesses are ordered after
    /// those of the last program that executed an atomic operation there.
    pub(super) fn note_atomic(&mut self, address: u64) {
        let last = self.atomics.insert(address, self.program).unwrap_or(0);
        self.known = self.known.max(last);
    }

    /// Records a plain access of the running program; returns a fault if it races with a recorded one. The caller
    /// leaves out stores that change nothing.
    pub(super) fn access(
        &mut self,
        direction: Direction,
        range: BufferRange,
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        if !self.atomics.is_empty()
            && let Some(&last) = self.atomics.get(&range.address)
        {
            // Programs poll the address of an atomic operation by plain loads, and release it by plain stores.
            self.known = self.known.max(last);
            return Ok(());
        }
        let event = self.event(who);
        let Self { buffers, events, reads, observed, program, known, .. } = self;
        if buffers.len() <= range.buffer {
            buffers.resize_with(range.buffer + 1, || None);
        }
        let record = buffers[range.buffer].get_or_insert_with(|| BufferRecord::new(range.size));
        let unordered = |number: u32| {
            let Event { program: other, record } = events[(number & !SEVERAL) as usize];
            let is_ordered = match other == *program {
                true => record.precedes_in_warp(who) || who.follows(&record),
                false => other <= *known,
            };
            // If several programs have read the granule, one of them is not the running program. Its read counts as
            // unordered unless some atomic operation has ordered other programs before the running one.
            let is_ordered = is_ordered && (number & SEVERAL == 0 || *known > 0);
            (!is_ordered).then_some((record, other == *program))
        };
        for granule in record.granules(range.offset, range.bytes) {
            let is_own = events[(granule.read & !SEVERAL) as usize].program == *program;
            if granule.write != NONE
                && let Some(other) = unordered(granule.write)
            {
                let is_replica = |event: u32| event < granule.write && events[event as usize].record.is_alike(who);
                let may_differ = direction == Direction::Load && !observed.contains(&who.operation);
                if may_differ && other.1 && is_own && granule.reads(reads).any(is_replica) {
                    continue;
                }
                return Err(race(direction, Direction::Store, range.address, other));
            }
            match direction {
                Direction::Store => {
                    if let Some(other) = granule.latest_read().and_then(unordered) {
                        return Err(race(direction, Direction::Load, range.address, other));
                    }
                    granule.note_write(event, is_own);
                }
                Direction::Load if is_own => {
                    let is_alike = events[(granule.read & !SEVERAL) as usize].record.is_alike(who);
                    granule.note_own_read(event, is_alike, reads);
                }
                // Reads that are ordered before this one are ordered before all accesses that this one is.
                Direction::Load if granule.latest_read().and_then(unordered).is_none() => {
                    (granule.read, granule.reads) = (event, NONE);
                }
                Direction::Load => granule.read |= SEVERAL,
            }
        }
        Ok(())
    }

    /// Returns the index in [`GlobalRaces::events`] of a warp's access, given the access of one of its lanes; adds the
    /// event for the first of these lanes.
    fn event(&mut self, who: &Accessor<'_>) -> u32 {
        let record = who.record();
        if self.events.is_empty() {
            self.events.push(Event { program: 0, record: Record::default() });
            self.reads.push(EarlierRead::default());
        }
        let same = self.events.last().is_some_and(|last| last.program == self.program && last.record.is_of(&record));
        if !same {
            self.events.push(Event { program: self.program, record });
        }
        self.events.len() as u32 - 1
    }
}

fn race(direction: Direction, earlier: Direction, address: u64, (record, same_program): (Record, bool)) -> FaultKind {
    let other = Box::new(describe_in_block(earlier, &record));
    FaultKind::GlobalRace { direction, address, other, same_program }
}
