//! The choices for the expansion of an explicit-memory program: layouts, instructions, stages.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::{LayoutName, Op, Value};

/// The choices, by operation of the program; an operation without an entry gets the default choice.
/// [`Choices::default`] has no entries; the setters add one each.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Choices {
    /// The choices for copies.
    pub copies: HashMap<Op, CopyChoice>,
    /// The choices for dots.
    pub dots: HashMap<Op, DotChoice>,
    /// For each loop or tensor in shared memory, the number of buffers (stages) of the tensors that the loop fills; 1
    /// without an entry.
    pub stages: HashMap<Op, u32>,
    /// Loops that wait for the MMAs of an accumulator ([`super::Loop::accumulator`]) only in the next iteration: the
    /// MMAs overlap with the start of that iteration. Such a loop needs at least three stages.
    pub overlapped_mmas: HashSet<Op>,
    /// Copies that become bulk tensor copies (TMA), each with its tensor map. They are in outermost loops with stages.
    pub tensor_copies: HashMap<Op, Mapped>,
    /// Loops with a producer warp, which issues all copies as bulk tensor copies; each with the number of consumer
    /// warps.
    pub producers: HashMap<Op, u32>,
}

impl Choices {
    /// With these choices of copies.
    #[must_use]
    pub fn with_copies(self, copies: HashMap<Op, CopyChoice>) -> Self {
        Self { copies, ..self }
    }

    /// With this many buffers of the tensors that a loop fills.
    #[must_use]
    pub fn with_stages(mut self, of: Op, stages: u32) -> Self {
        self.stages.insert(of, stages);
        self
    }

    /// With a loop whose accumulators are waited for in the next iteration.
    #[must_use]
    pub fn with_overlapped_mmas(mut self, of: Op) -> Self {
        self.overlapped_mmas.insert(of);
        self
    }

    /// With a copy that becomes a bulk tensor copy.
    #[must_use]
    pub fn with_tensor_copy(mut self, copy: Op, mapped: Mapped) -> Self {
        self.tensor_copies.insert(copy, mapped);
        self
    }

    /// With a producer warp for the copies of a loop, and this many consumer warps.
    #[must_use]
    pub fn with_producer(mut self, of: Op, consumers: u32) -> Self {
        self.producers.insert(of, consumers);
        self
    }
}

/// A tile of global memory as a box of a tensor map, which the launch derives from the buffer of a function argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapped {
    /// The function argument: a pointer to the tensor.
    pub base: Value,
    /// Stride along each axis of the tile, in elements.
    pub strides: Vec<Distance>,
    /// For each axis, the offset of the tile: the sum of these terms.
    pub begins: Vec<Vec<ScaledValue>>,
}

/// A number of elements: a constant, or a value of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// A constant number.
    Number(u64),
    /// A value of the program.
    Value(Value),
}

/// A term of an offset: a value of the program times `times`, divided by `over`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScaledValue {
    /// The value of the term, an `i32`.
    pub value: Value,
    /// The number that the value is multiplied by.
    pub times: u64,
    /// The number that the multiple is divided by.
    pub over: u64,
}

/// How a copy of an explicit-memory program is expanded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CopyChoice {
    /// The distributed layout of a copy from global to shared memory; `None` if it is not chosen.
    pub layout: Option<LayoutName>,
    /// Number of bytes that are contiguous both in a lane's registers and in global memory; `None` if unknown.
    pub bytes: Option<u64>,
    /// Whether the copy goes through registers although an asynchronous copy is possible.
    pub through_registers: bool,
}

/// How a dot of an explicit-memory program is expanded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DotChoice {
    /// Name of the MMA instruction (a row of the instruction table); `None` if it is not chosen.
    pub instruction: Option<Arc<str>>,
    /// Number of adjacent elements of K that a lane holds; `None` if it is not chosen.
    pub k_width: Option<u64>,
    /// Number of adjacent columns of the result that a lane holds; `None` if it is not chosen.
    pub n_width: Option<u64>,
    /// Whether all warps divide M, so that each warp has entire rows of the result.
    pub warps_along_m: bool,
    /// Whether operands A and B stay in shared memory, where the MMA instruction reads them.
    pub smem_operands: [bool; 2],
}
