//! The axes of a tensor, and the names of its elements in pictures.

use tilewright_layout::{Dim, Space};

use crate::text::join;

/// Tensor axes with the number of bits of each: numbered axes in order, other dimensions most major first.
#[derive(Debug, Clone)]
pub(super) struct TensorAxes<'a> {
    pub space: &'a Space,
    pub dims: Vec<(Dim, u32)>,
}

impl<'a> TensorAxes<'a> {
    /// Returns the axes of a tensor whose elements are packed in `space`.
    pub fn new(space: &'a Space) -> Self {
        let mut dims: Vec<_> = space.iter().rev().collect();
        if dims.iter().all(|(dim, _)| dim.as_tensor_axis().is_some()) {
            dims.sort();
        }
        Self { space, dims }
    }

    /// Returns the coordinates of an element, given as packed coordinates.
    pub fn element_coordinates(&self, element: u64) -> Vec<u64> {
        self.dims.iter().map(|&(dim, _)| self.space.coordinate(element, dim)).collect()
    }

    /// Returns the coordinates of an element as text: `3,17`.
    pub fn element_name(&self, element: u64) -> String {
        join(self.element_coordinates(element), ",")
    }

    /// Returns the link string that an element's cells share in all panels, so that the HTML page frames them together:
    /// `element 3,17`.
    pub fn element_link(&self, element: u64) -> String {
        format!("element {}", self.element_name(element))
    }
}
