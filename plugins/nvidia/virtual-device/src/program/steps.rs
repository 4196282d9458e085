//! An executable program: a list of steps, each one instruction.

use crate::machine::Operation;
use std::collections::HashMap;

/// The executable program of one kernel, as decoded from its PTX.
pub(crate) struct Program {
    pub(crate) name: String,
    /// Number of registers of a thread at the launch (`.maxnreg`); `None` if the kernel does not state it.
    pub(crate) launch_registers: Option<u32>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) parameter_bytes: u64,
    pub(crate) steps: Vec<Step>,
    /// For each step, the index of the step where lanes that diverge at it reconverge; `u32::MAX` for the end of the
    /// program.
    pub(crate) reconvergence: Vec<u32>,
    /// Number of registers per lane, including those that hold constants and special registers.
    pub(crate) registers: u32,
    /// Registers that hold a constant: index and value.
    pub(crate) constants: Vec<(u32, u64)>,
    /// Registers that hold a special register, such as `%tid.x`: index and the special register.
    pub(crate) specials: Vec<(u32, Special)>,
    /// Registers that may be read before they are written: LLVM marks them in the PTX text as undefined on purpose.
    pub(crate) undefined: Vec<u32>,
    /// Bytes of static shared memory; dynamic shared memory begins after them.
    pub(crate) shared_bytes: u64,
    /// Bytes of local memory of each lane.
    pub(crate) local_bytes: u64,
}

/// The location of a kernel parameter in parameter memory: offset and size, both in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// One instruction of a program, with its operands decoded.
pub(crate) struct Step {
    /// The register of the guard predicate, and whether the predicate is negated; `None` if the instruction has no
    /// guard.
    pub(crate) guard: Option<(u32, bool)>,
    pub(crate) operation: Box<dyn Operation>,
    pub(crate) line: u32,
    pub(crate) opcode: String,
}

/// Special registers of PTX that the virtual device provides.
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
    /// Mask of the lanes with a lower index than the executing lane (`%lanemask_lt`).
    LanesBelow,
    /// Mask of the executing lane and the lanes with a lower index (`%lanemask_le`).
    LanesUpTo,
    /// Mask of the executing lane and the lanes with a higher index (`%lanemask_ge`).
    LanesFrom,
    /// Mask of the lanes with a higher index than the executing lane (`%lanemask_gt`).
    LanesAbove,
    /// Mask of the executing lane alone (`%lanemask_eq`).
    LaneAlone,
    /// Bytes of dynamic shared memory (`%dynamic_smem_size`).
    DynamicBytes,
    /// Bytes of static and dynamic shared memory together (`%total_smem_size`).
    SharedBytes,
    /// The same constant in all lanes, for a register that the virtual device does not model: `%smid`, `%gridid`, or a
    /// position in the cluster.
    Number(u64),
}

/// Addresses of a module's global variables, by the variable's name.
pub(crate) type Addresses = HashMap<String, u64>;
