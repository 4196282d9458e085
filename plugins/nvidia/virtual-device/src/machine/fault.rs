//! Faults: invalid behaviour of a program that the virtual device detects.

use thiserror::Error;
use tilewright_target::Direction;

use super::PtxSpace;

/// The fault that ended a run, with the location of the instruction.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("kernel `{kernel}`, line {line}, `{opcode}`, block ({}, {}, {}), warp {warp}: {kind}", block[0], block[1], block[2])]
pub struct DeviceFault {
    /// Name of the kernel that faulted.
    pub kernel: String,
    /// Line of the instruction in the PTX text.
    pub line: u32,
    /// Opcode of the instruction, with its modifiers.
    pub opcode: String,
    /// Index of the block in the grid.
    pub block: [u32; 3],
    /// Index of the warp in its block.
    pub warp: u32,
    /// The kind of fault.
    pub kind: DeviceFaultKind,
}

/// Kinds of faults.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeviceFaultKind {
    /// A value that must be defined depends on a register that was not written.
    #[error("lane {lane}: {what} is undefined: the register has not been written")]
    UndefinedRegister {
        /// Description of the value that depends on the register, such as "the address".
        what: &'static str,
        /// Index of the lane that reads the register.
        lane: u32,
    },
    /// A value that must be uniform over the executing lanes differs between them.
    #[error("{what} is not the same in all lanes")]
    Differs {
        /// Description of the value that must be uniform, such as "the member mask".
        what: &'static str,
    },
    /// Only some of the lanes that must execute an instruction together execute it.
    #[error("lanes {members:#010x} must execute this together; executing are {active:#010x}")]
    Divergent {
        /// Mask of the lanes that must execute the instruction.
        members: u32,
        /// Mask of the lanes that execute it.
        active: u32,
    },
    /// An access to an address outside of the allocated memory.
    #[error("lane {lane}: a {direction:?} of {bytes} bytes at {address:#x} of {space} memory: {near}")]
    OutOfBounds {
        /// Whether the access is a load or a store.
        direction: Direction,
        /// The memory space of the address.
        space: PtxSpace,
        /// The address of the access.
        address: u64,
        /// Number of bytes of the access.
        bytes: u64,
        /// Description of the nearest allocation.
        near: String,
        /// Index of the lane that accesses memory.
        lane: u32,
    },
    /// An access to a misaligned address.
    #[error("lane {lane}: a {direction:?} at {address:#x} of {space} memory, which is not a multiple of {alignment}")]
    Misaligned {
        /// Whether the access is a load or a store.
        direction: Direction,
        /// The memory space of the address.
        space: PtxSpace,
        /// The address of the access.
        address: u64,
        /// Required alignment in bytes.
        alignment: u64,
        /// Index of the lane that accesses memory.
        lane: u32,
    },
    /// A load of a byte that was never written.
    #[error("lane {lane}: byte {address:#x} of {space} memory is read before it is written")]
    Uninitialised {
        /// The memory space of the byte.
        space: PtxSpace,
        /// Address of the byte.
        address: u64,
        /// Index of the lane that loads the byte.
        lane: u32,
    },
    /// A race: a store to a byte of shared memory, and another access to the byte, without a synchronization between
    /// them.
    #[error("lane {lane}: a {direction:?} of byte {address:#x} of shared memory races with an earlier {other}")]
    Race {
        /// Whether the later access is a load or a store.
        direction: Direction,
        /// Address of the byte.
        address: u64,
        /// Description of the earlier access.
        other: String,
        /// Index of the lane of the later access.
        lane: u32,
    },
    /// An access to bytes of shared memory that an asynchronous copy is writing.
    #[error(
        "lane {lane}: byte {address:#x} of shared memory is being written by an asynchronous copy that was not waited for"
    )]
    InFlight {
        /// Address of the byte.
        address: u64,
        /// Index of the lane that accesses the byte.
        lane: u32,
    },
    /// A store to bytes of shared memory that a bulk copy or a warpgroup MMA is reading.
    #[error(
        "lane {lane}: byte {address:#x} of shared memory is being read by an asynchronous operation that was not waited \
         for"
    )]
    AsyncReadInFlight {
        /// Address of the byte.
        address: u64,
        /// Index of the lane that stores.
        lane: u32,
    },
    /// A lane exits while a bulk copy that it issued still reads shared memory.
    #[error("lane {lane} exits and has not waited for a bulk copy from shared memory that it issued")]
    Unfinished {
        /// Index of the lane that exits.
        lane: u32,
    },
    /// A barrier that not all of its lanes reach, or that never completes; with the error message.
    #[error("{0}")]
    Barrier(String),
    /// An mbarrier operation on an address without an mbarrier, or a wrong use of an mbarrier.
    #[error("the mbarrier at {address:#x}: {message}")]
    Mbarrier {
        /// Address of the mbarrier.
        address: u64,
        /// The error message, which describes the wrong use.
        message: String,
    },
    /// The program executed a trap or failed an assertion; with the error message.
    #[error("the program trapped: {0}")]
    Trap(String),
    /// An instruction that is undefined for its operands; with the error message.
    #[error("{0}")]
    Instruction(String),
    /// A run that executes more instructions than this limit.
    #[error("{0} instructions were executed and the kernel has not ended; it may wait for another block")]
    Steps(u64),
}
