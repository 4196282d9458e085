//! Loops to be pipelined: buffers, prefetched loads, and the path of each.

use super::find::PrefetchableLoad;
use crate::{LayoutName, Op};

/// The path of a prefetched load to its buffer in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefetchPath {
    /// By an asynchronous copy from global to shared memory.
    Copy,
    /// Through registers, which are stored to shared memory at the end of the iteration.
    Registers,
}

/// A loop, with the loads that are to be prefetched in it.
#[derive(Debug, Clone)]
pub struct PipelinedLoop {
    /// The `scf.for` operation of the loop.
    pub op: Op,
    /// Number of buffers of asynchronous copies; loads through registers always have two.
    pub stages: u32,
    /// The loads to prefetch.
    pub loads: Vec<PrefetchedLoad>,
}

/// A load that is to be prefetched, and the choices for it.
#[derive(Debug, Clone)]
pub struct PrefetchedLoad {
    /// The load, and the operations that read its value.
    pub load: PrefetchableLoad,
    /// The path of the load to its buffer.
    pub path: PrefetchPath,
    /// The layout of a buffer in shared memory.
    pub memory: LayoutName,
}

/// Number of buffers of a load through registers: one is read while the other is filled.
pub const REGISTER_BUFFERS: u32 = 2;
