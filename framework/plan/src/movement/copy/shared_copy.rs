//! The plan of a copy from global to shared memory (G2S).

use super::bulk_tensor::TensorCopy;
use super::issued::LaneCopies;
use crate::movement::RejectedCandidate;
use crate::movement::memory::{GlobalAccessPlan, SharedAccessPlan};
use tilewright_kernel::{Counts, Queue};
use tilewright_layout::LinearLayout;

/// A plan of a copy from global to shared memory.
#[derive(Debug, Clone)]
pub struct AsyncCopyPlan {
    /// Numbers of operations that a warp executes; the max over the warps.
    pub counts: Counts,
    /// Predicted cycles of a block, without global-memory transactions. Plain stores wait for their loads.
    pub cost: f64,
    /// Number of global-memory transactions of all warps of a block, each of `global.transaction_bytes`.
    pub transactions: u64,
    /// The elements that each lane copies, as a distributed layout.
    pub layout: LinearLayout,
    /// Rejected instructions, each with the reason.
    pub rejected: Vec<RejectedCandidate<String>>,
    pub(super) path: CopyPath,
}

#[derive(Debug, Clone)]
pub(super) enum CopyPath {
    Asynchronous(Box<LaneCopies>),
    Plain(Box<(GlobalAccessPlan, SharedAccessPlan)>),
    TensorCopy(Box<(TensorCopy, GlobalAccessPlan, SharedAccessPlan)>),
}

impl AsyncCopyPlan {
    /// Name of the copy instruction; `None` for plain loads and stores.
    #[must_use]
    pub fn instruction(&self) -> Option<&str> {
        match &self.path {
            CopyPath::Asynchronous(issued) => Some(&issued.name),
            CopyPath::TensorCopy(copy_load_store) => Some(copy_load_store.0.instruction()),
            CopyPath::Plain(_) => None,
        }
    }

    /// Returns the queue (PTX: async group) that a wait must drain to complete the copy; `None` if the copy needs no
    /// wait on a queue.
    #[must_use]
    pub fn completion_queue(&self) -> Option<Queue> {
        match &self.path {
            CopyPath::Asynchronous(issued) => Some(issued.queue),
            CopyPath::TensorCopy(_) | CopyPath::Plain(_) => None,
        }
    }

    /// Returns the bulk tensor copy (TMA); `None` if the plan copies otherwise. The kernel must pass a tensor map and
    /// an mbarrier.
    #[must_use]
    pub fn tensor_copy(&self) -> Option<&TensorCopy> {
        match &self.path {
            CopyPath::TensorCopy(copy_load_store) => Some(&copy_load_store.0),
            CopyPath::Asynchronous(_) | CopyPath::Plain(_) => None,
        }
    }

    /// Returns the number of bytes that one access copies: the bytes of a lane, or of a box for bulk tensor copies.
    #[must_use]
    pub fn bytes_per_access(&self) -> u64 {
        match &self.path {
            CopyPath::Asynchronous(issued) => issued.bytes,
            CopyPath::TensorCopy(copy_load_store) => copy_load_store.0.map.box_bytes(),
            CopyPath::Plain(both) => both.0.bytes_per_lane(),
        }
    }

    /// Returns the number of copy or load instructions that a warp issues; the copies of boxes are all issued by one
    /// warp.
    #[must_use]
    pub fn issued_accesses(&self) -> u64 {
        match &self.path {
            CopyPath::Asynchronous(issued) => issued.groups.len() as u64,
            CopyPath::TensorCopy(copy_load_store) => copy_load_store.0.box_count() as u64,
            CopyPath::Plain(both) => both.0.accesses,
        }
    }

    /// Returns the alignment in bytes of the shared memory that the copy requires.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        match &self.path {
            CopyPath::Asynchronous(issued) => issued.alignment,
            CopyPath::TensorCopy(copy_load_store) => copy_load_store.0.alignment,
            CopyPath::Plain(both) => both.1.alignment(),
        }
    }

    /// Returns the key by which candidates are compared; a lower key is better. Fields: global-memory transactions,
    /// predicted cycles, whether the copy passes through registers, number of accesses.
    pub(super) fn rank(&self) -> (u64, f64, bool, u64) {
        (self.transactions, self.cost, matches!(self.path, CopyPath::Plain(_)), self.issued_accesses())
    }
}
