//! The asynchronous MMAs of a program while a function is lowered.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tilewright_kernel::Value;
use tilewright_plan::mma::MmaPlan;
use tilewright_tile::op::name::tw;
use tilewright_tile::{self as tile, Op};

/// The name of the tile operation that waits for asynchronous MMAs.
pub(super) const AWAIT: &str = tw::MMA_WAIT;

/// The asynchronous MMAs of a program, and the values that carry their accumulators.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// The asynchronous MMAs, each with a plan that reads both operands in place from shared memory.
    pub(super) mmas: HashMap<Op, Arc<MmaPlan>>,
    /// The values whose accumulator is pending, each with the plan of the MMA that produces it.
    pub(super) values: HashMap<tile::Value, Arc<MmaPlan>>,
    /// The MMAs that the program waits for immediately, but whose accumulator stays in tensor memory for the next
    /// iteration of a loop; each with its plan.
    pub(super) residents: HashMap<Op, Arc<MmaPlan>>,
    /// The results of loops whose accumulator leaves tensor memory after the loop.
    pub(super) leaving: HashMap<tile::Value, Arc<MmaPlan>>,
    /// For each value whose accumulator is or was in tensor memory, the first column of the accumulator in the kernel's
    /// allocation of tensor memory.
    pub(super) columns: HashMap<tile::Value, u32>,
    /// Number of tensor-memory columns of all these accumulators together.
    pub(super) all_columns: u32,
    /// The loads of operands that MMAs read in place, and the layout conversions of these operands; no code is emitted
    /// for them.
    pub(super) loads: HashSet<Op>,
    /// For each wait for MMAs, a flag for each of its operands: whether the wait completes that accumulator.
    pub(super) there: HashMap<Op, Vec<bool>>,
}

/// An accumulator with MMAs in flight.
#[derive(Debug, Clone)]
pub(crate) struct InFlightMma {
    /// The plan of the MMAs that are in flight.
    pub(super) plan: Arc<MmaPlan>,
    /// The kernel values of type `pending` that hold the accumulator, readable after a wait; empty if the accumulator
    /// is in tensor memory.
    pub values: Arc<[Value]>,
}

impl Pending {
    /// Whether the program has any asynchronous MMAs.
    pub(crate) fn are_some(&self) -> bool {
        !self.mmas.is_empty()
    }

    /// Whether a dot accumulates in columns of tensor memory that no other dot shares.
    pub(crate) fn is_in_own_columns(&self, op: Op) -> bool {
        self.mmas.contains_key(&op) || self.residents.contains_key(&op)
    }

    /// The first tensor-memory column of the accumulator that a value carries; `None` if the accumulator has no columns
    /// of its own.
    pub(crate) fn column_of(&self, value: tile::Value) -> Option<u32> {
        self.columns.get(&value).copied()
    }

    /// Whether the MMA of a dot is waited for immediately while its accumulator stays in tensor memory.
    pub(crate) fn is_resident(&self, op: Op) -> bool {
        self.residents.contains_key(&op)
    }

    /// Whether a dot is an asynchronous MMA.
    pub(crate) fn is_async(&self, op: Op) -> bool {
        self.mmas.contains_key(&op)
    }

    /// Number of tensor-memory columns of all accumulators that have columns of their own.
    pub(crate) fn columns(&self) -> u32 {
        self.all_columns
    }

    /// Whether an MMA reads the result of `load` in place from shared memory, so that no code is emitted for the load.
    pub(crate) fn reads(&self, load: Op) -> bool {
        self.loads.contains(&load)
    }

    /// Whether a value is an accumulator with MMAs in flight.
    pub(crate) fn has(&self, value: tile::Value) -> bool {
        self.values.contains_key(&value)
    }
}
