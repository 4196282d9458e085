//! Operands of instructions that copy a box of a tensor (TMA), or contiguous bytes, with one issue of a warp.

use serde::{Deserialize, Serialize};

use super::XorSwizzle;

/// A box of a tensor in shared memory: elements without gaps, the first axis fastest, then XOR-swizzled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorCopyOperand {
    /// Number of axes of the tensor.
    pub rank: u32,
    /// Maximum number of elements of the box along an axis.
    pub most: u32,
    /// Granularity of the box's size along the first axis, in bytes.
    #[serde(rename = "row_grain")]
    pub row_granularity: u32,
    /// Alignment in bytes of the tensor's global address and of all strides except the first axis's.
    pub global_alignment: u32,
    /// The supported layouts of a box.
    #[serde(rename = "arrangements")]
    pub layouts: Vec<TensorCopyLayout>,
}

/// One layout of a box in shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorCopyLayout {
    /// Name of the layout, for messages.
    pub name: String,
    /// The value by which the host's tensor-map encoder names this layout (its swizzle mode).
    pub mode: u32,
    /// The XOR swizzle of the address.
    #[serde(rename = "mix")]
    pub swizzle: XorSwizzle,
    /// Required size of the box along the first axis, in bytes; `None` if any size is allowed.
    pub row_bytes: Option<u32>,
    /// Required alignment of the box in bytes.
    pub alignment: u32,
}

impl TensorCopyOperand {
    /// Finds the layout with this XOR swizzle; `None` if the instruction does not support it.
    #[must_use]
    pub fn find_layout(&self, swizzle: XorSwizzle) -> Option<&TensorCopyLayout> {
        let same = |own: XorSwizzle| own.mask == swizzle.mask && (own.mask == 0 || own.shift == swizzle.shift);
        self.layouts.iter().find(|box_layout| same(box_layout.swizzle))
    }
}
