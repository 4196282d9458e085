//! The axes of a tensor, and the names of its elements.

use tilewright_layout::{Dim, Space};

use crate::text::join;

/// The axes of a tensor with their bits, as shaped: tensor axes by number, others most major first.
#[derive(Debug, Clone)]
pub(super) struct Axes<'a> {
    pub space: &'a Space,
    pub dims: Vec<(Dim, u32)>,
}

impl<'a> Axes<'a> {
    /// The axes of a tensor whose elements are packed in this space.
    pub fn new(space: &'a Space) -> Self {
        let mut dims: Vec<_> = space.iter().rev().collect();
        if dims.iter().all(|(dim, _)| dim.tensor_axis().is_some()) {
            dims.sort();
        }
        Self { space, dims }
    }

    /// The coordinates of a packed element.
    pub fn coordinates(&self, element: u64) -> Vec<u64> {
        self.dims.iter().map(|&(dim, _)| self.space.coordinate(element, dim)).collect()
    }

    /// The coordinates as text: `3,17`.
    pub fn name(&self, element: u64) -> String {
        join(self.coordinates(element), ",")
    }

    /// The link that the element's cells have in all views: `element 3,17`.
    pub fn link(&self, element: u64) -> String {
        format!("element {}", self.name(element))
    }
}
