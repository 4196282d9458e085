//! Operands of bulk tensor copies (TMA): instructions that a warp issues once to copy a box of a tensor to or from
//! shared memory.

use serde::{Deserialize, Serialize};

use super::XorSwizzle;

/// A box (rectangular part) of a tensor as a bulk tensor copy places it in shared memory: elements without gaps, the
/// first axis fastest, then XOR-swizzled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorCopyOperand {
    /// Number of axes of the tensor.
    pub rank: u32,
    /// Maximum number of elements of the box along each axis.
    pub most: u32,
    /// Granularity in bytes: the size of the box along the first axis is a multiple of it.
    #[serde(rename = "row_grain")]
    pub row_granularity: u32,
    /// The element types of the tensor, by name, if the instruction computes with elements; empty if it only copies them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<String>,
    /// Alignment in bytes of the tensor's global address and of all strides except the first axis's.
    pub global_alignment: u32,
    /// The supported layouts of a box in shared memory.
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
    /// The XOR swizzle of the byte addresses in the box.
    #[serde(rename = "mix")]
    pub swizzle: XorSwizzle,
    /// Required size of the box along the first axis, in bytes; `None` if any size is allowed.
    pub row_bytes: Option<u32>,
    /// Required alignment in bytes of the box's address in shared memory.
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
