//! Copies from per-lane pointers to shared memory: the layout of the program's pointer tensor fixes the elements of
//! each lane.

use super::super::memory::{PredicatedGlobalAddress, locate_registers};
use super::super::price::occupied_cycles;
use super::super::{PlanContext, RejectedCandidate, best_of};
use super::issued::{LaneCopies, plan_lane_copies};
use super::row::CopyInstruction;
use tilewright_kernel::{Builder, Counts, Queue, Value};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_target::Direction;

/// A request to copy to shared memory the elements that a tensor of pointers points to.
#[derive(Clone, Copy)]
pub struct PointerToSharedCopySpec<'a> {
    /// The layout of the tensor of pointers: the element that each register of each lane points to.
    pub layout: &'a LinearLayout,
    /// The layout of the destination in shared memory.
    pub memory: &'a MemoryLayout,
    /// The offset, in elements, that is added over F2 to all offsets in `memory`; not 0 for copies to parts of a
    /// tensor.
    pub start: u64,
    /// Width of an element in bits.
    pub element_bits: u32,
    /// Whether elements may be masked off; zeros are written to shared memory for them.
    pub masked: bool,
    /// A function from a number of registers to groups of that many registers. The elements of a group are contiguous
    /// in global memory, aligned to the size of the group, and masked together. If there are no such groups, it returns
    /// groups of another size. Of replicated registers only one is in a group.
    pub groups: &'a dyn Fn(u32) -> Vec<Vec<usize>>,
}

/// A plan of a copy from per-lane pointers to shared memory by one instruction of the table.
#[derive(Debug, Clone)]
pub struct PointerToSharedCopy {
    /// Numbers of operations that a warp executes; the max over the warps.
    pub counts: Counts,
    issued: LaneCopies,
}

/// Plans the copy by the instruction of the fewest predicted cycles, then by the one of fewest copies.
///
/// # Errors
/// The reason why each instruction is rejected; the caller can still use plain accesses.
pub fn plan_pointer_to_shared_copy(
    problem: &PointerToSharedCopySpec<'_>,
    context: &PlanContext<'_>,
) -> Result<PointerToSharedCopy, Vec<RejectedCandidate<String>>> {
    let rows = context.instructions.iter().filter_map(CopyInstruction::from_instruction);
    let plans = rows.map(|row| (row.name.to_owned(), by_row(problem, &row, context)));
    let time = |copy: &PointerToSharedCopy| occupied_cycles(&copy.counts, 1, context.target);
    let (best, rejected) = best_of(plans, |copy| (time(copy), copy.counts.asynchronous_copies));
    best.ok_or(rejected)
}

fn by_row(
    problem: &PointerToSharedCopySpec<'_>,
    row: &CopyInstruction<'_>,
    context: &PlanContext<'_>,
) -> Result<PointerToSharedCopy, String> {
    let &PointerToSharedCopySpec { layout, memory, start, element_bits, masked, groups } = problem;
    let elements = row.elements(element_bits, masked)?;
    if row.lane_bits() != layout.in_bits(Dim::LANE) {
        return Err(format!("it is for warps of {} lanes", 1u32 << row.lane_bits()));
    }
    if row.alignment[0] > row.bytes {
        return Err("it needs more alignment in global memory than it reads bytes".to_owned());
    }
    let groups = groups(elements);
    if groups.iter().any(|group| group.len() != elements as usize) {
        return Err(format!("{} bytes are not contiguous in global memory", row.bytes));
    }
    let side = locate_registers(layout, memory, element_bits, Direction::Store).map_err(|error| error.to_string())?;
    let (mut issued, counts) = plan_lane_copies(row, &groups, &side, memory, context.target)?;
    if !(start * issued.element_bytes).is_multiple_of(row.segment_bytes()) {
        return Err("the part does not begin at a slot".to_owned());
    }
    issued.groups.iter_mut().for_each(|(_, offset)| *offset ^= start);
    Ok(PointerToSharedCopy { counts, issued })
}

impl PointerToSharedCopy {
    /// Returns the name of the copy instruction.
    #[must_use]
    pub fn instruction(&self) -> &str {
        &self.issued.name
    }

    /// Returns the queue (PTX: async group) that a wait must drain to complete the copy.
    #[must_use]
    pub fn completion_queue(&self) -> Queue {
        self.issued.queue
    }

    /// Returns the alignment in bytes of the shared memory that the instruction requires.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.issued.alignment
    }

    /// Emits the copy to the shared memory at `buffer`. `emit_address` returns the global address and the mask for the
    /// first register of each group. The copy must then be committed and waited for, and a barrier is needed before
    /// other threads read the data.
    pub fn emit(
        &self,
        builder: &mut Builder,
        buffer: Value,
        emit_address: &mut dyn FnMut(&mut Builder, usize) -> PredicatedGlobalAddress,
    ) {
        self.issued.emit(builder, buffer, emit_address);
    }
}
