//! The choices for the expansion of an explicit-memory program: layouts, instructions, stages.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::SharedCopyLoop;
use crate::{LayoutAttribute, Op, Value};

/// The choices for the operations of a program; an operation without an entry gets the default choice.
///
/// [`ExplicitMemoryChoices::default`] has no entries. [`ExplicitMemoryChoices::with_copies`] replaces the entries of
/// all copies; each other setter adds one entry.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ExplicitMemoryChoices {
    /// The choices for copies.
    pub copies: HashMap<Op, CopyChoice>,
    /// The choices for dots.
    pub dots: HashMap<Op, DotChoice>,
    /// The number of stages of each loop that fills tensors in shared memory, which is the number of their buffers
    /// unless the loop is in `single_buffer`; 1 without an entry.
    pub stages: HashMap<Op, u32>,
    /// The loops of two stages whose tensors have one buffer each: the lanes hold the tiles of the next iteration in
    /// registers until all warps have read the buffer. All copies of such a loop go through registers.
    pub single_buffer: HashSet<Op>,
    /// The loops that wait for the MMAs of an accumulator ([`super::SharedCopyLoop::accumulator`]) only in the next
    /// iteration.
    ///
    /// The MMAs overlap with the start of that iteration. Such a loop needs at least three stages.
    pub overlapped_mmas: HashSet<Op>,
    /// The copies that become bulk tensor copies (TMA), each with its tensor map. Copies to shared memory are in
    /// loops with stages, with only loops around them ([`SharedCopyLoop::enclosing`]), or they are all pending copies
    /// ([`super::find_pending_copies`]).
    pub tensor_copies: HashMap<Op, TensorMapTileAddress>,
    /// The loops with a producer warp, which issues all copies as bulk tensor copies.
    pub producers: HashMap<Op, ProducerChoice>,
    /// The loops with a producer warp whose consumer warp groups alternate.
    pub ping_pong: HashMap<Op, PingPongChoice>,
}

impl ExplicitMemoryChoices {
    /// Sets the choices for all copies, in place of earlier ones.
    #[must_use]
    pub fn with_copies(self, copies: HashMap<Op, CopyChoice>) -> Self {
        Self { copies, ..self }
    }

    /// Sets the number of buffers of the tensors that the loop `of` fills.
    #[must_use]
    pub fn with_stages(mut self, of: Op, stages: u32) -> Self {
        self.stages.insert(of, stages);
        self
    }

    /// Gives the loop `of` two stages with one buffer for each tensor that it fills.
    #[must_use]
    pub fn with_single_buffer(mut self, of: &SharedCopyLoop) -> Self {
        self.stages.insert(of.op, 2);
        self.single_buffer.insert(of.op);
        of.copies.iter().for_each(|copy| self.copies.entry(*copy).or_default().through_registers = true);
        self
    }

    /// Returns the number of buffers of each tensor that the loop `of` fills; `None` if no stages are chosen for it.
    #[must_use]
    pub fn buffer_count(&self, of: Op) -> Option<u32> {
        let stages = *self.stages.get(&of)?;
        Some(if self.single_buffer.contains(&of) { 1 } else { stages })
    }

    /// Lets the loop `of` wait for the MMAs of its accumulators only in the next iteration.
    #[must_use]
    pub fn with_overlapped_mmas(mut self, of: Op) -> Self {
        self.overlapped_mmas.insert(of);
        self
    }

    /// Makes `copy` a bulk tensor copy with this tensor map.
    #[must_use]
    pub fn with_tensor_copy(mut self, copy: Op, mapped: TensorMapTileAddress) -> Self {
        self.tensor_copies.insert(copy, mapped);
        self
    }

    /// Lets the consumer warp groups of the loop `of`, which has a producer warp, alternate.
    #[must_use]
    pub fn with_ping_pong(mut self, of: Op, choice: PingPongChoice) -> Self {
        self.ping_pong.insert(of, choice);
        self
    }

    /// Gives the loop `of` a producer warp, which issues its copies.
    #[must_use]
    pub fn with_producer(mut self, of: Op, choice: ProducerChoice) -> Self {
        self.producers.insert(of, choice);
        self
    }
}

/// The exclusive sections of warp groups in a loop (*ping-pong*): the MMAs of one group run while the others do other
/// work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PingPongChoice {
    /// Number of warp groups that alternate.
    pub groups: u32,
    /// The dot before which an exclusive section begins.
    pub first: Op,
    /// The dot whose MMA is the last of an exclusive section: in the same iteration or, if it is before `first`, in the
    /// next one.
    pub last: Op,
}

/// The warps of a loop with a producer warp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProducerChoice {
    /// Number of consumer warps; with several groups, of each group.
    pub consumers: u32,
    /// Number of groups of consumer warps that alternate between the iterations of the loop around the loop
    /// (ping-pong across tiles): 1, or [`crate::transform::TILE_GROUPS`].
    pub groups: u32,
    /// Number of 32-bit registers of a lane of the consumer warps, and of the producer warp, which hands its others
    /// over; `None` if all warps keep the registers of the launch.
    pub registers: Option<[u32; 2]>,
}

/// A tile of global memory as a box of a tensor map; the launch derives the map from a function argument's buffer.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorMapTileAddress {
    /// The function argument: a pointer to the tensor.
    pub base: Value,
    /// The stride along each axis of the tile, in elements.
    pub strides: Vec<ElementDistance>,
    /// For each axis of the tile, the terms whose sum is the offset of the tile.
    pub begins: Vec<Vec<ScaledOffsetTerm>>,
}

/// A number of elements: a constant, or a value of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementDistance {
    /// A constant number.
    Number(u64),
    /// A value of the program.
    Value(Value),
}

impl ElementDistance {
    /// The value of the program; `None` for a constant.
    #[must_use]
    pub fn value(self) -> Option<Value> {
        match self {
            Self::Number(_) => None,
            Self::Value(value) => Some(value),
        }
    }
}

/// A term of an offset: the quotient `value * times / over`, or its remainder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScaledOffsetTerm {
    /// The value of the term, an `i32`.
    pub value: Value,
    /// The factor by which the value is multiplied.
    pub times: u64,
    /// The number by which the product is divided, rounded toward zero.
    pub over: ElementDistance,
    /// Whether the term is the remainder of the division, in place of the quotient.
    pub is_remainder: bool,
}

impl ScaledOffsetTerm {
    /// The term `value * times`.
    #[must_use]
    pub fn multiple(value: Value, times: u64) -> Self {
        Self { value, times, over: ElementDistance::Number(1), is_remainder: false }
    }
}

/// The choices for a copy of an explicit-memory program.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CopyChoice {
    /// The distributed layout of a copy from global to shared memory; `None` if it is not chosen.
    pub layout: Option<LayoutAttribute>,
    /// Number of bytes that are contiguous both in a lane's registers and in global memory; `None` if unknown.
    pub bytes: Option<u64>,
    /// Whether the copy goes through registers although an asynchronous copy is possible.
    pub through_registers: bool,
    /// Whether a copy from registers to memory converts the layout of the registers first, to a layout that is found
    /// for the store.
    pub converted: bool,
}

/// The partition of a dot's result over warps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DotWarps {
    /// The partition of the dot's best plan.
    Best,
    /// All warps divide M, so that each warp has entire rows of the result.
    AlongM,
    /// A warp partition.
    Partition {
        /// Numbers of warps along M and along N.
        warps: [u64; 2],
        /// Whether the MMA's first operand is B.
        swap_ab: bool,
    },
}

/// The choices for a dot of an explicit-memory program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DotChoice {
    /// Name of the MMA instruction (a row of the instruction table); `None` if it is not chosen.
    pub instruction: Option<Arc<str>>,
    /// Number of adjacent elements of K that a lane holds; `None` if it is not chosen.
    pub k_width: Option<u64>,
    /// Number of adjacent columns of the result that a lane holds; `None` if it is not chosen.
    pub n_width: Option<u64>,
    /// The partition of the result over warps; `None` if it is not chosen.
    pub warps: Option<DotWarps>,
    /// Whether operands A and B stay in shared memory, where the MMA instruction reads them.
    pub smem_operands: [bool; 2],
}
