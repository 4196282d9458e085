//! Operands of instructions that copy a whole box of a tensor, or a span of bytes, by one issue of a warp.

use serde::{Deserialize, Serialize};

use super::XorSwizzle;

/// A box of a tensor as it lies in shared memory: without gaps, its first axis fastest, and then mixed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorCopyOperand {
    /// Axes of the tensor.
    pub rank: u32,
    /// Elements along an axis at most.
    pub most: u32,
    /// Bytes along the first axis are a multiple of so many.
    pub row_grain: u32,
    /// The tensor's address in global memory, and its strides but for the first axis, are multiples of so many bytes.
    pub global_alignment: u32,
    /// How a box may lie.
    pub arrangements: Vec<TensorCopyLayout>,
}

/// One way in which a box may lie in shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorCopyLayout {
    /// What it is called, for people.
    pub name: String,
    /// The number by which the host's encoder knows it.
    pub mode: u32,
    /// How bits of the address are mixed.
    pub mix: XorSwizzle,
    /// Bytes along the first axis; any number where nothing is said.
    pub row_bytes: Option<u32>,
    /// The box begins at a multiple of so many bytes.
    pub alignment: u32,
}

impl TensorCopyOperand {
    /// The arrangement with this mix.
    #[must_use]
    pub fn arrangement_of(&self, mix: XorSwizzle) -> Option<&TensorCopyLayout> {
        let same = |own: XorSwizzle| own.mask == mix.mask && (own.mask == 0 || own.shift == mix.shift);
        self.arrangements.iter().find(|arrangement| same(arrangement.mix))
    }
}
