//! The plan of a copy from global to shared memory.

use super::boxes::TensorCopy;
use super::issued::Issued;
use crate::movement::memory::{GlobalAccess, SharedAccess};
use crate::movement::{Rejected, slots};
use tilewright_kernel::{Counts, Queue};
use tilewright_layout::LinearLayout;

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
    pub rejected: Vec<Rejected<String>>,
    pub(super) way: Way,
}

#[derive(Debug, Clone)]
pub(super) enum Way {
    Asynchronous(Box<Issued>),
    Plain(Box<(GlobalAccess, SharedAccess)>),
    Boxes(Box<(TensorCopy, GlobalAccess, SharedAccess)>),
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
    pub fn boxes(&self) -> Option<&TensorCopy> {
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
