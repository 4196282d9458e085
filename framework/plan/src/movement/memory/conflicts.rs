//! Counts bank conflicts between a register layout and a shared-memory layout, by enumerating addresses.

use thiserror::Error;

use tilewright_layout::{Dim, LayoutError, LinearLayout, MemoryLayout};
use tilewright_target::{BankTableEntry, Direction, Evidence, TargetDescription, count_access_wavefronts};

/// The bank model by which conflicts are counted.
#[derive(Debug, Clone, Copy)]
pub enum BankModel<'a> {
    /// 32 banks of four bytes. A phase (the lanes that are served together) is 128 bytes: 32 lanes of up to four bytes,
    /// 16 lanes of eight bytes, 8 lanes of sixteen. Equal words are broadcast.
    Plain,
    /// The bank models of a target; of loads and stores, the one with more conflicts counts.
    Target(&'a TargetDescription),
}

/// Bank conflicts of one access of a warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BankConflicts {
    /// Wavefronts of the worst phase beyond the first wavefront; 0 if there are no conflicts.
    pub excess: u64,
    /// Number of elements that a lane moves in one access.
    pub vector_elements: u64,
}

/// The reason why conflicts cannot be counted; an error of the caller.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConflictError {
    /// The memory does not hold the elements of the registers.
    #[error("the memory layout does not have the registers' elements: {0}")]
    Layouts(#[from] LayoutError),
    /// The element width in bits is not 8, 16, 32, 64 or 128.
    #[error("elements of {0} bits: accesses are of 8, 16, 32, 64 or 128 bits")]
    ElementBits(u32),
    /// There are too many addresses to enumerate; the number is log2 of the number of addresses.
    #[error("2^{0} addresses to list: at most 2^24 are")]
    TooMany(u32),
    /// The target has no bank model for the access.
    #[error("target {target} has no bank model for accesses of {bits} bits; add one to its description")]
    NoRow {
        /// The name of the target.
        target: String,
        /// Width of the access, in bits of a lane.
        bits: u32,
    },
}

/// Max width of an access, in bits per lane.
const WIDEST: u32 = 128;

/// Counts the conflicts of moving a tensor between `registers` and `memory` by the widest accesses that both allow.
/// Registers may be taken in any order.
///
/// ```
/// use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
/// use tilewright_plan::movement::{BankModel, count_bank_conflicts};
/// // 32 lanes read a column of a row-major 32x32 tensor of words: all in one bank.
/// let (row, col) = (Dim::tensor(0), Dim::tensor(1));
/// let lanes = LinearLayout::identity(32, Dim::LANE, row)?;
/// let column = LinearLayout::zeros(1, Dim::REGISTER, col, 32)?.direct_sum(&lanes)?;
/// let rows = LinearLayout::identity(32, Dim::OFFSET, col)?;
/// let memory = rows.direct_sum(&LinearLayout::identity(32, Dim::OFFSET, row)?)?;
/// let found = count_bank_conflicts(&column, &MemoryLayout::from_linear(memory), 32, BankModel::Plain)?;
/// assert_eq!(found.excess, 31);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ConflictError`] if the layouts have different elements, the element width is unsupported, there are too many
/// addresses to enumerate, or the target has no bank model for the access.
pub fn count_bank_conflicts(
    registers: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    model: BankModel<'_>,
) -> Result<BankConflicts, ConflictError> {
    if !element_bits.is_power_of_two() || !(8..=WIDEST).contains(&element_bits) {
        return Err(ConflictError::ElementBits(element_bits));
    }
    let memory_map = registers.remove_zero_bases(Dim::REGISTER).invert_and_compose(&memory.linear)?;
    if memory_map.ins().total_bits() > 24 {
        return Err(ConflictError::TooMany(memory_map.ins().total_bits()));
    }
    let vector = vector_bits(&memory_map, memory, element_bits, model);
    let access_bits = element_bits << vector;
    let rows = rows(model, access_bits)?;
    let excess = rows.iter().map(|row| worst_excess(row, &memory_map, memory, element_bits, vector)).max();
    Ok(BankConflicts { excess: excess.unwrap_or(0), vector_elements: 1 << vector })
}

/// Returns log2 of the number of elements of the widest access: this many elements are contiguous in registers and in
/// memory, and the offsets of all other input bits and the padding are multiples of it. `memory_map` maps positions to
/// offsets.
fn vector_bits(memory_map: &LinearLayout, memory: &MemoryLayout, element_bits: u32, model: BankModel<'_>) -> u32 {
    let shift = memory_map.outs().shift_of(Dim::OFFSET).unwrap_or(0);
    let columns_of_dim = memory_map.columns_of(Dim::REGISTER);
    let allowed = |vector: u32| {
        let low = ((1u64 << vector) - 1) << shift;
        let side_by_side = (0..vector).all(|bit| columns_of_dim.contains(&(1 << (shift + bit))));
        let are_others_aligned =
            memory_map.columns().iter().filter(|&&column| column & low != 0).count() as u32 == vector;
        let unbroken = memory.padding.iter().all(|p| p.interval >> vector != 0 && p.padding % (1 << vector) == 0);
        let offered = match model {
            BankModel::Plain => true,
            BankModel::Target(target) => target.shared.access_bits.contains(&(element_bits << vector)),
        };
        side_by_side && are_others_aligned && unbroken && offered
    };
    (0..=(WIDEST / element_bits).ilog2()).rev().find(|&vector| allowed(vector)).unwrap_or(0)
}

fn rows(model: BankModel<'_>, access_bits: u32) -> Result<Vec<BankTableEntry>, ConflictError> {
    let target = match model {
        BankModel::Plain => return Ok(vec![plain_row(access_bits)]),
        BankModel::Target(target) => target,
    };
    // Phases are counted one by one. An idle phase may take a wavefront, but has no conflict.
    let alone = |row: &BankTableEntry| BankTableEntry { idle_phases: false, paired: None, ..row.clone() };
    let directions = [Direction::Store, Direction::Load];
    let rows: Option<Vec<_>> =
        directions.iter().map(|&direction| target.find_bank_row(direction, access_bits).map(alone)).collect();
    rows.ok_or_else(|| ConflictError::NoRow { target: target.name.clone(), bits: access_bits })
}

fn plain_row(access_bits: u32) -> BankTableEntry {
    let lanes = (1024 / access_bits).min(32);
    BankTableEntry {
        directions: vec![Direction::Store, Direction::Load],
        access_bits: vec![access_bits],
        instruction: None,
        banks: 32,
        bank_bytes: 4,
        phase: (0..lanes.ilog2()).map(|bit| 1 << bit).collect(),
        idle_phases: false,
        paired: None,
        evidence: Evidence::Assumed,
        source: "the model of 32 banks of four bytes".to_owned(),
    }
}

/// Returns the max number of wavefronts that a phase of an access of 2^`vector` elements takes beyond the first one,
/// over all accesses.
fn worst_excess(
    row: &BankTableEntry,
    memory_map: &LinearLayout,
    memory: &MemoryLayout,
    element_bits: u32,
    vector: u32,
) -> u64 {
    let element_bytes = u64::from(element_bits / 8);
    let access_bytes = (element_bits / 8) << vector;
    let (ins, outs) = (memory_map.ins(), memory_map.outs());
    let lane_bits = ins.bits_of(Dim::LANE);
    let lane_shift = ins.shift_of(Dim::LANE).unwrap_or(0);
    let lane_mask = ins.mask_of(Dim::LANE);
    let address = |packed: u64| {
        let offset = outs.coordinate(memory_map.apply_packed(packed), Dim::OFFSET);
        memory.physical_offset(offset) * element_bytes
    };
    let low = (u64::from(access_bytes) - 1) / element_bytes;
    let mut excess = 0;
    for rest in (0..1u64 << ins.total_bits()).filter(|input| input & lane_mask == 0) {
        // One access moves all registers of a vector, so only the address of its first register counts.
        if outs.coordinate(memory_map.apply_packed(rest), Dim::OFFSET) & low != 0 {
            continue;
        }
        for phase in row.lanes_of_phases(&vec![None; 1 << lane_bits]) {
            let mut addresses = vec![None; 1 << lane_bits];
            for lane in phase {
                addresses[lane as usize] = Some(address(rest | lane << lane_shift));
            }
            let needed = count_access_wavefronts(row, &addresses, access_bytes);
            excess = excess.max(needed.saturating_sub(1));
        }
        if memory.padding.is_empty() {
            // Without padding, the addresses of any two accesses differ by a constant xor, which permutes the banks, so
            // all take as many wavefronts as the first.
            break;
        }
    }
    excess
}
