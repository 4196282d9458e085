//! Loops to be pipelined: buffers, prefetched loads, and the path of each.

use super::find::PrefetchableLoad;
use crate::{LayoutName, Op};

/// How a prefetched load gets into its buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefetchPath {
    /// By an asynchronous copy from global to shared memory.
    Copy,
    /// Through registers, which are stored at the end of the iteration.
    Registers,
}

/// A loop with the loads that are prefetched in it.
#[derive(Debug, Clone)]
pub struct PipelinedLoop {
    /// The `scf.for`.
    pub op: Op,
    /// Buffers of what copies bring; what goes through registers has two.
    pub stages: u32,
    /// The loads.
    pub loads: Vec<PrefetchedLoad>,
}

/// A load that is prefetched.
#[derive(Debug, Clone)]
pub struct PrefetchedLoad {
    /// The load, and the operations that read its value.
    pub load: PrefetchableLoad,
    /// How.
    pub path: PrefetchPath,
    /// The layout of a buffer.
    pub memory: LayoutName,
}

/// Buffers of what goes through registers: one is read while the other is filled.
pub const REGISTER_BUFFERS: u32 = 2;
