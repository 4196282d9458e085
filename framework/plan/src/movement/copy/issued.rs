//! Copies that every lane issues by one instruction (`cp.async`, LDS DMA): the addresses, registers and counts of the
//! copies.

use tilewright_kernel::{Counts, Queue};
use tilewright_layout::f2::{Columns, multiply_vector};
use tilewright_layout::{MemoryLayout, Padding};
use tilewright_target::{Direction, TargetDescription, count_access_wavefronts};

use super::row::{CopyInstruction, Role};
use crate::movement::tile::LocatedAccessor;

/// The copies of a tensor by an instruction with a source address in each lane: the registers and the destination in
/// shared memory of each copy.
#[derive(Debug, Clone)]
pub(super) struct LaneCopies {
    pub(super) name: String,
    pub(super) queue: Queue,
    pub(super) roles: Vec<Role>,
    /// Number of bytes that a lane copies with one instruction.
    pub(super) bytes: u64,
    pub(super) alignment: u64,
    pub(super) element_bytes: u64,
    pub(super) lane_bits: u32,
    /// For each thread bit, the offset that it adds to the address of the thread's slot (contiguous bytes in shared
    /// memory), in elements.
    pub(super) threads: Columns,
    /// For each copy of a lane, the first register that it copies, and the offset of its destination relative to the
    /// lane's, in elements.
    pub(super) groups: Vec<(usize, u64)>,
    /// Mask of thread bits: threads with one of these bits set copy nothing, because they hold replicas. All lanes of a
    /// warp agree.
    pub(super) idle: u64,
    pub(super) padding: Vec<Padding>,
}

/// Plans the copies by one instruction: each group of registers, whose elements are contiguous in global memory, to the
/// offsets that `side` has in `memory`. Also returns the operation counts of a warp. An error if the instruction cannot
/// write there.
pub(super) fn plan_lane_copies(
    row: &CopyInstruction<'_>,
    registers: &[Vec<usize>],
    side: &LocatedAccessor,
    memory: &MemoryLayout,
    target: &TargetDescription,
) -> Result<(LaneCopies, Counts), String> {
    let groups = groups(registers, side)?;
    let element_bytes = u64::from(side.element.bits() / 8);
    let threads = addresses(row, side, memory, element_bytes)?;
    let issued = LaneCopies {
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

/// Returns for each copy of a lane its first register, and the offset of its destination in elements. An error if the
/// elements of a copy are not contiguous in shared memory.
fn groups(registers: &[Vec<usize>], side: &LocatedAccessor) -> Result<Vec<(usize, u64)>, String> {
    let not_contiguous = || "the elements of a lane are not contiguous in shared memory".to_owned();
    let group = |registers: &Vec<usize>| {
        let position = |register: usize| multiply_vector(&side.registers, register as u64);
        let first = position(*registers.first().ok_or_else(not_contiguous)?);
        // If the elements are contiguous, their first offset is a multiple of their number, since no two elements have
        // one offset.
        let together = (0..).zip(registers).all(|(element, &register)| position(register) == first | element);
        if together { Ok((registers[0], first)) } else { Err(not_contiguous()) }
    };
    registers.iter().map(group).collect()
}

/// Returns for each thread bit the offset that it adds to the address of a slot (contiguous bytes in shared memory), in
/// elements; zero if the instruction itself determines the lane's position within its slot.
fn addresses(
    row: &CopyInstruction<'_>,
    side: &LocatedAccessor,
    memory: &MemoryLayout,
    element_bytes: u64,
) -> Result<Columns, String> {
    let segment = (row.segment_bytes() / element_bytes).max(1);
    let mut threads = Columns::new();
    let mut within = 0;
    for (bit, &column) in side.threads.iter().enumerate() {
        if side.idle >> bit & 1 == 1 {
            if bit < side.lane_bits as usize {
                return Err("some lanes have no elements, and the instruction needs all lanes".to_owned());
            }
            threads.push(0);
            continue;
        }
        let own = if bit < side.lane_bits as usize { row.within_segment(bit) } else { None };
        match own {
            Some(bytes) if column * element_bytes == bytes => {
                within |= column;
                threads.push(0);
            }
            Some(_) => return Err("its lanes write consecutively, which does not fit the memory layout".to_owned()),
            None => threads.push(column),
        }
    }
    let kept = side.registers.iter().chain(&threads).all(|column| column & within == 0);
    // The lowest offset bits within a slot number the elements of one lane.
    let begins = threads.iter().all(|column| column.trailing_zeros() >= (u64::from(row.bytes) / element_bytes).ilog2());
    if !kept || !begins {
        return Err("slots are not aligned as its addresses must be".to_owned());
    }
    let aligned_elements = u64::from(row.alignment[1]) / element_bytes;
    let keeps_segments = |p: &Padding| p.interval >= segment && p.padding.is_multiple_of(aligned_elements.max(1));
    match memory.padding.iter().all(keeps_segments) {
        true => Ok(threads),
        false => Err("padding splits what it writes contiguously".to_owned()),
    }
}

impl LaneCopies {
    /// Returns the numbers of operations that a warp executes; the max over the warps.
    fn counts(&self, side: &LocatedAccessor, target: &TargetDescription) -> Result<Counts, String> {
        let bits = 8 * self.bytes as u32;
        let row = target.find_instruction_bank_row(&self.name, Direction::Store, bits);
        let row = row.ok_or_else(|| format!("the target has no bank model for stores of {bits} bits"))?;
        let lanes = 1u64 << self.lane_bits;
        let mut most = 0;
        // Warps that only hold replicas are counted too; they need the same wavefronts as the warps that copy.
        for warp in 0..side.warps() {
            let of = |&(_, first): &(usize, u64)| {
                let position = |lane| first ^ multiply_vector(&side.threads, lane | warp << self.lane_bits);
                let byte = |lane| Some(self.padded(position(lane)) * self.element_bytes);
                count_access_wavefronts(row, &(0..lanes).map(byte).collect::<Vec<_>>(), self.bytes as u32)
            };
            most = most.max(self.groups.iter().map(of).sum());
        }
        Ok(Counts { asynchronous_copies: self.groups.len() as u64, wavefronts_stored: most, ..Counts::default() })
    }

    fn padded(&self, offset: u64) -> u64 {
        offset + self.padding.iter().map(|p| offset / p.interval * p.padding).sum::<u64>()
    }
}
