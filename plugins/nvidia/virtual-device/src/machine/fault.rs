//! Faults: invalid behaviour of a program that the virtual device detects.

use thiserror::Error;
use tilewright_target::Direction;

use super::PtxSpace;

/// A fault that ended a launch, with the kernel, the instruction, the block and the warp.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("kernel `{kernel}`, line {line}, `{opcode}`, block ({}, {}, {}), warp {warp}: {kind}", block[0], block[1], block[2])]
pub struct DeviceFault {
    /// Name of the kernel that faulted.
    pub kernel: String,
    /// Line of the instruction in the PTX text, from 1; 0 if the fault has no instruction.
    pub line: u32,
    /// Opcode of the instruction with its modifiers, such as `ld.shared.b32`.
    pub opcode: String,
    /// Index of the block in the grid along x, y and z.
    pub block: [u32; 3],
    /// Index of the warp in its block.
    pub warp: u32,
    /// The kind of invalid behaviour that stopped the kernel.
    pub kind: DeviceFaultKind,
}

/// Kinds of invalid behaviour that the virtual device detects.
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
        /// The first address of the access.
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
        /// The first address of the access.
        address: u64,
        /// Alignment in bytes that the access requires.
        alignment: u64,
        /// Index of the lane that accesses memory.
        lane: u32,
    },
    /// A load of a byte that was never written.
    #[error("lane {lane}: byte {address:#x} of {space} memory is read before it is written")]
    Uninitialised {
        /// The memory space of the byte.
        space: PtxSpace,
        /// Address of the byte that is loaded.
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
        /// Address of the byte that both accesses touch.
        address: u64,
        /// Description of the earlier access.
        other: String,
        /// Index of the lane of the later access.
        lane: u32,
    },
    /// An access to bytes of shared memory that an asynchronous copy in flight will write.
    #[error(
        "lane {lane}: byte {address:#x} of shared memory is being written by an asynchronous copy that was not waited for"
    )]
    InFlight {
        /// Address of a byte that the copy will write.
        address: u64,
        /// Index of the lane that accesses the byte.
        lane: u32,
    },
    /// A store to bytes of shared memory that a bulk copy or a warpgroup MMA in flight still reads.
    #[error(
        "lane {lane}: byte {address:#x} of shared memory is being read by an asynchronous operation that was not waited \
         for"
    )]
    AsyncReadInFlight {
        /// Address of a byte that the operation still reads.
        address: u64,
        /// Index of the lane that executes the store.
        lane: u32,
    },
    /// A lane exits while a bulk copy that it issued still reads shared memory.
    #[error("lane {lane} exits and has not waited for a bulk copy from shared memory that it issued")]
    Unfinished {
        /// Index of the lane that exits.
        lane: u32,
    },
    /// A barrier that only some of its threads reach, or that never completes; the text is the error message.
    #[error("{0}")]
    Barrier(String),
    /// An invalid `setmaxnreg`; the text is the error message.
    #[error("{0}")]
    RegisterChange(String),
    /// An mbarrier operation on an address without an mbarrier, or an invalid operation on an mbarrier.
    #[error("the mbarrier at {address:#x}: {message}")]
    Mbarrier {
        /// Address that the operation takes as an mbarrier's.
        address: u64,
        /// The error message, which states the invalid operation.
        message: String,
    },
    /// The program executed `trap` or failed an assertion; the text is the error message.
    #[error("the program trapped: {0}")]
    Trap(String),
    /// An instruction whose behaviour is undefined for its operands; the text is the error message.
    #[error("{0}")]
    Instruction(String),
    /// The launch exceeded the limit on executed instructions, which is the number here. The kernel may loop forever.
    #[error("{0} instructions were executed and the kernel has not ended; it may wait for another block")]
    Steps(u64),
}
