//! PTX as it is run: names are places, labels are steps, instructions are operations with their operands.
//!
//! May import `super::text`, `super::rows` (what instructions mean) and `super::machine` (what operations work on).

mod decode;
mod flow;
mod form;
mod operands;
mod scope;
mod types;

use std::collections::HashMap;

pub(super) use decode::program;
pub(super) use form::{Compute, Form, Meaning, Row};
pub(super) use operands::{Operands, Place};
pub(super) use types::{Class, Type, mask, sign_extend};

use super::machine::Operation;

/// One kernel, ready to run.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) parameter_bytes: u64,
    pub(super) steps: Vec<Step>,
    /// For each step where lanes that part there meet again: a step, or the end.
    pub(super) meeting: Vec<u32>,
    /// How many registers a lane has, constants among them.
    pub(super) registers: u32,
    /// Registers that hold one value from the beginning on.
    pub(super) constants: Vec<(u32, u64)>,
    /// Registers that hold what the machine says.
    pub(super) specials: Vec<(u32, Special)>,
    /// Registers that may be read before they are written.
    pub(super) undefined: Vec<u32>,
    /// Bytes of shared memory that the text asks for by itself; what the launch gives begins there.
    pub(super) shared_bytes: u64,
    /// Bytes of a lane's own memory.
    pub(super) local_bytes: u64,
}

/// One parameter of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// One instruction.
pub(super) struct Step {
    /// The predicate under which it is executed, and whether where that is false.
    pub(super) guard: Option<(u32, bool)>,
    pub(super) operation: Box<dyn Operation>,
    pub(super) line: u32,
    pub(super) opcode: String,
}

/// What the machine says of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Special {
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
pub(super) type Addresses = HashMap<String, u64>;
