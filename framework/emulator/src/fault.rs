//! Faults: the errors that end a run.

use thiserror::Error;

use tilewright_kernel::{MathFunction, MemorySpace, RegisterChange, VerifyError};
use tilewright_target::Direction;

/// An error of a kernel or of its launch, with the operation that caused it. Earlier writes to global memory remain.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("kernel `{kernel}`{}: {kind}", .location.as_deref().map(FaultLocation::describe).unwrap_or_default())]
pub struct Fault {
    /// Name of the kernel.
    pub kernel: String,
    /// The operation that caused the fault, with its block, warp and lane; `None` if nothing was executed.
    pub location: Option<Box<FaultLocation>>,
    /// Kind of the fault.
    pub kind: FaultKind,
}

/// The operation that caused a fault, and the block, warp and lane that executed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultLocation {
    /// Index of the operation, as in [`tilewright_kernel::Kernel::statements`].
    pub operation: usize,
    /// The operation as text, without its regions.
    pub text: String,
    /// The source location of the operation, `"file.py":3:8`; `None` if the kernel has none.
    pub source: Option<String>,
    /// Index of the block in the grid.
    pub block: [u32; 3],
    /// Index of the warp in its block.
    pub warp: u32,
    /// Index of the lane in its warp; `None` if the fault concerns several lanes.
    pub lane: Option<u32>,
}

impl FaultLocation {
    fn describe(&self) -> String {
        let Self { operation, text, block: [x, y, z], warp, .. } = self;
        let lane = self.lane.map(|lane| format!(" lane {lane}")).unwrap_or_default();
        let source = self.source.as_ref().map(|source| format!(" of {source}")).unwrap_or_default();
        format!(", operation {operation} `{text}`{source}, block ({x}, {y}, {z}) warp {warp}{lane}")
    }
}

/// A fault before the runner adds the operation, block and warp that caused it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneFault {
    /// Index of the lane; `None` if the fault concerns several lanes.
    pub lane: Option<u32>,
    /// Kind of the fault.
    pub kind: FaultKind,
}

impl From<FaultKind> for LaneFault {
    fn from(kind: FaultKind) -> Self {
        Self { lane: None, kind }
    }
}

/// The earlier of two conflicting accesses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierConflictingAccess {
    /// Index of the operation that made the access.
    pub operation: usize,
    /// The operation that made the access, as text.
    pub text: String,
    /// The source location of that operation, such as `"file.py":3:8`; `None` if the kernel has none.
    pub source: Option<String>,
    /// Whether the access was a load or a store.
    pub direction: Direction,
    /// Index in the cluster of the block that made the access; `None` if it is the block of the later access.
    pub block: Option<u32>,
    /// Index of the warp that made the access; `None` if several warps made such accesses.
    pub warp: Option<u32>,
    /// Index of the lane that made the access; `None` if several lanes made such accesses.
    pub lane: Option<u32>,
}

/// Kind of a fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// The kernel violates the rules of the IR; the error of the kernel's author.
    #[error("not a valid kernel: {0}")]
    Invalid(Box<VerifyError>),
    /// The target cannot launch the kernel with this configuration; the caller's error.
    #[error("cannot be launched: {0}")]
    Launch(String),
    /// The arguments do not match the parameters; the caller's error.
    #[error("argument {index}: {message}")]
    Argument {
        /// Index of the first argument that does not match its parameter, from 0.
        index: usize,
        /// Description of the error, and of the argument that was expected.
        message: String,
    },
    /// The kernel needs more shared memory than a block of the target can have.
    #[error("{bytes} bytes of shared memory; a block of the target has at most {limit}")]
    SharedLimit {
        /// Bytes of shared memory that the kernel needs for each block.
        bytes: u64,
        /// Max bytes of shared memory of a block of the target.
        limit: u64,
    },
    /// The registers of a cluster's lanes need more host memory than the limits allow.
    #[error("the registers of one cluster take {bytes} bytes; the limit is {limit}")]
    RegisterLimit {
        /// Bytes of host memory that the registers of all lanes of one cluster take.
        bytes: u64,
        /// Max number of these bytes: [`crate::RunLimits::register_bytes`].
        limit: u64,
    },
    /// The run executed more operations than the limits allow, most likely in an endless loop.
    #[error("more than {limit} operations were run; most likely a loop does not end")]
    StepLimit {
        /// Max number of operations of the run, as [`crate::RunLimits::steps`] sets it.
        limit: u64,
    },
    /// An access outside of all buffers, or beyond the end of the pointer's buffer.
    #[error("{} of {bytes} bytes at {} address {address:#x} is out of bounds: {expected}", verb(*.direction), .space.name())]
    OutOfBounds {
        /// Whether the access is a load or a store.
        direction: Direction,
        /// Memory space of the access.
        space: MemorySpace,
        /// Address of the first byte of the access.
        address: u64,
        /// Number of bytes of the access.
        bytes: u64,
        /// Text that describes the nearest buffer, or the valid range of addresses.
        expected: String,
    },
    /// A load of memory that has not been written.
    #[error("load of uninitialised {} memory at address {address:#x}", .space.name())]
    Uninitialised {
        /// Memory space of the load.
        space: MemorySpace,
        /// Address of the first uninitialised byte.
        address: u64,
    },
    /// An address without the alignment that the operation states.
    #[error("{} at {} address {address:#x}, which is not a multiple of {alignment}", verb(*.direction), .space.name())]
    Misaligned {
        /// Whether the access is a load or a store.
        direction: Direction,
        /// Memory space of the access.
        space: MemorySpace,
        /// Address of the access.
        address: u64,
        /// Alignment that the operation states, in bytes.
        alignment: u64,
    },
    /// Two unordered accesses of one byte of shared memory.
    #[error("race: {} at shared address {address:#x} with no barrier since {}", verb(*.direction), describe(.other))]
    Race {
        /// Whether the later access is a load or a store.
        direction: Direction,
        /// Shared-memory address of the byte that both accesses touch.
        address: u64,
        /// The earlier of the two accesses.
        other: Box<EarlierConflictingAccess>,
    },
    /// Two unordered accesses of global memory, of two programs, or of two warps or lanes of one program.
    #[error("race: {} at global address {address:#x}, {}", verb(*.direction), unordered(.other, *.same_program))]
    GlobalRace {
        /// Whether the later access is a load or a store.
        direction: Direction,
        /// Global-memory address of the first byte of the later access.
        address: u64,
        /// The earlier of the two accesses.
        other: Box<EarlierConflictingAccess>,
        /// Whether one program (cluster of the launch) makes both accesses.
        same_program: bool,
    },
    /// An access of shared memory that an asynchronous operation in flight still reads or writes.
    #[error("{} at shared address {address:#x} before {} has completed: wait for it first", verb(*.direction), describe(.other))]
    InFlight {
        /// Whether the later access is a load or a store.
        direction: Direction,
        /// Shared-memory address of the byte that both accesses touch.
        address: u64,
        /// The operation in flight: a store if it will write the byte, a load if it still reads it.
        other: Box<EarlierConflictingAccess>,
    },
    /// Invalid allocation, deallocation or access of tensor memory.
    #[error("tensor memory: {message}")]
    TensorMemory {
        /// Description of the error and of the expected use.
        message: String,
    },
    /// A read of tensor memory that has not been written.
    #[error("read of uninitialised tensor memory at row {row}, column {column}")]
    TensorUninitialised {
        /// Row of the unwritten 32-bit word of tensor memory.
        row: u32,
        /// Column of the unwritten word of tensor memory, in 32-bit words.
        column: u32,
    },
    /// An access of tensor memory that an asynchronous operation in flight still reads or writes.
    #[error("{} of tensor memory at row {row}, column {column} before {} has completed: wait for it first", verb(*.direction), describe(.other))]
    TensorInFlight {
        /// Whether the later access is a load or a store.
        direction: Direction,
        /// Row of the 32-bit word of tensor memory that both accesses touch.
        row: u32,
        /// Column of the word that both accesses touch, in 32-bit words.
        column: u32,
        /// The asynchronous operation in flight.
        other: Box<EarlierConflictingAccess>,
    },
    /// Two unordered accesses of one word of tensor memory.
    #[error("race: {} of tensor memory at row {row}, column {column} with no barrier since {}", verb(*.direction), describe(.other))]
    TensorRace {
        /// Whether the later access is a load or a store.
        direction: Direction,
        /// Row of the 32-bit word of tensor memory that both accesses touch.
        row: u32,
        /// Column of the word that both accesses touch, in 32-bit words.
        column: u32,
        /// The earlier of the two accesses.
        other: Box<EarlierConflictingAccess>,
    },
    /// A block ends with allocated tensor memory.
    #[error("ends with {columns} columns of tensor memory allocated: free them first")]
    TensorLeft {
        /// Number of tensor-memory columns that are still allocated when the block ends.
        columns: u32,
    },
    /// An asynchronous read of bytes that plain stores wrote, without a proxy fence in between.
    #[error("asynchronous read of shared address {address:#x} with no proxy_fence by its warp since {}", describe(.other))]
    Unfenced {
        /// Shared-memory address of the byte that is read without a fence after the plain store.
        address: u64,
        /// The plain store that wrote the byte.
        other: Box<EarlierConflictingAccess>,
    },
    /// A block ends before an asynchronous operation completes.
    #[error("ends before {} has completed: wait for all asynchronous operations", describe(.other))]
    Unfinished {
        /// The asynchronous operation in flight.
        other: Box<EarlierConflictingAccess>,
    },
    /// A pending value is used before it is ready, or after another operation took it as its accumulator; the text
    /// describes which.
    #[error("pending value: {0}")]
    Pending(String),
    /// A wait for an mbarrier phase that never completes.
    #[error(
        "the phase of the mbarrier at shared address {address:#x} never completes: \
         it lacks {arrivals} arrivals and {bytes} bytes, and no warp can continue"
    )]
    NeverCompletes {
        /// Shared address of the mbarrier.
        address: u64,
        /// Number of arrivals that the phase still needs.
        arrivals: u32,
        /// Number of bytes that copies must still write to complete the phase; negative if more were written than were
        /// expected.
        bytes: i64,
    },
    /// Invalid use of an mbarrier.
    #[error("mbarrier at shared address {address:#x}: {message}")]
    Mbarrier {
        /// Shared address of the mbarrier.
        address: u64,
        /// Description of the invalid use.
        message: String,
    },
    /// A collective operation that only some lanes reach.
    #[error("divergent collective: lanes with mask {missing:#x} do not reach it")]
    Divergent {
        /// Mask of the lanes that do not reach the operation; bit `i` stands for lane `i`.
        missing: u64,
    },
    /// A value that the kernel assumes uniform differs between lanes.
    #[error("lanes {lane} and {other} have different values, which the kernel assumes to be uniform")]
    NotSame {
        /// One of two lanes that hold different values.
        lane: u32,
        /// The other of the two lanes.
        other: u32,
    },
    /// A shuffle reads from a lane index beyond the warp.
    #[error("shuffle reads lane {from} of a warp of {lanes}")]
    ShuffleLane {
        /// The lane index that the shuffle reads from.
        from: u64,
        /// Number of lanes of the warp.
        lanes: u32,
    },
    /// A block barrier that some warps do not reach.
    #[error("divergent collective: warps {missing:?} of the block end or wait elsewhere, and never reach this barrier")]
    BarrierNotReached {
        /// Indices in the block of the warps that do not reach the barrier.
        missing: Vec<u32>,
    },
    /// A named barrier whose number the target does not have.
    #[error("named barrier {number}; expected less than {most}, the number of the target's")]
    NamedBarrierNumber {
        /// The number that the warp computed.
        number: u64,
        /// The number of named barriers of a block on the target.
        most: u32,
    },
    /// Lanes release registers down to more than they have, or acquire registers up to fewer.
    #[error("lanes of {from} registers cannot {} {to}: expected {} registers than before", .change.name(), match .change {
        RegisterChange::Release => "fewer",
        RegisterChange::Acquire => "more",
    })]
    RegisterChange {
        /// Whether the lanes release or acquire registers.
        change: RegisterChange,
        /// Number of registers of a lane before the change.
        from: u32,
        /// Number of registers of a lane after the change.
        to: u32,
    },
    /// Lanes wait for registers that no other lanes release.
    #[error(
        "lanes acquire {needed} registers, the pool of the block has {free}, and no warp can continue: expected other \
         warp groups to release them"
    )]
    RegistersNotReleased {
        /// Number of registers that all lanes of the warp group acquire together.
        needed: u64,
        /// Number of registers in the pool.
        free: u64,
    },
    /// A cluster barrier that some blocks do not reach.
    #[error(
        "divergent collective: blocks {missing:?} of the cluster end or wait elsewhere, and never reach this barrier"
    )]
    ClusterBarrierNotReached {
        /// Indices in the cluster of the blocks that do not reach the barrier.
        missing: Vec<u32>,
    },
    /// An instruction that several warps must issue together, and some warps do not issue, or issue in another order.
    #[error(
        "divergent collective: {together} warps issue it together, and warps {missing:?} do not, or not in this order"
    )]
    NotIssuedTogether {
        /// Number of warps that must issue the instruction together.
        together: u32,
        /// Indices in the block of the warps that do not issue the instruction, or not in this order.
        missing: Vec<u32>,
    },
    /// An access of another block's memory when that block may not have started, or may have ended.
    #[error(
        "{} of memory of block {owner} of the cluster, which {}",
        verb(*.direction),
        if *.too_late {
            "may have ended: a cluster barrier must follow"
        } else {
            "may not have started: add a cluster barrier before the access"
        }
    )]
    NotRunning {
        /// Whether the access is a load or a store.
        direction: Direction,
        /// Index in the cluster of the block that owns the memory.
        owner: u32,
        /// Whether the block may have ended; otherwise it may not have started.
        too_late: bool,
    },
    /// A loop whose step is zero.
    #[error("the loop's step is zero")]
    LoopStep,
    /// A loop whose index passes 2^32.
    #[error("the loop's index {index} plus its step {step} does not fit into 32 bits")]
    LoopIndex {
        /// Value of the loop index before the step is added.
        index: u64,
        /// Step of the loop.
        step: u64,
    },
    /// An assertion of the kernel failed.
    #[error("assertion failed: {message}")]
    Assertion {
        /// The message of the assertion.
        message: String,
    },
    /// Unsupported: inline assembly, which only its vendor's code generator understands.
    #[error("unsupported: the emulator does not execute assembly: `{text}`")]
    Assembly {
        /// The assembly text.
        text: String,
    },
    /// Unsupported: a math function that no hardware executes.
    #[error("unsupported: the emulator evaluates no `{}`: expand it first", .function.name())]
    Function {
        /// The math function.
        function: MathFunction,
    },
    /// A shared-memory access that has no bank row in the target description.
    #[error("the target has no bank row for a {} of {bits} bits per lane{}", verb(*.direction), .instruction.as_deref().map(|name| format!(" by `{name}`")).unwrap_or_default())]
    NoBankRow {
        /// Whether the access is a load or a store.
        direction: Direction,
        /// Width of the access in bits per lane.
        bits: u32,
        /// Name of the vendor instruction that makes the access; `None` for a plain load or store.
        instruction: Option<String>,
    },
    /// Unsupported: a vendor instruction whose semantics the emulator was not given.
    #[error("unsupported instruction `{name}`: the emulator has no semantics of this name")]
    UnknownInstruction {
        /// Name of the instruction.
        name: String,
    },
    /// A vendor instruction whose operands do not match its table row.
    #[error("instruction `{name}`: {message}")]
    Instruction {
        /// Name of the instruction.
        name: String,
        /// Text that states how the operands differ from those of the instruction's table row.
        message: String,
    },
}

/// Expands to the earlier access that the fault `$fault` names, as an `Option` of a reference; the reference is mutable
/// if the fault is borrowed mutably.
macro_rules! other_access {
    ($fault:expr) => {
        match $fault {
            FaultKind::Race { other, .. }
            | FaultKind::GlobalRace { other, .. }
            | FaultKind::InFlight { other, .. }
            | FaultKind::TensorInFlight { other, .. }
            | FaultKind::TensorRace { other, .. }
            | FaultKind::Unfenced { other, .. }
            | FaultKind::Unfinished { other } => Some(other),
            _ => None,
        }
    };
}

impl FaultKind {
    /// Returns the earlier of the two conflicting accesses that the fault names; `None` if it names none.
    #[must_use]
    pub fn conflicting_access(&self) -> Option<&EarlierConflictingAccess> {
        other_access!(self)
    }

    /// Returns the earlier access that the fault names, so that the runner can add the text and the source location of
    /// its operation; `None` if the fault names none.
    pub(super) fn other_mut(&mut self) -> Option<&mut EarlierConflictingAccess> {
        other_access!(self)
    }

    /// Converts a fault of a shared-memory access to the fault of a cluster access to block `block`: bits 32 and above
    /// of the address become the block index.
    pub(super) fn in_cluster(mut self, block: u64) -> Self {
        if let Self::OutOfBounds { space, address, .. }
        | Self::Uninitialised { space, address }
        | Self::Misaligned { space, address, .. } = &mut self
        {
            *space = MemorySpace::Cluster;
            *address |= block << 32;
        }
        self
    }
}

fn verb(direction: Direction) -> &'static str {
    match direction {
        Direction::Store => "store",
        Direction::Load => "load",
    }
}

/// Returns text that describes the earlier of two unordered accesses of global memory, and the synchronization that is
/// missing between them.
fn unordered(other: &EarlierConflictingAccess, same_program: bool) -> String {
    let EarlierConflictingAccess { operation, text, direction, .. } = other;
    let access = format!("the {} of operation {operation} `{text}`{}", verb(*direction), location_suffix(other));
    match same_program {
        true => format!("with no barrier since {access} by other lanes of the program"),
        false => format!("which no atomic operation orders after {access} by another program"),
    }
}

/// Returns ` of LOCATION`, the source location of an earlier access, to append to the text of its operation; empty if
/// the kernel has no source locations.
fn location_suffix(other: &EarlierConflictingAccess) -> String {
    other.source.as_ref().map(|source| format!(" of {source}")).unwrap_or_default()
}

fn describe(other: &EarlierConflictingAccess) -> String {
    let EarlierConflictingAccess { operation, text, direction, .. } = other;
    let warp = other.warp.map_or("several warps".to_owned(), |warp| format!("warp {warp}"));
    let block = other.block.map(|block| format!("block {block} of the cluster, ")).unwrap_or_default();
    let lane = other.lane.map_or("several lanes".to_owned(), |lane| format!("lane {lane}"));
    let place = location_suffix(other);
    format!("the {} of operation {operation} `{text}`{place} by {block}{warp}, {lane}", verb(*direction))
}
