//! What a program may not do.

use thiserror::Error;
use tilewright_target::Direction;

use super::PtxSpace;

/// What ended a run, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("kernel `{kernel}`, line {line}, `{opcode}`, block ({}, {}, {}), warp {warp}: {kind}", block[0], block[1], block[2])]
pub struct DeviceFault {
    /// The kernel.
    pub kernel: String,
    /// The line of the text.
    pub line: u32,
    /// The instruction.
    pub opcode: String,
    /// Index of the block in the grid.
    pub block: [u32; 3],
    /// Index of the warp in its block.
    pub warp: u32,
    /// What it did.
    pub kind: DeviceFaultKind,
}

/// What a program may not do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeviceFaultKind {
    /// Something depends on a register that was not written.
    #[error("lane {lane}: {what} is undefined: nothing has written the register")]
    UndefinedRegister {
        /// What depends on it.
        what: &'static str,
        /// The lane.
        lane: u32,
    },
    /// A value that lanes must agree on.
    #[error("{what} is not the same in all lanes")]
    Differs {
        /// Which.
        what: &'static str,
    },
    /// Lanes that must execute an instruction together do not.
    #[error("lanes {members:#010x} must execute this together; executing are {active:#010x}")]
    Divergent {
        /// Those that must.
        members: u32,
        /// Those that do.
        active: u32,
    },
    /// No memory there.
    #[error("lane {lane}: a {direction:?} of {bytes} bytes at {address:#x} of {space} memory: {near}")]
    OutOfBounds {
        /// Load or store.
        direction: Direction,
        /// The memory.
        space: PtxSpace,
        /// The address.
        address: u64,
        /// How many bytes.
        bytes: u64,
        /// What is near.
        near: String,
        /// The lane.
        lane: u32,
    },
    /// An address that is no multiple of what the access needs.
    #[error("lane {lane}: a {direction:?} at {address:#x} of {space} memory, which is no multiple of {alignment}")]
    Misaligned {
        /// Load or store.
        direction: Direction,
        /// The memory.
        space: PtxSpace,
        /// The address.
        address: u64,
        /// Of what it must be a multiple.
        alignment: u64,
        /// The lane.
        lane: u32,
    },
    /// A byte that nothing has written.
    #[error("lane {lane}: byte {address:#x} of {space} memory is read before anything is written there")]
    Uninitialised {
        /// The memory.
        space: PtxSpace,
        /// The byte.
        address: u64,
        /// The lane.
        lane: u32,
    },
    /// Two accesses that nothing orders.
    #[error("lane {lane}: a {direction:?} of byte {address:#x} of shared memory races with an earlier {other}")]
    Race {
        /// Load or store.
        direction: Direction,
        /// The byte.
        address: u64,
        /// The other access.
        other: String,
        /// The lane.
        lane: u32,
    },
    /// Bytes that an asynchronous copy is writing.
    #[error(
        "lane {lane}: byte {address:#x} of shared memory is being written by an asynchronous copy that was not waited for"
    )]
    InFlight {
        /// The byte.
        address: u64,
        /// The lane.
        lane: u32,
    },
    /// Bytes that a bulk copy or a product of four warps reads.
    #[error("lane {lane}: byte {address:#x} of shared memory is being read by what was issued and not waited for")]
    Lent {
        /// The byte.
        address: u64,
        /// The lane.
        lane: u32,
    },
    /// A block that ends while its shared memory is read.
    #[error("lane {lane} ends, and a bulk copy from shared memory that it issued was not waited for")]
    Unfinished {
        /// The lane.
        lane: u32,
    },
    /// A barrier that not all lanes come to, or that nobody completes.
    #[error("{0}")]
    Barrier(String),
    /// An mbarrier that is none, or is used wrongly.
    #[error("the mbarrier at {address:#x}: {message}")]
    Mbarrier {
        /// Its address.
        address: u64,
        /// What is wrong.
        message: String,
    },
    /// The program said so.
    #[error("the program trapped: {0}")]
    Trap(String),
    /// An instruction that has no meaning for what it is given.
    #[error("{0}")]
    Instruction(String),
    /// A run that takes longer than allowed.
    #[error("{0} instructions were executed and the kernel goes on; it may wait for what another block does")]
    Steps(u64),
}
