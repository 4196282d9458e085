//! A program as steps.

use crate::machine::Operation;
use std::collections::HashMap;

/// One kernel, ready to run.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) parameter_bytes: u64,
    pub(crate) steps: Vec<Step>,
    /// For each step where lanes that part there meet again: a step, or the end.
    pub(crate) meeting: Vec<u32>,
    /// How many registers a lane has, constants among them.
    pub(crate) registers: u32,
    /// Registers that hold one value from the beginning on.
    pub(crate) constants: Vec<(u32, u64)>,
    /// Registers that hold what the machine says.
    pub(crate) specials: Vec<(u32, Special)>,
    /// Registers that may be read before they are written.
    pub(crate) undefined: Vec<u32>,
    /// Bytes of shared memory that the text asks for by itself; what the launch gives begins there.
    pub(crate) shared_bytes: u64,
    /// Bytes of a lane's own memory.
    pub(crate) local_bytes: u64,
}

/// One parameter of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// One instruction.
pub(crate) struct Step {
    /// The predicate under which it is executed, and whether where that is false.
    pub(crate) guard: Option<(u32, bool)>,
    pub(crate) operation: Box<dyn Operation>,
    pub(crate) line: u32,
    pub(crate) opcode: String,
}

/// What the machine says of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    /// Index in the block along an axis.
    Thread(usize),
    /// Threads of the block along an axis.
    Threads(usize),
    /// Index of the block along an axis.
    Block(usize),
    /// Blocks along an axis.
    Blocks(usize),
    /// Index in the warp.
    Lane,
    /// Index of the warp in the block.
    Warp,
    /// Warps of the block.
    Warps,
    /// Lanes below, up to, from and above the own, as a mask.
    LanesBelow,
    /// See [`Special::LanesBelow`].
    LanesUpTo,
    /// See [`Special::LanesBelow`].
    LanesFrom,
    /// See [`Special::LanesBelow`].
    LanesAbove,
    /// The own lane alone, as a mask.
    LaneAlone,
    /// Bytes of shared memory that the launch gives, and all of them.
    DynamicBytes,
    /// See [`Special::DynamicBytes`].
    SharedBytes,
    /// A number that is the same for all: the multiprocessor, the grid, a cluster of one block.
    Number(u64),
}

/// Addresses of a module's variables in global memory, by name.
pub(crate) type Addresses = HashMap<String, u64>;
