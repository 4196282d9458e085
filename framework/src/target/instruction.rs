//! Rows of a vendor's instruction table.

use serde::{Deserialize, Serialize};

use super::{Completion, MemoryOperand, Numerics, TensorOperand};
use crate::layout::LinearLayout;

/// One instruction of a target: what it reads and writes, where its operands lie, what it means.
///
/// Generic algorithms fit rows by left division of layouts; none asks for a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// The name by which kernel IR refers to it; unique in the target.
    pub name: String,
    /// What it is for.
    pub kind: InstructionKind,
    /// Its operands, results first.
    pub operands: Vec<Operand>,
    /// Cycles for which one issue by one warp occupies its pipe, where known.
    pub cycles: Option<f64>,
    /// What it computes.
    pub semantics: Semantics,
    /// When it is done. Absent in the bytes of writers that know only [`Completion::AtOnce`].
    #[serde(default, skip_serializing_if = "Completion::is_at_once")]
    pub completion: Completion,
    /// How its sums round, where it multiplies floating-point numbers; where nothing is said, as
    /// [`Numerics::default`] assumes.
    #[serde(default)]
    pub numerics: Option<Numerics>,
    /// The vendor's document or tool from which the row was taken.
    pub source: String,
}

/// What an instruction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InstructionKind {
    /// Multiplies matrices.
    Matrix,
    /// Moves data between registers and shared memory.
    SharedMove,
    /// Copies from global to shared memory, past the registers.
    AsyncCopy,
    /// Moves data between registers and tensor memory.
    TensorMove,
}

/// Where one operand of an instruction lies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Operand {
    /// Registers of the lanes of a warp.
    Register {
        /// What it is called: `a`, `b`, `c`, `d`; of products that scale, `scale_a` and `scale_b`.
        role: String,
        /// Name of the element type as the vendor writes it: `f16`, `tf32`, `e4m3`, ...
        element: String,
        /// Width of an element in bits.
        bits: u32,
        /// From (register, lane) to the operand's tile, dim0 x dim1: M x K for `a`, K x N for `b`,
        /// M x N for `c` and `d`; for scales rows of `a`, or columns of `b`, x blocks of K. Where a tile is several
        /// independent blocks, dim2 is the block. Where several warps issue the instruction together, from
        /// (register, lane, warp), warps being counted from a multiple of how many they are.
        layout: LinearLayout,
    },
    /// Shared memory addressed by the lanes.
    Access {
        /// From (register, lane, byte) to (slot, byte): which lane receives, or gives, what; of a copy from
        /// global memory, which has no registers, from (lane, byte).
        data: LinearLayout,
        /// From lane to slot: which lane gives the address of which slot.
        address: LinearLayout,
        /// Alignment of every address in bytes.
        alignment: u32,
    },
    /// A tile in shared memory, read by the instruction itself.
    Memory(MemoryOperand),
    /// Global memory addressed by the lanes. A copy brings each byte that a lane has here to the place that the
    /// lane's same byte has in the operand [`Operand::Access`].
    Global {
        /// From (lane, byte) to (slot, byte).
        data: LinearLayout,
        /// From lane to slot: which lane gives the address of which slot.
        address: LinearLayout,
        /// Alignment of every address in bytes.
        alignment: u32,
    },
    /// One truth value a lane: where it is false the lane reads nothing, and what it writes is zero.
    Predicate,
    /// One value for the whole warp.
    Uniform,
    /// The address of an mbarrier in shared memory, the same in all lanes, on which it completes.
    Mbarrier,
    /// A tile in tensor memory. Of role `d` it holds the sums before and after.
    Tensor(TensorOperand),
    /// One truth value, the same in all lanes: where it is false the sums begin at zero, and what the tile held is
    /// not read.
    Accumulate,
    /// A word that is the same wherever the instruction is issued: no value of a kernel, but part of it.
    Constant {
        /// What it is called.
        role: String,
        /// Width in bits.
        bits: u32,
        /// The word.
        value: u64,
    },
}

impl Operand {
    /// What a register operand is called.
    #[must_use]
    pub fn role(&self) -> Option<&str> {
        match self {
            Self::Register { role, .. } => Some(role),
            _ => None,
        }
    }

    /// The tile in tensor memory that it is.
    #[must_use]
    pub fn tensor(&self) -> Option<&TensorOperand> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

/// What an instruction computes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Semantics {
    /// The destination gets the source's bits.
    Move,
    /// `d = a * b + c`, sums over dim1 of `a` and dim0 of `b`; each factor times its scale where the row takes scales.
    Contract,
    /// `d = c +` how many elements of a row of `a` and a column of `b`, of one bit each, differ.
    CountDifferent,
}
