//! The parts of a buffer that accesses touch, and whether two of them are disjoint.

use std::rc::Rc;

use tilewright_kernel::Value;
use tilewright_layout::MemoryLayout;
use tilewright_layout::f2::Subspace;

use super::index_analysis::IndexAnalysis;
use super::index_form::IndexForm;

/// The part of a buffer that an access may touch, as it is annotated: offsets from a pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slice {
    pub pointer: Value,
    pub offsets: Offsets,
    /// The number of the map from bytes to the threads that store them; `None` for other accesses. Stores of one number
    /// to one slice need no barrier between them: each byte is stored by one thread, in program order.
    pub writer: Option<u32>,
}

/// The offsets of a slice from its pointer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Offsets {
    /// The first byte, and the first byte after the last one.
    bytes: (u64, u64),
    /// For a part of a tensor, its elements.
    elements: Option<Elements>,
}

/// The linear offsets of a part of a tensor in its memory layout, in elements: a coset.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Elements {
    /// The bytes of an element.
    size: u64,
    /// The intervals and paddings of the memory layout.
    padding: Vec<(u64, u64)>,
    first: u64,
    basis: Vec<u64>,
}

impl Offsets {
    /// Returns the offsets of all bytes up to `bytes`.
    pub(crate) fn up_to(bytes: u64) -> Self {
        Self { bytes: (0, bytes), elements: None }
    }

    /// Returns the offsets of the elements of `size` bytes at the linear offsets `first` plus, over F2, each sum of
    /// `basis`.
    pub(crate) fn of_elements(memory: &MemoryLayout, size: u64, first: u64, basis: &[u64]) -> Self {
        let space = Subspace::span(basis.iter().copied());
        // The least and the greatest element of the coset, from the highest bit down.
        let (mut least, mut most) = (first, first);
        let mut descending: Vec<u64> = Vec::new();
        for &vector in space.basis() {
            let reduced = descending.iter().fold(vector, |rest: u64, &known: &u64| rest.min(rest ^ known));
            descending.push(reduced);
            descending.sort_unstable_by(|a, b| b.cmp(a));
        }
        for &vector in &descending {
            least = least.min(least ^ vector);
            most = most.max(most ^ vector);
        }
        let bytes = (memory.physical_offset(least) * size, (memory.physical_offset(most) + 1) * size);
        let padding = memory.padding.iter().map(|padding| (padding.interval, padding.padding)).collect();
        let elements = Elements { size, padding, first, basis: space.basis().to_vec() };
        Self { bytes, elements: Some(elements) }
    }
}

impl Elements {
    fn is_disjoint(&self, other: &Self) -> bool {
        let comparable = self.size == other.size && self.padding == other.padding;
        let both = Subspace::span(self.basis.iter().chain(&other.basis).copied());
        comparable && !both.contains(self.first ^ other.first)
    }
}

/// A slice whose pointer is a sum.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PlacedSlice {
    start: IndexForm,
    offsets: Rc<Offsets>,
    writer: Option<u32>,
}

impl PlacedSlice {
    pub(super) fn new(slice: &Slice, analysis: &IndexAnalysis<'_>) -> Self {
        let (start, offsets) = (analysis.form(slice.pointer), Rc::new(slice.offsets.clone()));
        Self { start, offsets, writer: slice.writer }
    }

    /// Returns the slice of the iteration before in terms of the next one, in the loop `number`; `None` if it is not
    /// known there.
    pub(super) fn in_next_iteration(&self, analysis: &IndexAnalysis<'_>, number: usize) -> Option<Self> {
        Some(Self { start: analysis.in_next_iteration(&self.start, number)?, ..self.clone() })
    }

    /// Returns the slice in terms of the values after the loop `number`; `None` if it is not known there.
    pub(super) fn at_exit(&self, analysis: &IndexAnalysis<'_>, number: usize) -> Option<Self> {
        Some(Self { start: analysis.at_exit(&self.start, number)?, ..self.clone() })
    }

    /// Whether no byte is in both slices, or each common byte is stored by one thread.
    pub(super) fn is_independent_of(&self, other: &Self) -> bool {
        let Some(distances) = other.start.clone().minus(&self.start).values() else { return false };
        let one_thread = self.writer.is_some() && self.writer == other.writer && self.offsets == other.offsets;
        distances.into_iter().all(|distance| {
            let (own, others) = (self.offsets.bytes, other.offsets.bytes);
            let [own_start, own_end, start, end] = [own.0, own.1, others.0, others.1].map(i128::from);
            let distance_wide = i128::from(distance);
            let are_apart = own_end <= distance_wide + start || distance_wide + end <= own_start;
            are_apart
                || distance == 0 && one_thread
                || distance == 0
                    && (self.offsets.elements.as_ref().zip(other.offsets.elements.as_ref()))
                        .is_some_and(|(own, other)| own.is_disjoint(other))
        })
    }
}
