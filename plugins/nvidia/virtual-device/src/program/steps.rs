//! An executable program: a list of steps, one for each instruction.

use crate::machine::Operation;
use std::collections::HashMap;

/// The executable program of one kernel.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) parameter_bytes: u64,
    pub(crate) steps: Vec<Step>,
    /// For each step, the step at which lanes reconverge that diverge there; the index after all steps if there is
    /// none.
    pub(crate) reconvergence: Vec<u32>,
    /// Number of registers of a lane, including registers that hold constants.
    pub(crate) registers: u32,
    /// Registers that hold a constant, with its value.
    pub(crate) constants: Vec<(u32, u64)>,
    /// Registers that hold the value of a special register, such as `%tid.x`.
    pub(crate) specials: Vec<(u32, Special)>,
    /// Registers that may be read before they are written, because the code generator leaves them undefined on purpose.
    pub(crate) undefined: Vec<u32>,
    /// Bytes of static shared memory; dynamic shared memory begins after them.
    pub(crate) shared_bytes: u64,
    /// Bytes of local memory of each lane.
    pub(crate) local_bytes: u64,
}

/// One parameter of a kernel: its location in the bytes of all parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// One instruction of a program.
pub(crate) struct Step {
    /// The register of the guard predicate, and whether the predicate is negated; `None` if the instruction has no
    /// guard.
    pub(crate) guard: Option<(u32, bool)>,
    pub(crate) operation: Box<dyn Operation>,
    pub(crate) line: u32,
    pub(crate) opcode: String,
}

/// Special registers of PTX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    /// Index of the thread in its block along an axis (`%tid`).
    Thread(usize),
    /// Number of threads of the block along an axis (`%ntid`).
    Threads(usize),
    /// Index of the block in the grid along an axis (`%ctaid`).
    Block(usize),
    /// Number of blocks of the grid along an axis (`%nctaid`).
    Blocks(usize),
    /// Index of the lane in its warp (`%laneid`).
    Lane,
    /// Index of the warp in its block (`%warpid`).
    Warp,
    /// Number of warps of the block (`%nwarpid`).
    Warps,
    /// Mask of the lanes below the own lane (`%lanemask_lt`).
    LanesBelow,
    /// Mask of the own lane and the lanes below it (`%lanemask_le`).
    LanesUpTo,
    /// Mask of the own lane and the lanes above it (`%lanemask_ge`).
    LanesFrom,
    /// Mask of the lanes above the own lane (`%lanemask_gt`).
    LanesAbove,
    /// Mask of the own lane alone (`%lanemask_eq`).
    LaneAlone,
    /// Bytes of dynamic shared memory (`%dynamic_smem_size`).
    DynamicBytes,
    /// Bytes of all shared memory (`%total_smem_size`).
    SharedBytes,
    /// A constant that all lanes share: the index of the multiprocessor or of the grid, or a position in a cluster of
    /// one block.
    Number(u64),
}

/// Addresses of a module's global variables, by the variable's name.
pub(crate) type Addresses = HashMap<String, u64>;
