//! Plans asynchronous copies from global to shared memory.

use super::boxes;
use super::boxes::BoxCopy;
use super::row::CopyRow;
use super::ways;
use super::ways::Issued;
use crate::movement::memory::{
    GlobalAccess, GlobalTensor, SharedAccess, access_global, coalesced_layout, load_order, store_shared,
};
use crate::movement::{ConsecutiveCopy, Means, MovementError, cost, slots};
use tilewright_kernel::{Counts, Queue};
use tilewright_layout::{LinearLayout, MemoryLayout};
use tilewright_target::{Direction, Instruction};

/// What is copied where, by whom.
#[derive(Debug, Clone)]
pub struct CopyQuestion<'a> {
    /// The tensor in global memory.
    pub global: &'a GlobalTensor,
    /// Where its elements go in shared memory of the block.
    pub memory: &'a MemoryLayout,
    /// Width of an element.
    pub element_bits: u32,
    /// Lanes of a warp.
    pub lanes: u32,
    /// Warps of the block.
    pub warps: u32,
    /// Whether some elements may not be there: shared memory gets zeros for them.
    pub masked: bool,
    /// Whether the kernel can be given a map of the tensor that the host has encoded; only then boxes are copied.
    pub mapped: bool,
}

/// A way that is closed or worse, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedCopy {
    /// The row of the instruction table.
    pub instruction: String,
    /// Why no copy goes by it.
    pub reason: String,
}

/// How a tensor is copied.
#[derive(Debug, Clone)]
pub struct SharedCopy {
    /// What a warp executes; where warps differ, the most.
    pub counts: Counts,
    /// Cycles of the block by the target's table, the latency of global memory aside.
    pub cost: f64,
    /// Units of `global.transaction_bytes` of all warps of a block.
    pub transactions: u64,
    /// Which elements each lane brings.
    pub layout: LinearLayout,
    /// Rows by which no copy goes, and why.
    pub closed: Vec<ClosedCopy>,
    pub(super) way: Way,
}

#[derive(Debug, Clone)]
pub(super) enum Way {
    Asynchronous(Box<Issued>),
    Plain(Box<(GlobalAccess, SharedAccess)>),
    Boxes(Box<(BoxCopy, GlobalAccess, SharedAccess)>),
}

/// The best way to copy a tensor to shared memory, by the given means: rows that copy asynchronously, or plain
/// accesses.
///
/// # Errors
/// [`MovementError`]: elements of no known width, another tensor in memory than in global memory, sizes that are no
/// powers of two, a target without accesses of the element's width.
pub fn copy_to_shared<'a>(
    question: &CopyQuestion<'_>,
    means: impl Into<Means<'a>>,
) -> Result<SharedCopy, MovementError> {
    let means = means.into();
    let mut best = plain(question, &means)?;
    let mut closed = Vec::new();
    for row in means.instructions.iter().filter_map(CopyRow::of) {
        match ways::asynchronous(question, &row, &means) {
            Ok(copy) if copy.rank().lt(&best.rank()) => best = copy,
            Ok(copy) => {
                let (units, slots) = (copy.transactions, slots(&copy.counts));
                let reason = format!("it takes {units} units of global memory and {slots} wavefront slots of a warp");
                closed.push(ClosedCopy { instruction: row.name.to_owned(), reason });
            }
            Err(reason) => closed.push(ClosedCopy { instruction: row.name.to_owned(), reason }),
        }
    }
    let boxes = boxes::by_boxes(question, Direction::Store, &means, &mut closed);
    if let (Some(copy), Way::Plain(both)) = (boxes, plain(question, &means)?.way) {
        let (cost, layout, (load, store)) = (cost_of(&copy.counts, question, &means), best.layout.clone(), *both);
        let (counts, transactions) = (copy.counts, copy.transactions);
        let way = Way::Boxes(Box::new((copy, load, store)));
        let copy = SharedCopy { counts, cost, transactions, layout, closed: Vec::new(), way };
        if copy.rank().lt(&best.rank()) {
            best = copy;
        } else if let Some(name) = copy.instruction() {
            let reason = format!("it takes {transactions} units of global memory");
            closed.push(ClosedCopy { instruction: name.to_owned(), reason });
        }
    }
    Ok(SharedCopy { closed, ..best })
}

/// The copies by which a table's rows write consecutively what consecutive lanes fetch: for a memory layout that they
/// can fill, the widest such row says what a lane fetches at a time.
#[must_use]
pub fn consecutive_copy(instructions: &[Instruction], global: &GlobalTensor) -> Option<ConsecutiveCopy> {
    let rows = instructions.iter().filter_map(CopyRow::of).filter(CopyRow::is_consecutive);
    let widest = rows.map(|row| 8 * row.bytes).max()?;
    Some(ConsecutiveCopy { global: global.clone(), access_bits: widest })
}

/// Loads to registers and stores from there.
fn plain(question: &CopyQuestion<'_>, means: &Means<'_>) -> Result<SharedCopy, MovementError> {
    let CopyQuestion { global, memory, element_bits, lanes, warps, .. } = *question;
    let layout = coalesced_layout(global, element_bits, lanes.into(), warps.into(), means.target)?;
    let load = access_global(&layout, global, element_bits, Direction::Load, means.target)?;
    let store = store_shared(&layout, memory, element_bits, means.with_instructions(&[]))?;
    Ok(SharedCopy {
        counts: store.counts,
        cost: store.cost,
        transactions: load.transactions,
        layout,
        closed: Vec::new(),
        way: Way::Plain(Box::new((load, store))),
    })
}

impl SharedCopy {
    /// The row by which it is copied; plain accesses where there is none.
    #[must_use]
    pub fn instruction(&self) -> Option<&str> {
        match &self.way {
            Way::Asynchronous(issued) => Some(&issued.name),
            Way::Boxes(parts) => Some(parts.0.instruction()),
            Way::Plain(_) => None,
        }
    }

    /// The queue on which it completes; a plain copy is done when its stores are.
    #[must_use]
    pub fn queue(&self) -> Option<Queue> {
        match &self.way {
            Way::Asynchronous(issued) => Some(issued.queue),
            Way::Boxes(_) | Way::Plain(_) => None,
        }
    }

    /// The copy by boxes, where it is one: who copies by it gives the kernel a map and an mbarrier.
    #[must_use]
    pub fn boxes(&self) -> Option<&BoxCopy> {
        match &self.way {
            Way::Boxes(parts) => Some(&parts.0),
            Way::Asynchronous(_) | Way::Plain(_) => None,
        }
    }

    /// Bytes that a lane, or a box, copies at a time.
    #[must_use]
    pub fn bytes_at_once(&self) -> u64 {
        match &self.way {
            Way::Asynchronous(issued) => issued.bytes,
            Way::Boxes(parts) => parts.0.map.box_bytes(),
            Way::Plain(both) => both.0.bytes_at_once(),
        }
    }

    /// Copies, or loads, of a warp; boxes are one warp's.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        match &self.way {
            Way::Asynchronous(issued) => issued.groups.len() as u64,
            Way::Boxes(parts) => parts.0.boxes() as u64,
            Way::Plain(both) => both.0.accesses,
        }
    }

    /// Bytes of which the memory's address must be a multiple.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        match &self.way {
            Way::Asynchronous(issued) => issued.alignment,
            Way::Boxes(parts) => parts.0.alignment,
            Way::Plain(both) => both.1.alignment(),
        }
    }

    /// What is compared in this order: the less, the better.
    pub(super) fn rank(&self) -> (u64, u64, bool, u64) {
        // Slots are quarters at the finest.
        let quarters = (4.0 * slots(&self.counts)) as u64;
        (self.transactions, quarters, matches!(self.way, Way::Plain(_)), self.accesses())
    }
}

/// The cost of copies that are issued and then waited for.
pub(super) fn cost_of(counts: &Counts, question: &CopyQuestion<'_>, means: &Means<'_>) -> f64 {
    cost(counts, question.warps.into(), 1, means.target)
}

/// The layouts in which lanes may follow each other, for lanes that bring 2^`width` elements at a time.
pub(super) fn orders(question: &CopyQuestion<'_>, width: u32) -> Result<[LinearLayout; 2], MovementError> {
    let (lanes, warps) = (u64::from(question.lanes), u64::from(question.warps));
    let by_memory = ways::in_memory_order(question, width)?;
    Ok([load_order(question.global, width, lanes, warps)?, by_memory])
}
