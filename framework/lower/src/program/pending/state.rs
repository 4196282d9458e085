//! The asynchronous MMAs of a program while a function is lowered.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tilewright_kernel::Value;
use tilewright_plan::mma::MmaPlan;
use tilewright_tile::op::name::tw;
use tilewright_tile::{self as tile, Op};

/// The name of the operation that waits for MMAs.
pub(super) const AWAIT: &str = tw::MMA_WAIT;

/// The asynchronous MMAs of a program, and the values that carry their accumulators.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// The asynchronous MMAs, each with a plan that reads both operands in place from shared memory.
    pub(super) mmas: HashMap<Op, Arc<MmaPlan>>,
    /// The values whose accumulator is pending, each with the plan of the MMA that produces it.
    pub(super) values: HashMap<tile::Value, Arc<MmaPlan>>,
    /// The loads of operands that MMAs read in place, and the conversions of these; no code is emitted for them.
    pub(super) loads: HashSet<Op>,
    /// For each wait, for each of its operands whether the wait completes it.
    pub(super) there: HashMap<Op, Vec<bool>>,
}

/// An accumulator with MMAs in flight.
#[derive(Debug, Clone)]
pub(crate) struct InFlightMma {
    /// The plan of the MMAs that are in flight.
    pub(super) plan: Arc<MmaPlan>,
    /// The kernel values of type `pending` that hold the accumulator; they are readable after a wait.
    pub values: Arc<[Value]>,
}

impl Pending {
    /// Whether the program has asynchronous MMAs.
    pub(crate) fn are_some(&self) -> bool {
        !self.mmas.is_empty()
    }

    /// Whether no code is emitted for a load, because an MMA reads the operand in place.
    pub(crate) fn reads(&self, load: Op) -> bool {
        self.loads.contains(&load)
    }

    /// Whether a value is an accumulator with MMAs in flight.
    pub(crate) fn has(&self, value: tile::Value) -> bool {
        self.values.contains_key(&value)
    }
}
