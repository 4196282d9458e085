//! Atomic read-modify-write operations, executed lane after lane.

use super::access::{Addresses, Memories, aligned, global_load, transactions};
use super::arithmetic;
use super::fault::{FaultKind, LaneFault};
use super::memory::GlobalMemory;
use super::program::Atomic;
use super::shared::Accessor;
use tilewright_kernel::MemorySpace;
use tilewright_target::Direction;

/// Executes an atomic operation for the lanes of `active`. On global memory it counts as a load and a store of the
/// touched sectors. On shared memory it counts no wavefronts, since bank rows do not give the cost of its conflicts.
pub(super) fn atomic(
    one: &Atomic,
    lanes: usize,
    active: u64,
    registers: &mut [u64],
    memories: &mut Memories<'_>,
    accessor: &mut Accessor<'_>,
) -> Result<(), LaneFault> {
    let mut addresses: Addresses = [None; 64];
    let element_bytes = u64::from(one.element.bits() / 8);
    let bytes = element_bytes * one.count as u64;
    for lane in 0..lanes {
        let is_active = one.predicate.is_none_or(|predicate| registers[predicate + lane] != 0);
        if active >> lane & 1 == 0 || !is_active {
            (0..one.count).for_each(|element| registers[one.to + element * lanes + lane] = 0);
            continue;
        }
        let start = registers[one.pointer + lane];
        addresses[lane] = Some(start);
        accessor.lane = lane as u8;
        let fault = |kind| LaneFault { lane: Some(lane as u32), kind };
        aligned(Direction::Load, one.space, start, bytes as u32).map_err(fault)?;
        for element in 0..one.count {
            let (at, address) = (element * lanes + lane, start + element as u64 * element_bytes);
            let expected = one.expected.map(|expected| registers[expected + at]);
            let old = changed(one, address, (expected, registers[one.value + at]), memories, accessor);
            registers[one.to + at] = old.map_err(fault)?;
        }
    }
    if one.space == MemorySpace::Global {
        let sectors = transactions(&addresses[..lanes], bytes, memories.transaction_bytes);
        memories.transactions.loaded += sectors;
        memories.transactions.stored += sectors;
    }
    Ok(())
}

/// Loads the word of an atomic operation; returns the number of its bytes that are in the buffer. An atomic operation
/// on a narrow element accesses the whole word that contains the element, which may end after the buffer, because
/// allocators give whole words. Bytes after the end of the buffer are zero.
fn load_word(address: u64, word: &mut [u8], memory: &GlobalMemory) -> Result<usize, FaultKind> {
    let width = word.len() as u32;
    let (present, absent) = word.split_at_mut(memory.present_bytes(address, word.len()));
    absent.fill(0);
    match present.len() {
        0 => global_load(address, word, width, memory).map(|()| word.len()),
        bytes => {
            aligned(Direction::Load, MemorySpace::Global, address, width)?;
            global_load(address, present, 1, memory).map(|()| bytes)
        }
    }
}

/// Executes an atomic operation for one lane: computes the new value from the operand `value` and writes it to memory;
/// returns the old value. With `expected`, the operation is a compare-exchange.
fn changed(
    one: &Atomic,
    address: u64,
    (expected, value): (Option<u64>, u64),
    memories: &mut Memories<'_>,
    accessor: &Accessor<'_>,
) -> Result<u64, FaultKind> {
    let width = one.element.bits() / 8;
    let mut bytes = [0u8; 8];
    let bytes = &mut bytes[..width as usize];
    let mut present = bytes.len();
    match one.space {
        MemorySpace::Global => {
            present = load_word(address, bytes, memories.global)?;
            if let Some(races) = &mut memories.races {
                races.note_atomic(address);
            }
        }
        MemorySpace::Shared | MemorySpace::Cluster => {
            aligned(Direction::Load, MemorySpace::Shared, address, width)?;
            memories.block_shared(accessor)?.atomic_load(address, bytes, one.buffer, accessor)?;
        }
    }
    let old = bytes.iter().rev().fold(0, |packed, &byte| packed << 8 | u64::from(byte));
    let new = match expected {
        Some(expected) if expected != old => old,
        Some(_) => value,
        None => arithmetic::atomic(one.op, one.element, old, value),
    };
    bytes.copy_from_slice(&new.to_le_bytes()[..width as usize]);
    match one.space {
        MemorySpace::Global => {
            let (direction, space) = (Direction::Store, MemorySpace::Global);
            let outside =
                |expected| FaultKind::OutOfBounds { direction, space, address, bytes: u64::from(width), expected };
            // The operation must not change the bytes after the end of the buffer, which are zero here: if it does, the
            // store of the whole word reports the fault.
            let written = if bytes[present..].iter().all(|&byte| byte == 0) { &bytes[..present] } else { &*bytes };
            memories.global.store(address, written).map_err(outside)?;
        }
        MemorySpace::Shared | MemorySpace::Cluster => {
            memories.block_shared(accessor)?.atomic_store(address, bytes, accessor)
        }
    }
    Ok(old)
}
