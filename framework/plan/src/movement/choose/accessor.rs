//! Accessors of a tensor in shared memory, and constraints on its layout.

use tilewright_layout::LinearLayout;
use tilewright_target::Direction;

use super::super::GlobalTensor;
use super::SharedLayoutKind;

/// A store of a tensor to shared memory, or a load from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedMemoryAccessor {
    /// The register layout of the stored or loaded tensor.
    pub layout: LinearLayout,
    /// The direction of the access: a load from shared memory or a store to it.
    pub direction: Direction,
    /// Number of times that the accessor is executed, relative to the other accessors.
    pub weight: u64,
    /// The copy from global memory that executes these stores, if it takes one shared-memory address for a whole warp;
    /// `None` for other accessors.
    pub copy: Option<WarpAddressedSharedCopy>,
}

impl SharedMemoryAccessor {
    /// Creates one store of the tensor from the register layout `layout`.
    #[must_use]
    pub fn store(layout: LinearLayout) -> Self {
        Self { layout, direction: Direction::Store, weight: 1, copy: None }
    }

    /// Creates one load of the tensor to the register layout `layout`.
    #[must_use]
    pub fn load(layout: LinearLayout) -> Self {
        Self { direction: Direction::Load, ..Self::store(layout) }
    }

    /// Returns the same accessor with the weight `weight`: the number of times that it is executed, relative to other
    /// accessors.
    #[must_use]
    pub fn with_weight(self, weight: u64) -> Self {
        Self { weight, ..self }
    }

    /// Returns the same accessor, but executed by the copy `copy`, which takes one shared-memory address for a warp and
    /// writes consecutively.
    #[must_use]
    pub fn with_copy(self, copy: WarpAddressedSharedCopy) -> Self {
        Self { copy: Some(copy), ..self }
    }
}

/// A copy from global to shared memory that takes one shared-memory address for a warp (such as AMD LDS DMA): it writes
/// the elements of lane 0, then those of lane 1, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarpAddressedSharedCopy {
    /// The tensor in global memory that is copied.
    pub global: GlobalTensor,
    /// Max number of bits that a lane fetches in one copy instruction.
    pub access_bits: u32,
}

/// Elements that a layout must have at its first offsets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LayoutPrefixConstraint {
    /// The element of each of the first offset bits, as a packed coordinate of the first accessor's layout.
    pub order: Vec<u64>,
    /// The first `kept` entries of `order` are not swizzled, and padding does not separate the elements that they span.
    pub kept: usize,
    /// The elements that the first `together` entries of `order` span come first in the memory, in any order; 0 for no
    /// requirement.
    pub together: usize,
}

/// Constraints on a shared-memory layout, and limits of the search for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedLayoutSearchOptions {
    /// The allowed kinds of layouts.
    pub kinds: Vec<SharedLayoutKind>,
    /// Max bytes of shared memory that the tensor takes in a block; `None` for all memory of the target.
    pub max_bytes: Option<u64>,
    /// Max number of weighted wavefronts above the lower bound that are tolerated. Layouts up to this number count as
    /// equal, and the one with the fewest bytes wins.
    pub excess: u64,
    /// Max number of layouts that each search (of swizzles, paddings and so on) compares.
    pub budget: u64,
}

impl Default for SharedLayoutSearchOptions {
    /// Returns constraints that allow all kinds of layouts and all memory, and tolerate no wavefronts above the lower
    /// bound.
    fn default() -> Self {
        Self { kinds: SharedLayoutKind::ALL.to_vec(), max_bytes: None, excess: 0, budget: 1 << 14 }
    }
}

impl SharedLayoutSearchOptions {
    /// Allows layouts of one kind only.
    #[must_use]
    pub fn only_kind(kind: SharedLayoutKind) -> Self {
        Self { kinds: vec![kind], ..Self::default() }
    }
}
