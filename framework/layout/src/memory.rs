//! Memory layouts: a linear part, and padding on the physical offset.

use serde::{Deserialize, Serialize};

use super::LinearLayout;

/// Padding after every `interval` elements; both in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Padding {
    /// After how many elements, a power of two.
    pub interval: u64,
    /// How many elements are left out there.
    pub padding: u64,
}

/// A layout of a tensor in memory (seed 000, Definition 4.14; seed 002 for padding).
///
/// The linear part maps (offset, block) to elements. An element whose offset is `o` lies at
/// physical offset `o + sum((o / interval) * padding)`, in elements.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MemoryLayout {
    /// From (offset, block) to elements of the tensor.
    pub linear: LinearLayout,
    /// Padding, intervals ascending; empty for most layouts.
    pub padding: Vec<Padding>,
    /// Alignment of the allocation in bytes, where the family asks for one.
    pub alignment: Option<u32>,
}

impl MemoryLayout {
    /// An unpadded layout without wishes for its alignment.
    #[must_use]
    pub fn linear(linear: LinearLayout) -> Self {
        Self { linear, padding: Vec::new(), alignment: None }
    }

    /// The physical offset, in elements, of the element at a linear offset.
    #[must_use]
    pub fn physical_offset(&self, offset: u64) -> u64 {
        offset + self.padding.iter().map(|p| offset / p.interval.max(1) * p.padding).sum::<u64>()
    }

    /// Elements that one block must allocate: padding after the last element is left out. `u64::MAX` where all 64 bits
    /// are offsets, which is more than any count.
    #[must_use]
    pub fn allocated_elements(&self) -> u64 {
        let last = 1u64.checked_shl(self.linear.in_bits(super::Dim::OFFSET)).map_or(u64::MAX, |offsets| offsets - 1);
        self.physical_offset(last).saturating_add(1)
    }

    /// Bytes that one block must allocate for elements of so many bits.
    #[must_use]
    pub fn allocated_bytes(&self, element_bits: u32) -> u64 {
        self.allocated_elements().saturating_mul(u64::from(element_bits)).div_ceil(8)
    }
}
