//! The parts of a pipelined loop: buffers, prefetches, and how each load is prefetched.

use super::found::Load;
use crate::{LayoutName, Op};

/// How a load goes ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By a copy from global to shared memory that is waited for.
    Copy,
    /// By registers, which are stored at the end of the turn.
    Registers,
}

/// A loop with the loads that go ahead in it.
#[derive(Debug, Clone)]
pub struct Staged {
    /// The `scf.for`.
    pub op: Op,
    /// Buffers of what copies bring; what goes by registers has two.
    pub stages: u32,
    /// The loads.
    pub loads: Vec<Fetch>,
}

/// A load that goes ahead.
#[derive(Debug, Clone)]
pub struct Fetch {
    /// What is loaded and read.
    pub load: Load,
    /// How.
    pub way: Way,
    /// Where the elements of a buffer lie.
    pub memory: LayoutName,
}

/// Buffers of what goes by registers: one is read while the other is filled.
pub const REGISTER_BUFFERS: u32 = 2;
