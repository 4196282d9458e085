//! One step of a decoded kernel.

use crate::rounding::Sum;
use tilewright_kernel::{
    self as kernel, Binary, Compare, Element, MathFunction, MemorySpace, Queue, Scope, SpecialRegister, Type, Unary,
};
use tilewright_target::{BankRow, Direction};

/// One step. Fields are indices into the register file of a warp unless they say otherwise; `n` is
/// the number of registers, elements times lanes.
pub(crate) enum Step<'a> {
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
    /// A function of the numbers at `a`, and at `b` where it takes two.
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
    FMulAdd {
        sum: Sum,
        factors: [usize; 2],
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
        /// A condition, and the selector where it is true.
        alternative: Option<(usize, u16)>,
        to: usize,
    },
    Advance {
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
    Same {
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
    /// What only a vendor's code generator knows.
    Assembly(&'a str),
    Exchange {
        value: usize,
        lane: usize,
        to: usize,
    },
    /// Lanes read from those whose index differs in the bits of `mask`.
    ExchangeXor {
        value: usize,
        mask: usize,
        to: usize,
    },
    /// Lanes that differ in the bit `lane` trade `a` of those that have it for `b` of those that don't.
    Swap {
        a: usize,
        b: usize,
        lane: usize,
        to: [usize; 2],
    },
    Barrier(Scope),
    GroupBarrier {
        number: u32,
        warps: u32,
    },
    Pend {
        queue: Queue,
        value: Copied,
    },
    Commit(Queue),
    /// Values are where they lie while pending, and where the results lie.
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
    /// Lanes where the condition is true go on, the others at `otherwise`.
    Branch {
        condition: usize,
        otherwise: usize,
    },
    /// The `then` region has ended: the others go on here, or all at `end` if there are none.
    Otherwise {
        copies: Vec<Copied>,
        end: usize,
    },
    /// Both regions have ended.
    Join {
        copies: Vec<Copied>,
    },
    /// Enters a loop, or goes on at `end` where no lane has a turn.
    Enter {
        bounds: Bounds,
        from: usize,
        copies: Vec<Copied>,
        end: usize,
    },
    /// Enters a loop that has a first turn.
    EnterWhile {
        copies: Vec<Copied>,
    },
    /// A turn has ended: another at `body` for the lanes where the condition is true.
    RepeatWhile {
        condition: usize,
        copies: Vec<Copied>,
        body: usize,
    },
    /// A turn has ended: the next one at `body`, for the lanes that have one.
    Repeat {
        bounds: Bounds,
        copies: Vec<Copied>,
        body: usize,
    },
}

/// Registers copied when a region is entered or left; all are read before any is written.
pub(crate) struct Copied {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) n: usize,
}

/// Where a loop keeps its index, bound and step.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) index: usize,
    pub(crate) to: usize,
    pub(crate) step: usize,
}

/// A load or store.
pub(crate) struct Access<'a> {
    pub(crate) direction: Direction,
    pub(crate) space: MemorySpace,
    pub(crate) pointer: usize,
    pub(crate) predicate: Option<usize>,
    pub(crate) offset: i32,
    pub(crate) alignment: u32,
    pub(crate) element_bytes: usize,
    pub(crate) count: usize,
    pub(crate) value: usize,
    /// The bank row, for memory of a block.
    pub(crate) row: Option<&'a BankRow>,
    /// The buffer that a pointer to a block's memory comes from, where that is known.
    pub(crate) buffer: Option<u32>,
}

/// An operation that reads and writes memory in one step.
pub(crate) struct Atomic {
    /// Which; a compare-exchange where `expected` is there.
    pub(crate) op: kernel::Atomic,
    pub(crate) element: Element,
    pub(crate) space: MemorySpace,
    pub(crate) pointer: usize,
    pub(crate) expected: Option<usize>,
    pub(crate) value: usize,
    pub(crate) predicate: Option<usize>,
    pub(crate) to: usize,
    /// The buffer that a pointer to a block's memory comes from, where that is known.
    pub(crate) buffer: Option<u32>,
}

/// Values that lanes print.
pub(crate) struct Print<'a> {
    pub(crate) prefix: &'a str,
    pub(crate) hex: bool,
    pub(crate) values: Vec<(usize, Type)>,
}

/// A vendor instruction.
pub(crate) struct Instruction<'a> {
    pub(crate) name: &'a str,
    pub(crate) operands: Vec<(usize, Type)>,
    pub(crate) results: Vec<(usize, Type)>,
}
