//! One step of a decoded kernel.

use crate::rounding::AccumulatorType;
use tilewright_kernel::{
    self as kernel, BarrierAction, Binary, Cast, CollectiveScope, Compare, Element, MathFunction, MemorySpace, Queue,
    RegisterChange, SpecialRegister, Type, Unary,
};
use tilewright_target::{BankTableEntry, Direction, RoundingMode};

/// One step of a decoded kernel. Fields are indices into a warp's register file unless stated otherwise; `n` is the
/// number of registers of a value, its elements times the lanes.
pub(crate) enum Step<'a> {
    Clock {
        to: usize,
    },
    Special {
        register: SpecialRegister,
        to: usize,
    },
    IntegerUnary {
        op: Unary,
        bits: u32,
        a: usize,
        to: usize,
        n: usize,
    },
    FloatUnary {
        op: Unary,
        element: Element,
        a: usize,
        to: usize,
        n: usize,
    },
    /// A math function of the values at `a`, and at `b` for binary functions.
    Function {
        function: MathFunction,
        element: Element,
        a: usize,
        b: usize,
        to: usize,
        n: usize,
    },
    FloatCompare {
        op: Compare,
        element: Element,
        a: usize,
        b: usize,
        to: usize,
        n: usize,
    },
    ToInteger {
        from: Element,
        signed: bool,
        bits: u32,
        a: usize,
        to: usize,
        n: usize,
    },
    Integer {
        op: Binary,
        bits: u32,
        a: usize,
        b: usize,
        to: usize,
        n: usize,
    },
    Float {
        op: Binary,
        element: Element,
        a: usize,
        b: usize,
        to: usize,
        n: usize,
    },
    Fma {
        sum: AccumulatorType,
        multiplicands: [usize; 2],
        c: usize,
        to: usize,
        n: usize,
    },
    Compare {
        op: Compare,
        bits: u32,
        a: usize,
        b: usize,
        to: usize,
        n: usize,
    },
    Select {
        condition: usize,
        a: usize,
        b: usize,
        to: usize,
        n: usize,
    },
    Truncate {
        mask: u64,
        a: usize,
        to: usize,
        n: usize,
    },
    ExtendSign {
        from_bits: u32,
        mask: u64,
        a: usize,
        to: usize,
        n: usize,
    },
    Convert {
        from: Element,
        signed: bool,
        element: Element,
        rounding: RoundingMode,
        a: usize,
        to: usize,
        n: usize,
    },
    /// A conversion between an 8-bit floating-point format and a wider type.
    ConvertByte {
        cast: Cast,
        wide: Element,
        a: usize,
        to: usize,
        n: usize,
    },
    Regroup {
        from_bits: u32,
        to_bits: u32,
        a: usize,
        to: usize,
        to_count: usize,
    },
    Pack {
        elements: Vec<usize>,
        to: usize,
    },
    PermuteBytes {
        a: usize,
        b: usize,
        selector: u16,
        /// The register of a condition, and the selector for lanes whose condition is true; `None` if all lanes use
        /// `selector`.
        alternative: Option<(usize, u16)>,
        to: usize,
    },
    PtrAdd {
        pointer: usize,
        bytes: usize,
        bytes_bits: u32,
        mask: u64,
        to: usize,
    },
    ClusterAddress {
        pointer: usize,
        block: usize,
        to: usize,
    },
    Access(Access<'a>),
    Atomic(Atomic),
    AssumeUniform {
        value: usize,
        to: usize,
        n: usize,
    },
    Assert {
        condition: usize,
        predicate: Option<usize>,
        message: &'a str,
    },
    Print(Print<'a>),
    /// Inline assembly, which only the vendor's code generator understands.
    Assembly(&'a str),
    Shuffle {
        value: usize,
        lane: usize,
        to: usize,
    },
    /// A shuffle: each lane reads from the lane whose index differs in the bits of `mask`.
    ShuffleXor {
        value: usize,
        mask: usize,
        to: usize,
    },
    /// A swap between the lanes whose indices differ in the bits of the mask `lane`, which has one bit: `a` of the lane
    /// with the bit set is exchanged for `b` of the other lane.
    Swap {
        a: usize,
        b: usize,
        lane: usize,
        to: [usize; 2],
    },
    Barrier(CollectiveScope),
    NamedBarrier {
        number: u32,
        warps: u32,
    },
    /// The barrier's number is in the registers of a value.
    IndexedBarrier {
        action: BarrierAction,
        number: usize,
        warps: u32,
    },
    SetMaxRegisters {
        change: RegisterChange,
        registers: u32,
    },
    ReadyToken {
        queue: Queue,
        value: Copied,
    },
    Commit(Queue),
    /// A wait for all commit groups of a queue except the `outstanding` latest ones; `values` copies the pending values
    /// to the results of the wait.
    Wait {
        queue: Queue,
        outstanding: u32,
        values: Vec<Copied>,
    },
    MbarrierInit {
        pointer: usize,
        arrivals: u32,
    },
    MbarrierArrive {
        pointer: usize,
        bytes: u32,
    },
    MbarrierWait {
        pointer: usize,
        phase: usize,
    },
    MbarrierInvalidate {
        pointer: usize,
    },
    MbarrierCommit {
        queue: Queue,
        pointer: usize,
    },
    TensorAllocate {
        pointer: usize,
        columns: u32,
    },
    TensorFree {
        address: usize,
        columns: u32,
    },
    ProxyFence,
    Instruction(Instruction<'a>),
    /// The start of an `if`: lanes whose condition is true continue with the next step, the other lanes at `otherwise`.
    Branch {
        condition: usize,
        otherwise: usize,
    },
    /// The end of the `then` region: the other lanes continue here, or all lanes at `end` if there are no others.
    Otherwise {
        copies: Vec<Copied>,
        end: usize,
    },
    /// The end of both regions of an `if`: all lanes continue.
    Join {
        copies: Vec<Copied>,
    },
    /// The start of a `for` loop; continues at `end` if no lane executes an iteration.
    Enter {
        bounds: Bounds,
        from: usize,
        copies: Vec<Copied>,
        end: usize,
    },
    /// The start of a `while` loop, whose first iteration is unconditional.
    EnterWhile {
        copies: Vec<Copied>,
    },
    /// The end of an iteration of a `while` loop: lanes with a true condition repeat from `body`.
    RepeatWhile {
        condition: usize,
        copies: Vec<Copied>,
        body: usize,
    },
    /// The end of an iteration of a `for` loop: lanes with a further iteration repeat from `body`.
    Repeat {
        bounds: Bounds,
        copies: Vec<Copied>,
        body: usize,
    },
}

/// A copy of the registers of a value at the boundary of a region; all copies read before any of them writes.
pub(crate) struct Copied {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) n: usize,
}

/// The first registers of a loop's index, bound (`to`) and step.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) index: usize,
    pub(crate) to: usize,
    pub(crate) step: usize,
}

/// A step that loads or stores vectors of `count` elements, one for each lane.
pub(crate) struct Access<'a> {
    pub(crate) direction: Direction,
    pub(crate) space: MemorySpace,
    pub(crate) pointer: usize,
    pub(crate) predicate: Option<usize>,
    /// First register of the value that lanes with a false predicate receive from a load; `None` for zero.
    pub(crate) other: Option<usize>,
    pub(crate) offset: i32,
    pub(crate) alignment: u32,
    pub(crate) element_bytes: usize,
    pub(crate) count: usize,
    pub(crate) value: usize,
    /// Entry of the bank table for a shared-memory access; `None` for other memories.
    pub(crate) row: Option<&'a BankTableEntry>,
    /// Index of the shared buffer that the pointer points into; `None` if unknown.
    pub(crate) buffer: Option<u32>,
}

/// An atomic read-modify-write step.
pub(crate) struct Atomic {
    /// The kind of operation; the step is a compare-exchange instead if `expected` is set.
    pub(crate) op: kernel::Atomic,
    pub(crate) element: Element,
    /// Number of adjacent elements that a lane updates, one after the other.
    pub(crate) count: usize,
    pub(crate) space: MemorySpace,
    pub(crate) pointer: usize,
    pub(crate) expected: Option<usize>,
    pub(crate) value: usize,
    pub(crate) predicate: Option<usize>,
    pub(crate) to: usize,
    /// Index of the shared buffer that the pointer points into; `None` if unknown.
    pub(crate) buffer: Option<u32>,
}

/// A print of values by the active lanes.
pub(crate) struct Print<'a> {
    pub(crate) prefix: &'a str,
    pub(crate) hex: bool,
    pub(crate) values: Vec<(usize, Type)>,
    /// The index of the values in their tensor, one value for each axis.
    pub(crate) index: Option<Vec<usize>>,
}

/// A step that issues a vendor instruction.
pub(crate) struct Instruction<'a> {
    pub(crate) name: &'a str,
    pub(crate) operands: Vec<(usize, Type)>,
    pub(crate) results: Vec<(usize, Type)>,
}
