//! Copies that lanes issue by one row: what each lane brings where, and what that takes.

use tilewright_kernel::{Counts, Queue};
use tilewright_layout::f2::{Columns, multiply};
use tilewright_layout::{MemoryLayout, Padding};
use tilewright_target::{Direction, TargetDescription, wavefronts};

use super::row::{CopyRow, Role};
use crate::movement::tile::Located;

/// A copy by one row: what each lane brings where.
#[derive(Debug, Clone)]
pub(super) struct Issued {
    pub(super) name: String,
    pub(super) queue: Queue,
    pub(super) roles: Vec<Role>,
    /// Bytes of a lane.
    pub(super) bytes: u64,
    pub(super) alignment: u64,
    pub(super) element_bytes: u64,
    pub(super) lane_bits: u32,
    /// For each bit of the thread where its slot's address goes, in elements.
    pub(super) threads: Columns,
    /// For each copy its first register, and where that goes, in elements.
    pub(super) groups: Vec<(usize, u64)>,
    /// Threads with one of these bits set have nothing to bring; all lanes of a warp alike.
    pub(super) idle: u64,
    pub(super) padding: Vec<Padding>,
}

/// The copy of groups of registers, whose elements lie together in global memory, each to where `side` says; what a warp
/// executes of it.
pub(super) fn issued(
    row: &CopyRow<'_>,
    registers: &[Vec<usize>],
    side: &Located,
    memory: &MemoryLayout,
    target: &TargetDescription,
) -> Result<(Issued, Counts), String> {
    let groups = groups(registers, side)?;
    let element_bytes = u64::from(side.element.bits() / 8);
    let threads = addresses(row, side, memory, element_bytes)?;
    let issued = Issued {
        name: row.name.to_owned(),
        queue: row.queue,
        roles: row.roles.clone(),
        bytes: row.bytes.into(),
        alignment: row.alignment[1].into(),
        element_bytes,
        lane_bits: side.lane_bits,
        threads,
        groups,
        idle: side.idle,
        padding: memory.padding.clone(),
    };
    let counts = issued.counts(side, target)?;
    Ok((issued, counts))
}

/// The first register of each copy and where it goes; what a lane brings must lie together in both memories.
fn groups(registers: &[Vec<usize>], side: &Located) -> Result<Vec<(usize, u64)>, String> {
    let apart = || "what a lane brings does not lie together in shared memory".to_owned();
    let group = |registers: &Vec<usize>| {
        let place = |register: usize| multiply(&side.registers, register as u64);
        let first = place(*registers.first().ok_or_else(apart)?);
        // So it begins at a multiple of its width too: else two elements would have one place.
        let together = (0..).zip(registers).all(|(element, &register)| place(register) == first | element);
        if together { Ok((registers[0], first)) } else { Err(apart()) }
    };
    registers.iter().map(group).collect()
}

/// For each thread bit what it adds to the address of a slot, in elements: nothing where the row itself moves the lane
/// within its slot.
fn addresses(row: &CopyRow<'_>, side: &Located, memory: &MemoryLayout, element_bytes: u64) -> Result<Columns, String> {
    let slot = (row.slot_bytes() / element_bytes).max(1);
    let mut threads = Columns::new();
    let mut within = 0;
    for (bit, &column) in side.threads.iter().enumerate() {
        if side.idle >> bit & 1 == 1 {
            if bit < side.lane_bits as usize {
                return Err("lanes have nothing to bring, and all take part".to_owned());
            }
            threads.push(0);
            continue;
        }
        let own = if bit < side.lane_bits as usize { row.within_slot(bit) } else { None };
        match own {
            Some(bytes) if column * element_bytes == bytes => {
                within |= column;
                threads.push(0);
            }
            Some(_) => return Err("its lanes write one after the other, which the memory's layout does not".to_owned()),
            None => threads.push(column),
        }
    }
    let kept = side.registers.iter().chain(&threads).all(|column| column & within == 0);
    // What else of the registers lies within a slot is a lane's own vector.
    let begins = threads.iter().all(|column| column.trailing_zeros() >= (u64::from(row.bytes) / element_bytes).ilog2());
    if !kept || !begins {
        return Err("slots do not begin where its addresses must".to_owned());
    }
    let grain = u64::from(row.alignment[1]) / element_bytes;
    let whole = |p: &Padding| p.interval >= slot && p.padding.is_multiple_of(grain.max(1));
    match memory.padding.iter().all(whole) {
        true => Ok(threads),
        false => Err("padding parts what it writes together".to_owned()),
    }
}

impl Issued {
    /// What a warp executes, the most over the warps.
    fn counts(&self, side: &Located, target: &TargetDescription) -> Result<Counts, String> {
        let bits = 8 * self.bytes as u32;
        let row = target.instruction_bank_row(&self.name, Direction::Store, bits);
        let row = row.ok_or_else(|| format!("the target has no bank row for stores of {bits} bits"))?;
        let lanes = 1u64 << self.lane_bits;
        let mut most = 0;
        // Idle warps count like those of which they are copies.
        for warp in 0..side.warps() {
            let of = |&(_, first): &(usize, u64)| {
                let place = |lane| first ^ multiply(&side.threads, lane | warp << self.lane_bits);
                let byte = |lane| Some(self.padded(place(lane)) * self.element_bytes);
                wavefronts(row, &(0..lanes).map(byte).collect::<Vec<_>>(), self.bytes as u32)
            };
            most = most.max(self.groups.iter().map(of).sum());
        }
        Ok(Counts { asynchronous_copies: self.groups.len() as u64, wavefronts_stored: most, ..Counts::default() })
    }

    fn padded(&self, offset: u64) -> u64 {
        offset + self.padding.iter().map(|p| offset / p.interval * p.padding).sum::<u64>()
    }
}
