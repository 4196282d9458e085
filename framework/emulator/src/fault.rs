//! What ends a run.

use thiserror::Error;

use tilewright_kernel::{MathFunction, MemorySpace, VerifyError};
use tilewright_target::Direction;

/// What a kernel, or its launch, did wrong, and where. What was written to global memory before
/// stays written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("kernel `{kernel}`{}: {kind}", .place.as_deref().map(FaultPlace::described).unwrap_or_default())]
pub struct Fault {
    /// The kernel.
    pub kernel: String,
    /// Where it happened; absent where nothing was run.
    pub place: Option<Box<FaultPlace>>,
    /// What happened.
    pub kind: FaultKind,
}

/// An operation, and who ran it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultPlace {
    /// The operation's number, as [`tilewright_kernel::Kernel::statements`].
    pub operation: usize,
    /// The operation as text, without its regions.
    pub text: String,
    /// Index of the block in the grid.
    pub block: [u32; 3],
    /// Index of the warp in its block.
    pub warp: u32,
    /// Index of the lane in its warp, where it is one lane's doing.
    pub lane: Option<u32>,
}

impl FaultPlace {
    fn described(&self) -> String {
        let Self { operation, text, block: [x, y, z], warp, .. } = self;
        let lane = self.lane.map(|lane| format!(" lane {lane}")).unwrap_or_default();
        format!(", operation {operation} `{text}`, block ({x}, {y}, {z}) warp {warp}{lane}")
    }
}

/// A fault where it happens: the runner adds the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneFault {
    /// The lane, where it is one lane's doing.
    pub lane: Option<u32>,
    /// What happened.
    pub kind: FaultKind,
}

impl From<FaultKind> for LaneFault {
    fn from(kind: FaultKind) -> Self {
        Self { lane: None, kind }
    }
}

/// The earlier access of a race.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherAccess {
    /// The number of its operation.
    pub operation: usize,
    /// The operation as text.
    pub text: String,
    /// Whether it wrote or read.
    pub direction: Direction,
    /// Index in the cluster of the block, where it is one and not that of the later access.
    pub block: Option<u32>,
    /// The warp; absent where several warps made such accesses.
    pub warp: Option<u32>,
    /// The lane; absent where several lanes made such accesses.
    pub lane: Option<u32>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// The kernel breaks the rules of the IR. The fault of whoever made it.
    #[error("not a valid kernel: {0}")]
    Invalid(Box<VerifyError>),
    /// The target can't launch the kernel so. The caller's fault.
    #[error("cannot be launched: {0}")]
    Launch(String),
    /// The arguments don't fit the parameters. The caller's fault.
    #[error("argument {index}: {message}")]
    Argument {
        /// Which argument.
        index: usize,
        /// What is wrong, what was expected.
        message: String,
    },
    /// More shared memory than a block of the target can have.
    #[error("{bytes} bytes of shared memory; a block of the target has at most {limit}")]
    SharedLimit {
        /// What the kernel asks for.
        bytes: u64,
        /// What there is.
        limit: u64,
    },
    /// The values of a cluster's lanes need more memory than the limits allow.
    #[error("the values of the blocks that run together take {bytes} bytes; the limit is {limit}")]
    RegisterLimit {
        /// What they take.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// More operations than the limits allow: most likely an endless loop.
    #[error("more than {limit} operations were run; most likely a loop does not end")]
    StepLimit {
        /// The limit.
        limit: u64,
    },
    /// Memory that is in no buffer, or beyond the end of the pointer's own.
    #[error("{} of {bytes} bytes at {} address {address:#x} is out of bounds: {expected}", word(*.direction), .space.name())]
    OutOfBounds {
        /// Whether it reads or writes.
        direction: Direction,
        /// The memory.
        space: MemorySpace,
        /// The first byte.
        address: u64,
        /// How many bytes.
        bytes: u64,
        /// What lies near.
        expected: String,
    },
    /// Reads what nobody has written.
    #[error("load of uninitialised {} memory at address {address:#x}", .space.name())]
    Uninitialised {
        /// The memory.
        space: MemorySpace,
        /// The first byte that is uninitialised.
        address: u64,
    },
    /// An address that isn't aligned as the operation promises.
    #[error("{} at {} address {address:#x}, which is not a multiple of {alignment}", word(*.direction), .space.name())]
    Misaligned {
        /// Whether it reads or writes.
        direction: Direction,
        /// The memory.
        space: MemorySpace,
        /// The address.
        address: u64,
        /// The alignment that was promised.
        alignment: u64,
    },
    /// Two accesses of a byte of shared memory that nothing orders.
    #[error("race: {} at shared address {address:#x} with no barrier since {}", word(*.direction), described(.other))]
    Race {
        /// Whether the later access reads or writes.
        direction: Direction,
        /// The byte.
        address: u64,
        /// The earlier access.
        other: Box<OtherAccess>,
    },
    /// An access of shared memory that an asynchronous operation still writes or reads.
    #[error("{} at shared address {address:#x} before {} has landed: wait for it first", word(*.direction), described(.other))]
    InFlight {
        /// Whether the access reads or writes.
        direction: Direction,
        /// The byte.
        address: u64,
        /// What is under way: a store where it will write the byte, a load where it still reads it.
        other: Box<OtherAccess>,
    },
    /// Tensor memory allotted, given back or accessed wrongly.
    #[error("tensor memory: {message}")]
    TensorMemory {
        /// What is wrong, what was expected.
        message: String,
    },
    /// Reads what nobody has written.
    #[error("read of uninitialised tensor memory at row {row}, column {column}")]
    TensorUninitialised {
        /// The row.
        row: u32,
        /// The column.
        column: u32,
    },
    /// An access of tensor memory that an asynchronous operation still writes or reads.
    #[error("{} of tensor memory at row {row}, column {column} before {} has landed: wait for it first", word(*.direction), described(.other))]
    TensorInFlight {
        /// Whether the access reads or writes.
        direction: Direction,
        /// The row.
        row: u32,
        /// The column.
        column: u32,
        /// What is under way.
        other: Box<OtherAccess>,
    },
    /// Two accesses of a word of tensor memory that nothing orders.
    #[error("race: {} of tensor memory at row {row}, column {column} with no barrier since {}", word(*.direction), described(.other))]
    TensorRace {
        /// Whether the later access reads or writes.
        direction: Direction,
        /// The row.
        row: u32,
        /// The column.
        column: u32,
        /// The earlier access.
        other: Box<OtherAccess>,
    },
    /// Tensor memory that a block has when it ends.
    #[error("ends with {columns} columns of tensor memory that were not given back")]
    TensorLeft {
        /// How many.
        columns: u32,
    },
    /// An asynchronous read of what was written by plain stores, which its proxy need not see.
    #[error("asynchronous read of shared address {address:#x} with no proxy_fence by its warp since {}", described(.other))]
    Unfenced {
        /// The byte.
        address: u64,
        /// The plain store.
        other: Box<OtherAccess>,
    },
    /// An asynchronous operation that nobody waits for.
    #[error("ends before {} has landed: everything that is issued must be waited for", described(.other))]
    Unfinished {
        /// What is under way.
        other: Box<OtherAccess>,
    },
    /// A pending value is used before it may be, or after it was handed on.
    #[error("pending value: {0}")]
    Pending(String),
    /// A wait for an mbarrier's phase that never completes.
    #[error(
        "the phase of the mbarrier at shared address {address:#x} never completes: \
         it lacks {arrivals} arrivals and {bytes} bytes, and nobody goes on"
    )]
    NeverCompletes {
        /// Where the mbarrier is.
        address: u64,
        /// Arrivals that it lacks.
        arrivals: u32,
        /// Bytes that it lacks; below zero where more came than were expected.
        bytes: i64,
    },
    /// An mbarrier used wrongly.
    #[error("mbarrier at shared address {address:#x}: {message}")]
    Mbarrier {
        /// Where it is.
        address: u64,
        /// What is wrong.
        message: String,
    },
    /// A collective reached by some lanes only.
    #[error("divergent collective: lanes with mask {missing:#x} do not reach it")]
    Divergent {
        /// A bit for each lane of the warp that doesn't reach it.
        missing: u64,
    },
    /// A value that the kernel says is the same in all lanes is not.
    #[error("lanes {lane} and {other} hold different values of what is said to be the same")]
    NotSame {
        /// A lane.
        lane: u32,
        /// Another.
        other: u32,
    },
    /// An exchange reads from a lane that the warp doesn't have.
    #[error("exchange reads lane {from} of a warp of {lanes}")]
    ExchangeLane {
        /// The lane asked for.
        from: u64,
        /// How many there are.
        lanes: u32,
    },
    /// A barrier of the block that some warps don't reach.
    #[error("divergent collective: warps {missing:?} of the block end or wait elsewhere, and never reach this barrier")]
    BarrierNotReached {
        /// The warps.
        missing: Vec<u32>,
    },
    /// A barrier of the cluster that some blocks don't reach.
    #[error(
        "divergent collective: blocks {missing:?} of the cluster end or wait elsewhere, and never reach this barrier"
    )]
    ClusterBarrierNotReached {
        /// The blocks, by their index in the cluster.
        missing: Vec<u32>,
    },
    /// An instruction that several warps issue together, and some of them don't issue, or in another order.
    #[error(
        "divergent collective: {together} warps issue it together, and warps {missing:?} issue it not, or not in this order"
    )]
    NotIssuedTogether {
        /// How many issue it together.
        together: u32,
        /// Those that don't.
        missing: Vec<u32>,
    },
    /// An access of another block's memory while that block may not have begun, or may have ended.
    #[error(
        "{} of memory of block {owner} of the cluster, which {}",
        word(*.direction),
        if *.ended {
            "may have ended: a barrier of the cluster must follow"
        } else {
            "may not have begun: a barrier of the cluster must come before"
        }
    )]
    NotRunning {
        /// Whether it reads or writes.
        direction: Direction,
        /// The block whose memory it is, by its index in the cluster.
        owner: u32,
        /// Whether the block may have ended.
        ended: bool,
    },
    /// A loop whose step is zero.
    #[error("the loop's step is zero")]
    LoopStep,
    /// A loop whose index passes 2^32.
    #[error("the loop's index {index} plus its step {step} does not fit into 32 bits")]
    LoopIndex {
        /// The index.
        index: u64,
        /// The step.
        step: u64,
    },
    /// A condition that the kernel asserts does not hold.
    #[error("assertion failed: {message}")]
    Assertion {
        /// What the kernel says.
        message: String,
    },
    /// Unsupported: assembly, which only its vendor's code generator knows.
    #[error("unsupported: assembly has no meaning on the emulator: `{text}`")]
    Assembly {
        /// The assembly.
        text: String,
    },
    /// Unsupported: a function that no hardware has.
    #[error("unsupported: the emulator evaluates no `{}`: expand it first", .function.name())]
    Function {
        /// Which.
        function: MathFunction,
    },
    /// An access of shared memory that the target's bank rows don't list.
    #[error("the target has no bank row for a {} of {bits} bits per lane{}", word(*.direction), .instruction.as_deref().map(|name| format!(" by `{name}`")).unwrap_or_default())]
    NoBankRow {
        /// Whether it reads or writes.
        direction: Direction,
        /// Its width.
        bits: u32,
        /// The vendor instruction, where it is one.
        instruction: Option<String>,
    },
    /// Unsupported: a vendor instruction whose meaning the emulator was not given.
    #[error("unsupported instruction `{name}`: the emulator was given no meaning of this name")]
    UnknownInstruction {
        /// Its name.
        name: String,
    },
    /// A vendor instruction whose operands aren't its row's.
    #[error("instruction `{name}`: {message}")]
    Instruction {
        /// Its name.
        name: String,
        /// What is wrong.
        message: String,
    },
}

impl FaultKind {
    /// The earlier access that it names, if any.
    pub(super) fn other_mut(&mut self) -> Option<&mut OtherAccess> {
        match self {
            Self::Race { other, .. }
            | Self::InFlight { other, .. }
            | Self::TensorInFlight { other, .. }
            | Self::TensorRace { other, .. }
            | Self::Unfenced { other, .. }
            | Self::Unfinished { other } => Some(other),
            _ => None,
        }
    }

    /// The same as an access of a block of the cluster: addresses have the block above 32 bits.
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

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Store => "store",
        Direction::Load => "load",
    }
}

fn described(other: &OtherAccess) -> String {
    let OtherAccess { operation, text, direction, .. } = other;
    let warp = other.warp.map_or("several warps".to_owned(), |warp| format!("warp {warp}"));
    let block = other.block.map(|block| format!("block {block} of the cluster, ")).unwrap_or_default();
    let lane = other.lane.map_or("several lanes".to_owned(), |lane| format!("lane {lane}"));
    format!("the {} of operation {operation} `{text}` by {block}{warp}, {lane}", word(*direction))
}
