//! One step of a decoded kernel.

use crate::emulator::rounding::Sum;
use crate::kernel::{self, Binary, Compare, Element, MathFunction, Queue, Scope, Space, SpecialRegister, Type, Unary};
use crate::target::{BankRow, Direction};

/// One step. Fields are indices into the register file of a warp unless they say otherwise; `n` is
/// the number of registers, elements times lanes.
pub(in crate::emulator) enum Step<'a> {
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
pub(in crate::emulator) struct Copied {
    pub(in crate::emulator) from: usize,
    pub(in crate::emulator) to: usize,
    pub(in crate::emulator) n: usize,
}

/// Where a loop keeps its index, bound and step.
#[derive(Clone, Copy)]
pub(in crate::emulator) struct Bounds {
    pub(in crate::emulator) index: usize,
    pub(in crate::emulator) to: usize,
    pub(in crate::emulator) step: usize,
}

/// A load or store.
pub(in crate::emulator) struct Access<'a> {
    pub(in crate::emulator) direction: Direction,
    pub(in crate::emulator) space: Space,
    pub(in crate::emulator) pointer: usize,
    pub(in crate::emulator) predicate: Option<usize>,
    pub(in crate::emulator) offset: i32,
    pub(in crate::emulator) alignment: u32,
    pub(in crate::emulator) element_bytes: usize,
    pub(in crate::emulator) count: usize,
    pub(in crate::emulator) value: usize,
    /// The bank row, for memory of a block.
    pub(in crate::emulator) row: Option<&'a BankRow>,
    /// The buffer that a pointer to a block's memory comes from, where that is known.
    pub(in crate::emulator) buffer: Option<u32>,
}

/// An operation that reads and writes memory in one step.
pub(in crate::emulator) struct Atomic {
    /// Which; a compare-exchange where `expected` is there.
    pub(in crate::emulator) op: kernel::Atomic,
    pub(in crate::emulator) element: Element,
    pub(in crate::emulator) space: Space,
    pub(in crate::emulator) pointer: usize,
    pub(in crate::emulator) expected: Option<usize>,
    pub(in crate::emulator) value: usize,
    pub(in crate::emulator) predicate: Option<usize>,
    pub(in crate::emulator) to: usize,
    /// The buffer that a pointer to a block's memory comes from, where that is known.
    pub(in crate::emulator) buffer: Option<u32>,
}

/// Values that lanes print.
pub(in crate::emulator) struct Print<'a> {
    pub(in crate::emulator) prefix: &'a str,
    pub(in crate::emulator) hex: bool,
    pub(in crate::emulator) values: Vec<(usize, Type)>,
}

/// A vendor instruction.
pub(in crate::emulator) struct Instruction<'a> {
    pub(in crate::emulator) name: &'a str,
    pub(in crate::emulator) operands: Vec<(usize, Type)>,
    pub(in crate::emulator) results: Vec<(usize, Type)>,
}
