//! The operations of the kernel IR.
//!
//! [`Op`] is one operation; `choices`, `atomic` and `math` are the plain enums that it is told apart by, `parts` its
//! name, operands and regions.

mod atomic;
mod choices;
mod math;
mod named;
mod parts;

use serde::{Deserialize, Serialize};

use super::{Queue, Region, Value};

pub use atomic::{Atomic, MemoryOrder, MemoryScope};
pub use choices::{Binary, Cast, Compare, Exchange, Issuers, Scope, SpecialRegister, Unary};
pub use math::MathFunction;
pub use math::Rounding;

/// One operation. Operands are values defined before it.
///
/// Serialised by name, so that a reader can tell which operation it does not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Op {
    /// A constant: the given bits (of each element, for a vector).
    Constant {
        /// The bits, zero-extended.
        bits: u64,
    },
    /// A value that the hardware supplies.
    Special(SpecialRegister),
    /// The address of a static shared buffer of the kernel, by its index.
    SharedAddress {
        /// Index into [`super::Kernel::shared`].
        buffer: u32,
    },
    /// Where a shared address of the own block is in a block of the cluster: the same buffer and place.
    ClusterAddress {
        /// A pointer to shared memory.
        pointer: Value,
        /// Index of the block in the cluster, an `i32` below the number of its blocks.
        block: Value,
    },
    /// An operation on one value.
    Unary {
        /// Which.
        op: Unary,
        /// The operand.
        a: Value,
    },
    /// An operation on two values.
    Binary {
        /// Which.
        op: Binary,
        /// Left operand.
        a: Value,
        /// Right operand.
        b: Value,
    },
    /// `a * b + c` of floating-point numbers but `bf16`, rounded once, to nearest even. (Hardware that computes with
    /// `bf16` rounds such sums twice.)
    FMulAdd {
        /// A factor.
        a: Value,
        /// The other.
        b: Value,
        /// What the product is added to.
        c: Value,
    },
    /// A comparison of integers or floating-point numbers.
    Compare {
        /// Which.
        op: Compare,
        /// Left operand.
        a: Value,
        /// Right operand.
        b: Value,
    },
    /// `a` where `condition` (`i1`) is true, `b` otherwise.
    Select {
        /// An `i1`.
        condition: Value,
        /// The value where it is true.
        a: Value,
        /// The value where it is false.
        b: Value,
    },
    /// A value of which whoever made the kernel knows that it is the same in all lanes of the scope, so that control of
    /// collectives may depend on it.
    Same {
        /// The value.
        value: Value,
        /// In which lanes.
        scope: Scope,
    },
    /// A change of type to the type of the result.
    Cast {
        /// How.
        op: Cast,
        /// The operand.
        a: Value,
    },
    /// A vector of scalars, the first in element 0.
    Pack {
        /// The elements.
        elements: Vec<Value>,
    },
    /// One element of a vector.
    Extract {
        /// The vector.
        vector: Value,
        /// Which element.
        index: u32,
    },
    /// Four bytes chosen from the eight of two `i32`s: bytes 0 to 3 are `a`'s, 4 to 7 `b`'s, lowest
    /// first; nibble `i` of `selector` says which byte becomes byte `i` of the result.
    PermuteBytes {
        /// Supplies bytes 0 to 3.
        a: Value,
        /// Supplies bytes 4 to 7.
        b: Value,
        /// Four nibbles, each 0 to 7.
        selector: u16,
        /// Another selector, for the lanes where the `i1` is true.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alternative: Option<(Value, u16)>,
    },
    /// A pointer moved by a number of bytes (`i32` or `i64`, signed).
    Advance {
        /// The pointer.
        pointer: Value,
        /// How many bytes.
        bytes: Value,
    },
    /// Reads a scalar or vector. Lanes whose predicate is false touch no memory and get zero.
    Load {
        /// Where; aligned to `alignment`.
        pointer: Value,
        /// An `i1`; absent means true.
        predicate: Option<Value>,
        /// A constant added to the address, in bytes.
        offset: i32,
        /// Alignment of pointer plus offset, in bytes.
        alignment: u32,
    },
    /// Writes a scalar or vector. Lanes whose predicate is false touch no memory.
    Store {
        /// Where; aligned to `alignment`.
        pointer: Value,
        /// What.
        value: Value,
        /// An `i1`; absent means true.
        predicate: Option<Value>,
        /// A constant added to the address, in bytes.
        offset: i32,
        /// Alignment of pointer plus offset, in bytes.
        alignment: u32,
    },
    /// Reads a scalar, writes what the operation makes of it and `value`, and gives what was read, in one step that no
    /// other lane's access of the place comes between. Lanes whose predicate is false touch no memory and get zero.
    AtomicRmw {
        /// Which.
        op: Atomic,
        /// Where, in global or shared memory; aligned to its width.
        pointer: Value,
        /// An `i32` or `i64`; for [`Atomic::FAdd`] a floating-point scalar.
        value: Value,
        /// An `i1`; absent means true.
        predicate: Option<Value>,
        /// How it orders other accesses of the lane.
        order: MemoryOrder,
        /// Among whom.
        scope: MemoryScope,
    },
    /// Reads a scalar, writes `value` if it is `expected`, and gives what was read, in one step likewise.
    AtomicCompareExchange {
        /// Where, in global or shared memory; aligned to its width.
        pointer: Value,
        /// An `i32` or `i64`.
        expected: Value,
        /// What is written where that was there.
        value: Value,
        /// An `i1`; absent means true.
        predicate: Option<Value>,
        /// How it orders other accesses of the lane.
        order: MemoryOrder,
        /// Among whom.
        scope: MemoryScope,
    },
    /// What a lane wrote to global memory before is seen by the lanes of the scope after whatever tells them that it
    /// is there.
    Fence {
        /// Among whom.
        scope: MemoryScope,
    },
    /// A function of floating-point numbers. Targets have few of them; others are expanded before a module is compiled.
    Math {
        /// Which.
        function: MathFunction,
        /// Its numbers: `f32` or `f64`, or vectors of them, of one type.
        operands: Vec<Value>,
    },
    /// Ends the run where the condition is false.
    Assert {
        /// An `i1`.
        condition: Value,
        /// What to say.
        message: String,
        /// An `i1`, where it is false nothing is checked; absent means true.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        predicate: Option<Value>,
    },
    /// Every lane prints its values; integers with sign.
    Print {
        /// What comes before them.
        prefix: String,
        /// Whether the bits are printed in hexadecimal digits.
        hex: bool,
        /// Scalars, vectors or pointers to global memory.
        values: Vec<Value>,
    },
    /// A vendor's assembly text as it is; its code generator alone takes it.
    Assembly {
        /// The text, with `$0`, `$1`, ... for results, then operands.
        text: String,
        /// Constraints of results, then operands, as LLVM's inline assembly has them.
        constraints: String,
        /// The operands.
        operands: Vec<Value>,
    },
    /// Where kernels of a stream overlap: waits until what came before has written all, or says that what comes after
    /// may begin. Elsewhere nothing.
    GridDependency {
        /// Whether it waits.
        wait: bool,
    },
    /// Gives every lane the value that another lane of its warp holds; a scalar of 32 bits.
    Exchange {
        /// How lanes are named.
        kind: Exchange,
        /// What this lane offers.
        value: Value,
        /// Which lane this one reads from.
        lane: Value,
        /// Who issues it.
        issuers: Issuers,
    },
    /// Gives every lane the value that the lane whose index differs in the bits of a constant holds; a
    /// scalar of 32 bits.
    ExchangeXor {
        /// What this lane offers.
        value: Value,
        /// The bits in which the indices differ; not zero, below the number of lanes.
        mask: u32,
        /// Who issues it.
        issuers: Issuers,
    },
    /// Lanes that differ in one bit of their index trade: where the bit is set a lane gives what it
    /// holds of `a` and gets the other's `b`, where it is not it gives of `b` and gets the other's
    /// `a`. Two results: `a` and `b` after the trade. Scalars of 32 bits.
    Swap {
        /// What lanes with the bit set trade away.
        a: Value,
        /// What the other lanes trade away.
        b: Value,
        /// The bit of the lane index, as its power of two.
        lane: u32,
        /// Who issues it.
        issuers: Issuers,
    },
    /// No lane of the scope passes before all have arrived, and what they wrote to shared memory
    /// before it is seen by all after it.
    Barrier {
        /// Which lanes wait for each other.
        scope: Scope,
        /// Who issues it.
        issuers: Issuers,
    },
    /// No lane of so many warps passes before that many have come to the barrier of this number, and what they wrote to shared
    /// memory before it is seen by all of them after it. Which warps they are, who comes to it says.
    GroupBarrier {
        /// Which of the block's barriers.
        number: u32,
        /// How many warps meet.
        warps: u32,
    },
    /// A value as one that an operation of the queue gives and that is there already: what an accumulator that a loop carries
    /// begins with.
    Pend {
        /// Which queue.
        queue: Queue,
        /// A scalar or vector.
        value: Value,
    },
    /// Closes the group of all that this warp has issued on the queue since its last commit there.
    Commit {
        /// Which queue.
        queue: Queue,
    },
    /// Passes when at most `outstanding` of the warp's latest groups of the queue are unfinished. What the
    /// other groups have written is there for the lanes that issued it. One result for every value: what it is
    /// when it is no longer pending; its group must be finished.
    Wait {
        /// Which queue.
        queue: Queue,
        /// How many groups may go on.
        outstanding: u32,
        /// Pending values of finished groups.
        values: Vec<Value>,
    },
    /// Makes eight bytes of shared memory, aligned to eight, an mbarrier: each of its phases completes when
    /// so many arrivals and all bytes that they expect have come. One lane of the warp does it.
    MbarrierInit {
        /// A pointer to shared memory, the same in all lanes.
        pointer: Value,
        /// Arrivals of a phase; at least one.
        arrivals: u32,
    },
    /// The warp arrives once at an mbarrier, after all its lanes, and its phase expects so many more bytes of
    /// asynchronous copies. What the warp wrote to shared memory before is seen by those who wait.
    MbarrierArrive {
        /// A pointer to an mbarrier, the same in all lanes.
        pointer: Value,
        /// How many bytes.
        bytes: u32,
    },
    /// Passes when the mbarrier's phase of this parity has completed; what its copies wrote, and what
    /// those who arrived wrote before, is there then.
    MbarrierWait {
        /// A pointer to an mbarrier, the same in all lanes.
        pointer: Value,
        /// An `i32`, the same in all lanes: 0 for the first phase and every second one after it, 1 for the others.
        phase: Value,
    },
    /// What this warp has issued on the queue since its last commit there arrives at the mbarrier, once, when all
    /// of it has finished.
    MbarrierCommit {
        /// Which queue.
        queue: Queue,
        /// A pointer to an mbarrier, the same in all lanes.
        pointer: Value,
    },
    /// Allots columns of the block's tensor memory and writes the address of the first, 32 bits, to shared memory.
    TensorAllocate {
        /// A pointer to four bytes of shared memory, the same in all lanes.
        pointer: Value,
        /// How many; a power of two.
        columns: u32,
    },
    /// Gives back what was allotted at once.
    TensorFree {
        /// The address of the first column, an `i32`, the same in all lanes.
        address: Value,
        /// How many there are.
        columns: u32,
    },
    /// What this warp wrote to shared memory by plain stores is seen by asynchronous operations that are
    /// ordered after it.
    ProxyFence {},
    /// A vendor's instruction by the name of its row; its meaning is the row's.
    Instruction {
        /// Name of the row in the target's instruction table.
        name: String,
        /// Its operands in the order of the row.
        operands: Vec<Value>,
    },
    /// Runs one of two regions; results are what the region that ran yields.
    If {
        /// An `i1`.
        condition: Value,
        /// Runs in the lanes where it is true.
        then: Region,
        /// Runs in the others.
        otherwise: Region,
    },
    /// Runs `body` for `index` in `from, from + step, ...` below `to` (unsigned `i32`). The body's
    /// arguments are the index and the carried values; it yields the carried values. No index plus
    /// `step` may reach 2^32.
    For {
        /// First index.
        from: Value,
        /// Bound, not reached.
        to: Value,
        /// Increment, above zero.
        step: Value,
        /// Initial carried values.
        carried: Vec<Value>,
        /// What runs.
        body: Region,
    },
    /// Runs `body` at least once, and again while it says so. The body's arguments are the carried values; it yields
    /// an `i1`, whether to run again, and the new carried values. Results are the last carried values.
    While {
        /// Initial carried values.
        carried: Vec<Value>,
        /// What runs.
        body: Region,
    },
    /// Ends a region with the given values; the last operation of every region but a kernel's.
    Yield {
        /// What the region gives.
        values: Vec<Value>,
    },
}
