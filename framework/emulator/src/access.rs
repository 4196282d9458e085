//! Loads and stores of one warp to global, shared and cluster memory.

use super::arithmetic::mask;
use super::fault::{FaultKind, LaneFault};
use super::global_races::{BufferRange, GlobalRaces};
use super::mapped_tensor::Tensor;
use super::memory::GlobalMemory;
use super::program::Access;
use super::shared::{Accessor, SharedMemory};
use super::tensor_memory::TensorMemory;
use std::collections::BTreeSet;

use tilewright_kernel::{Counts, MemorySpace};
use tilewright_target::{BankTableEntry, Direction, count_access_wavefronts};

/// Maximum number of bytes of one lane's access: 64 elements of 8 bytes.
const WIDEST: usize = 512;

/// Mask of the bits of a cluster-memory pointer that are the address within the block's shared memory.
const ADDRESS: u64 = (1 << BLOCK_SHIFT) - 1;

/// Lowest bit of the block index in a cluster-memory pointer.
pub(super) const BLOCK_SHIFT: u32 = 32;

/// Counts of the sectors of global memory that the accesses of a run have loaded, stored or prefetched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Transactions {
    pub(super) loaded: u64,
    pub(super) stored: u64,
    /// Indices of the prefetched sectors: address divided by the size of a sector.
    pub(super) prefetched: BTreeSet<u64>,
}

/// The memories that one access of a warp can reach, one field for each kind of memory, with the counts and the record
/// of accesses that it updates.
pub(super) struct Memories<'a> {
    pub(super) global: &'a mut GlobalMemory,
    /// Shared memory of each block of the cluster.
    pub(super) shared: &'a mut [SharedMemory],
    /// For each tensor-map parameter, by index, the tensor bound to it.
    pub(super) tensors: &'a [Option<Tensor>],
    /// Tensor memory of the accessor's block.
    pub(super) tensor: &'a mut TensorMemory,
    pub(super) transaction_bytes: u64,
    pub(super) transactions: &'a mut Transactions,
    /// The record of accesses of global memory, from which races are detected; `None` if the run does not detect races
    /// of global memory.
    pub(super) races: Option<&'a mut GlobalRaces>,
}

impl Memories<'_> {
    /// Returns the shared memory of the accessor's block.
    pub(super) fn block_shared(&mut self, who: &Accessor<'_>) -> Result<&mut SharedMemory, FaultKind> {
        let address = 0;
        let expected = || format!("there is no block {} in the cluster", who.block);
        self.shared.get_mut(usize::from(who.block)).ok_or_else(|| FaultKind::OutOfBounds {
            direction: Direction::Load,
            space: MemorySpace::Shared,
            address,
            bytes: 0,
            expected: expected(),
        })
    }
}

impl Memories<'_> {
    /// Checks a plain access of global memory for races, if races are detected, and records it. A store that leaves all
    /// bytes as they are counts as no access.
    pub(super) fn check_global_race(
        &mut self,
        direction: Direction,
        address: u64,
        contents: &[u8],
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        if self.races.is_none() {
            return Ok(());
        }
        // An access out of bounds needs no check here: its execution reports the fault.
        let Some(range) = self.global.range(address, contents.len()) else { return Ok(()) };
        self.check_race_in(direction, range, contents, who)
    }

    /// As [`Memories::check_global_race`], for an access of a range; a load needs no `contents`.
    fn check_race_in(
        &mut self,
        direction: Direction,
        range: BufferRange,
        contents: &[u8],
        who: &Accessor<'_>,
    ) -> Result<(), FaultKind> {
        let Some(races) = self.races.as_deref_mut() else { return Ok(()) };
        if direction == Direction::Store && self.global.holds_bytes(range, contents) {
            return Ok(());
        }
        races.access(direction, range, who)
    }
}

/// The address of each lane; `None` for lanes that do not take part in the access.
pub(super) type Addresses = [Option<u64>; 64];

/// Executes one load or store for the lanes in the mask `active` whose predicate is true, and counts its sectors or
/// wavefronts. A load gives the other lanes the step's `other` value, or zero.
pub(super) fn access(
    access: &Access<'_>,
    lanes: usize,
    active: u64,
    registers: &mut [u64],
    memories: &mut Memories<'_>,
    counts: &mut Counts,
    accessor: &mut Accessor<'_>,
) -> Result<(), LaneFault> {
    let bytes = access.element_bytes * access.count;
    let mut addresses: Addresses = [None; 64];
    let mut buffer = [0u8; WIDEST];
    let buffer = &mut buffer[..bytes];
    if let Some(range) = contiguous(access, lanes, active, registers, memories.global) {
        return contiguous_access(access, lanes, range, registers, memories, accessor);
    }
    for lane in 0..lanes {
        let is_active = access.predicate.is_none_or(|predicate| registers[predicate + lane] != 0);
        if active >> lane & 1 == 0 || !is_active {
            if access.direction == Direction::Load {
                for at in (0..access.count).map(|element| element * lanes + lane) {
                    registers[access.value + at] = access.other.map_or(0, |other| registers[other + at]);
                }
            }
            continue;
        }
        let address = effective(access, registers[access.pointer + lane]);
        addresses[lane] = Some(address);
        accessor.lane = lane as u8;
        if access.direction == Direction::Store {
            gather(access, lanes, lane, registers, buffer);
        }
        transfer(access, address, buffer, memories, accessor)
            .map_err(|kind| LaneFault { lane: Some(lane as u32), kind })?;
        if access.direction == Direction::Load {
            scatter(access, lanes, lane, registers, buffer);
        }
    }
    count(access, &addresses[..lanes], memories, counts)
}

/// Returns the range of global memory that the lanes access if all of them access neighbouring, aligned and initialised
/// bytes of one buffer in order, so that one access of the range replaces theirs.
fn contiguous(
    access: &Access<'_>,
    lanes: usize,
    active: u64,
    registers: &[u64],
    memory: &GlobalMemory,
) -> Option<BufferRange> {
    let bytes = access.element_bytes * access.count;
    if access.space != MemorySpace::Global
        || active != mask(lanes as u32)
        || !bytes.is_multiple_of(access.alignment as usize)
    {
        return None;
    }
    let pointers = &registers[access.pointer..access.pointer + lanes];
    let first = effective(access, pointers[0]);
    let is_next = |pair: &[u64]| pair[1].wrapping_sub(pair[0]) == bytes as u64;
    let is_active = |predicate: usize| registers[predicate..predicate + lanes].iter().all(|&predicate| predicate != 0);
    let is_contiguous = first.is_multiple_of(access.alignment.into())
        && pointers.windows(2).all(is_next)
        && access.predicate.is_none_or(is_active);
    let range = is_contiguous.then(|| memory.range(first, bytes * lanes)).flatten()?;
    (access.direction == Direction::Store || memory.is_initialised(range)).then_some(range)
}

/// Executes the access of a [`contiguous`] range, and counts its sectors.
fn contiguous_access(
    access: &Access<'_>,
    lanes: usize,
    range: BufferRange,
    registers: &mut [u64],
    memories: &mut Memories<'_>,
    accessor: &mut Accessor<'_>,
) -> Result<(), LaneFault> {
    let bytes = access.element_bytes * access.count;
    let mut buffer = [0u8; WIDEST];
    let buffer = &mut buffer[..bytes];
    for lane in 0..lanes {
        let offset = range.offset + lane * bytes;
        let lane_range = BufferRange { offset, bytes, address: range.address + (lane * bytes) as u64, ..range };
        accessor.lane = lane as u8;
        if access.direction == Direction::Store {
            gather(access, lanes, lane, registers, buffer);
        }
        let located = |kind| LaneFault { lane: Some(lane as u32), kind };
        memories.check_race_in(access.direction, lane_range, buffer, accessor).map_err(located)?;
        match access.direction {
            Direction::Load => scatter(access, lanes, lane, registers, memories.global.contents(lane_range)),
            Direction::Store => memories.global.store_in(lane_range, buffer),
        }
    }
    let sector_bytes = memories.transaction_bytes;
    let end = range.address + range.bytes as u64;
    let sectors = end.div_ceil(sector_bytes) - range.address / sector_bytes;
    match access.direction {
        Direction::Load => memories.transactions.loaded += sectors,
        Direction::Store => memories.transactions.stored += sectors,
    }
    Ok(())
}

/// Returns the effective address of an access: the pointer plus the constant offset. A negative address wraps to a high
/// one, which is out of bounds; the block index of a cluster address is kept.
fn effective(access: &Access<'_>, pointer: u64) -> u64 {
    let offset = i64::from(access.offset) as u64;
    match access.space {
        MemorySpace::Cluster => pointer & !ADDRESS | pointer.wrapping_add(offset) & ADDRESS,
        MemorySpace::Global | MemorySpace::Shared => pointer.wrapping_add(offset),
    }
}

/// Copies the elements that a lane stores from its registers to `buffer`, in little-endian order.
fn gather(access: &Access<'_>, lanes: usize, lane: usize, registers: &[u64], buffer: &mut [u8]) {
    for (element, bytes) in buffer.chunks_exact_mut(access.element_bytes).enumerate() {
        let bits = registers[access.value + element * lanes + lane].to_le_bytes();
        bytes.copy_from_slice(&bits[..access.element_bytes]);
    }
}

/// Copies the elements that a lane has loaded from `buffer` to its registers, zero-extended to 64 bits.
fn scatter(access: &Access<'_>, lanes: usize, lane: usize, registers: &mut [u64], buffer: &[u8]) {
    for (element, bytes) in buffer.chunks_exact(access.element_bytes).enumerate() {
        let mut bits = [0; 8];
        bits[..access.element_bytes].copy_from_slice(bytes);
        registers[access.value + element * lanes + lane] = u64::from_le_bytes(bits);
    }
}

/// Executes one lane's load into `buffer`, or its store of the bytes in `buffer`, at an address of the access's memory
/// space.
fn transfer(
    access: &Access<'_>,
    address: u64,
    buffer: &mut [u8],
    memories: &mut Memories<'_>,
    accessor: &Accessor<'_>,
) -> Result<(), FaultKind> {
    let Access { direction, alignment, buffer: origin, .. } = *access;
    match access.space {
        MemorySpace::Shared => shared_transfer(direction, address, buffer, alignment, origin, memories, accessor),
        MemorySpace::Cluster => {
            let (block, address) = (address >> BLOCK_SHIFT, address & ADDRESS);
            block_transfer(direction, (block, address), buffer, alignment, origin, memories, accessor)
                .map_err(|kind| kind.in_cluster(block))
        }
        MemorySpace::Global => global_transfer(access, address, buffer, memories, accessor),
    }
}

/// Executes one lane's access of the shared memory of its own block; `origin` is the index of the shared buffer that
/// must contain the access, if known.
pub(super) fn shared_transfer(
    direction: Direction,
    address: u64,
    buffer: &mut [u8],
    alignment: u32,
    origin: Option<u32>,
    memories: &mut Memories<'_>,
    accessor: &Accessor<'_>,
) -> Result<(), FaultKind> {
    let block = u64::from(accessor.block);
    block_transfer(direction, (block, address), buffer, alignment, origin, memories, accessor)
}

/// Executes one lane's access at `address` of the shared memory of block `block` of the cluster; `origin` is the index
/// of the shared buffer that must contain the access, if known.
fn block_transfer(
    direction: Direction,
    (block, address): (u64, u64),
    buffer: &mut [u8],
    alignment: u32,
    origin: Option<u32>,
    memories: &mut Memories<'_>,
    accessor: &Accessor<'_>,
) -> Result<(), FaultKind> {
    aligned(direction, MemorySpace::Shared, address, alignment)?;
    let blocks = memories.shared.len();
    let memory = usize::try_from(block).ok().and_then(|block| memories.shared.get_mut(block));
    let memory = memory.ok_or_else(|| FaultKind::OutOfBounds {
        direction,
        space: MemorySpace::Shared,
        address,
        bytes: buffer.len() as u64,
        expected: format!("there is no block {block} in a cluster of {blocks}"),
    })?;
    match direction {
        Direction::Load => memory.load(address, buffer, origin, accessor),
        Direction::Store => memory.store(address, buffer, origin, accessor),
    }
}

pub(super) fn aligned(direction: Direction, space: MemorySpace, address: u64, alignment: u32) -> Result<(), FaultKind> {
    let alignment = u64::from(alignment);
    if address.is_multiple_of(alignment) {
        Ok(())
    } else {
        Err(FaultKind::Misaligned { direction, space, address, alignment })
    }
}

fn global_transfer(
    access: &Access<'_>,
    address: u64,
    buffer: &mut [u8],
    memories: &mut Memories<'_>,
    accessor: &Accessor<'_>,
) -> Result<(), FaultKind> {
    match access.direction {
        Direction::Load => {
            global_load(address, buffer, access.alignment, memories.global)?;
            memories.check_global_race(Direction::Load, address, buffer, accessor)
        }
        Direction::Store => {
            let (direction, space, bytes) = (Direction::Store, MemorySpace::Global, buffer.len() as u64);
            aligned(direction, space, address, access.alignment)?;
            memories.check_global_race(Direction::Store, address, buffer, accessor)?;
            let outside = |expected| FaultKind::OutOfBounds { direction, space, address, bytes, expected };
            memories.global.store(address, buffer).map_err(outside)
        }
    }
}

/// Loads the bytes from `address` on in global memory into `buffer`, for one lane; a fault if the address is
/// misaligned, or bytes are out of bounds or uninitialised.
pub(super) fn global_load(
    address: u64,
    buffer: &mut [u8],
    alignment: u32,
    memory: &GlobalMemory,
) -> Result<(), FaultKind> {
    let (direction, space, bytes) = (Direction::Load, MemorySpace::Global, buffer.len() as u64);
    aligned(direction, space, address, alignment)?;
    memory.load(address, buffer).map_err(|fault| match fault {
        Ok(at) => FaultKind::Uninitialised { space, address: address + at },
        Err(expected) => FaultKind::OutOfBounds { direction, space, address, bytes, expected },
    })
}

fn count(
    access: &Access<'_>,
    addresses: &[Option<u64>],
    memories: &mut Memories<'_>,
    counts: &mut Counts,
) -> Result<(), LaneFault> {
    let bytes = (access.element_bytes * access.count) as u32;
    match access.space {
        MemorySpace::Shared | MemorySpace::Cluster => {
            let row = access.row.ok_or(FaultKind::NoBankRow {
                direction: access.direction,
                bits: 8 * bytes,
                instruction: None,
            })?;
            let operations = match access.direction {
                Direction::Load => &mut counts.shared_loads,
                Direction::Store => &mut counts.shared_stores,
            };
            *operations += 1;
            for_each_block(access.space, addresses, |addresses| {
                count_wavefronts(access.direction, row, addresses, bytes, counts);
            });
        }
        MemorySpace::Global => {
            let sectors = transactions(addresses, u64::from(bytes), memories.transaction_bytes);
            match access.direction {
                Direction::Load => memories.transactions.loaded += sectors,
                Direction::Store => memories.transactions.stored += sectors,
            }
        }
    }
    Ok(())
}

/// Calls `act` once for each block whose shared memory the lanes access, with `None` in place of the addresses in other
/// blocks: a shared-memory wavefront covers one memory. Calls `act` just once for other address spaces.
fn for_each_block(space: MemorySpace, addresses: &[Option<u64>], mut act: impl FnMut(&[Option<u64>])) {
    if space != MemorySpace::Cluster {
        return act(addresses);
    }
    let block = |address: &u64| address >> BLOCK_SHIFT;
    let mut blocks: Vec<u64> = addresses.iter().flatten().map(block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    for of in blocks {
        let there: Vec<_> = addresses.iter().map(|one| one.filter(|address| block(address) == of)).collect();
        act(&there);
    }
}

/// Adds the wavefronts of one shared-memory access to `counts`; each lane accesses `bytes` bytes at its address.
pub(super) fn count_wavefronts(
    direction: Direction,
    row: &BankTableEntry,
    addresses: &[Option<u64>],
    bytes: u32,
    counts: &mut Counts,
) {
    let count = count_access_wavefronts(row, addresses, bytes);
    match direction {
        Direction::Load => counts.wavefronts_loaded += count,
        Direction::Store => counts.wavefronts_stored += count,
    }
}

/// Counts the distinct sectors of global memory (`sector_bytes` bytes each) that the lanes touch; each lane accesses
/// `bytes` bytes.
pub(super) fn transactions(addresses: &[Option<u64>], bytes: u64, sector_bytes: u64) -> u64 {
    let (mut count, mut last, mut end) = (0, 0, 0);
    for &address in addresses.iter().flatten() {
        let (first, behind) = (address / sector_bytes, (address + bytes).div_ceil(sector_bytes));
        if first < last {
            return unsorted_transactions(addresses, bytes, sector_bytes);
        }
        // The lanes' sectors are in ascending order so far, so all of these sectors below `end` have been counted.
        count += behind.saturating_sub(first.max(end));
        (last, end) = (first, end.max(behind));
    }
    count
}

/// Counts the same sectors as [`transactions`], for addresses in any order.
fn unsorted_transactions(addresses: &[Option<u64>], bytes: u64, sector_bytes: u64) -> u64 {
    let mut sectors: Vec<u64> = addresses
        .iter()
        .flatten()
        .flat_map(|&address| address / sector_bytes..(address + bytes).div_ceil(sector_bytes))
        .collect();
    sectors.sort_unstable();
    sectors.dedup();
    sectors.len() as u64
}
