//! Copies of what registers point to: which lane brings which elements is given, by the layout in which a program has the
//! pointers, and not chosen.

use super::super::memory::{GlobalPlace, located};
use super::super::{PlanContext, Rejected, best_of, slots};
use super::issued::{Issued, issued};
use super::row::CopyRow;
use tilewright_kernel::{Builder, Counts, Queue, Value};
use tilewright_layout::{Dim, LinearLayout, MemoryLayout};
use tilewright_target::Direction;

/// What is copied where, by whom.
#[derive(Clone, Copy)]
pub struct PointerCopySpec<'a> {
    /// Which element each register of each lane points to.
    pub layout: &'a LinearLayout,
    /// Where the elements go in shared memory of the block.
    pub memory: &'a MemoryLayout,
    /// Width of an element.
    pub element_bits: u32,
    /// Whether some elements may not be there: shared memory gets zeros for them.
    pub masked: bool,
    /// For a number of elements, the registers in groups of so many, of which each lies together in global memory, at a multiple
    /// of its width, and is there or not as a whole; groups of another size where there are none such. Of registers that hold
    /// the same one is among them.
    pub groups: &'a dyn Fn(u32) -> Vec<Vec<usize>>,
}

/// A copy by a row of the instruction table.
#[derive(Debug, Clone)]
pub struct PointerCopy {
    /// What a warp executes; where warps differ, the most.
    pub counts: Counts,
    issued: Issued,
}

/// The copy by the row that takes the fewest wavefront [`slots`], then the fewest copies.
///
/// # Errors
/// Why no row makes it: plain accesses are left.
pub fn plan_pointer_copy(
    problem: &PointerCopySpec<'_>,
    context: &PlanContext<'_>,
) -> Result<PointerCopy, Vec<Rejected<String>>> {
    let rows = context.instructions.iter().filter_map(CopyRow::of);
    let plans = rows.map(|row| (row.name.to_owned(), by_row(problem, &row, context)));
    let (best, rejected) = best_of(plans, PointerCopy::rank);
    best.ok_or(rejected)
}

fn by_row(problem: &PointerCopySpec<'_>, row: &CopyRow<'_>, context: &PlanContext<'_>) -> Result<PointerCopy, String> {
    let &PointerCopySpec { layout, memory, element_bits, masked, groups } = problem;
    let elements = row.elements(element_bits, masked)?;
    if row.lane_bits() != layout.in_bits(Dim::LANE) {
        return Err(format!("it is for warps of {} lanes", 1u32 << row.lane_bits()));
    }
    if row.alignment[0] > row.bytes {
        return Err("it asks for more alignment in global memory than it reads".to_owned());
    }
    let groups = groups(elements);
    if groups.iter().any(|group| group.len() != elements as usize) {
        return Err(format!("{} bytes do not lie together in global memory", row.bytes));
    }
    let side = located(layout, memory, element_bits, Direction::Store).map_err(|error| error.to_string())?;
    let (issued, counts) = issued(row, &groups, &side, memory, context.target)?;
    Ok(PointerCopy { counts, issued })
}

impl PointerCopy {
    /// The row by which it is copied.
    #[must_use]
    pub fn instruction(&self) -> &str {
        &self.issued.name
    }

    /// The queue on which it completes.
    #[must_use]
    pub fn queue(&self) -> Queue {
        self.issued.queue
    }

    /// Bytes of which the memory's address must be a multiple.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.issued.alignment
    }

    /// What is compared in this order: the less, the better. Slots are quarters at the finest.
    fn rank(&self) -> (u64, u64) {
        ((4.0 * slots(&self.counts)) as u64, self.counts.asynchronous_copies)
    }

    /// Writes the copy to the shared memory at `buffer`. `place` says what a register points to, and whether it is there; it is
    /// asked of the first of each group. The copy must then be committed and waited for, and a barrier come before others read it.
    pub fn emit(
        &self,
        builder: &mut Builder,
        buffer: Value,
        place: &mut dyn FnMut(&mut Builder, usize) -> GlobalPlace,
    ) {
        self.issued.emit(builder, buffer, place);
    }
}
