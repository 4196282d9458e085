//! What a choice of a layout is for, as far as its cost depends on the layout.

use crate::engine::memory::Named;
use crate::movement::ScanDirection;
use crate::target::Direction;
use crate::tile::Value;

/// An access of global memory.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) struct Access {
    /// What is known of the memory.
    pub named: Named,
    /// From memory, or to it.
    pub direction: Direction,
}

/// What a choice is for.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::engine) enum Kind {
    /// Nothing is done: values are carried on, or only their layout changes.
    Nothing,
    /// So many issues for each register.
    Elementwise(f64),
    /// Memory is accessed.
    Access(Access),
    /// A reduction along an axis of tensors with elements of these widths, each combining taking so many issues.
    Reduce(usize, Vec<u32>, f64),
    /// A scan likewise.
    Scan(usize, Vec<u32>, ScanDirection, f64),
    /// A gather along an axis from a tensor with elements of a width.
    Gather(usize, u32, Value),
    /// A product of matrices.
    Product,
}

impl Kind {
    /// Whether the layout is chosen for what the operation does, and not only for what is around it.
    pub(in crate::engine) fn is_anchor(&self) -> bool {
        matches!(self, Self::Access(_) | Self::Product)
    }
}
