//! Memory layouts: a linear part, and padding on the physical offset.

use serde::{Deserialize, Serialize};

use super::LinearLayout;

/// Padding after every `interval` elements; both in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Padding {
    /// Interval in elements, a power of two.
    pub interval: u64,
    /// Elements of padding after each interval.
    pub padding: u64,
}

/// A layout of a tensor in memory (Linear Layouts paper, Definition 4.14; padding as in Triton's `padded_shared`).
///
/// The linear part maps (offset, block) to elements. An element whose offset is `o` lies at the physical offset `o`
/// plus `(o / interval) * padding` for each entry of `padding`, in elements; the division rounds down.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemoryLayout {
    /// From (offset, block) to elements of the tensor.
    pub linear: LinearLayout,
    /// Padding, intervals ascending; empty for most layouts.
    pub padding: Vec<Padding>,
    /// Required alignment of the allocation in bytes; `None` if the family requires none.
    pub alignment: Option<u32>,
}

impl MemoryLayout {
    /// An unpadded layout without required alignment.
    #[must_use]
    pub fn from_linear(linear: LinearLayout) -> Self {
        Self { linear, padding: Vec::new(), alignment: None }
    }

    /// The physical offset, in elements, of the element at a linear offset.
    #[must_use]
    pub fn physical_offset(&self, offset: u64) -> u64 {
        offset + self.padding.iter().map(|p| offset / p.interval.max(1) * p.padding).sum::<u64>()
    }

    /// Number of elements that one block must allocate, without padding after the last element. `u64::MAX` if all 64
    /// bits of the input are offset bits.
    #[must_use]
    pub fn allocated_elements(&self) -> u64 {
        let last = 1u64.checked_shl(self.linear.in_bits(super::Dim::OFFSET)).map_or(u64::MAX, |offsets| offsets - 1);
        self.physical_offset(last).saturating_add(1)
    }

    /// Number of bytes that one block must allocate for elements of `element_bits` bits.
    #[must_use]
    pub fn allocated_bytes(&self, element_bits: u32) -> u64 {
        self.allocated_elements().saturating_mul(u64::from(element_bits)).div_ceil(8)
    }
}
