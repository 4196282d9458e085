//! The parts of a buffer that accesses touch, and whether two of them are disjoint.

use std::rc::Rc;

use tilewright_kernel::Value;
use tilewright_layout::MemoryLayout;
use tilewright_layout::f2::Subspace;

use super::index_analysis::IndexAnalysis;
use super::index_form::IndexForm;

/// The part of a buffer that an access may touch, as an annotation states it: a pointer, and offsets from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slice {
    pub pointer: Value,
    pub offsets: Offsets,
    /// For a store, a number that identifies which thread stores which byte; `None` for other accesses. Two stores with
    /// one number to one slice need no barrier between them: each byte is stored by one thread, in program order.
    pub writer: Option<u32>,
}

/// The offsets of a slice from its pointer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Offsets {
    /// The range of offsets in bytes: the first, and one more than the last.
    bytes: (u64, u64),
    /// For a part of a tensor, the offsets of its elements; `None` if all bytes of the range may be touched.
    elements: Option<Elements>,
}

/// The offsets of a part of a tensor in its memory layout, before padding, in elements. They are a coset: `first` plus,
/// over F2, the span of `basis`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Elements {
    /// Number of bytes of an element.
    size: u64,
    /// The padding of the memory layout, as pairs of interval and number of padding elements.
    padding: Vec<(u64, u64)>,
    first: u64,
    basis: Vec<u64>,
}

impl Offsets {
    /// Returns the offsets of the first `bytes` bytes.
    pub(crate) fn up_to(bytes: u64) -> Self {
        Self { bytes: (0, bytes), elements: None }
    }

    /// Returns the offsets of elements of `size` bytes in a memory layout. Before padding, in elements, they are
    /// `first` plus, over F2, each sum of `basis`.
    pub(crate) fn of_elements(memory: &MemoryLayout, size: u64, first: u64, basis: &[u64]) -> Self {
        let space = Subspace::span(basis.iter().copied());
        // The least and the greatest offset of the coset, found bit by bit from the highest bit down.
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

/// A slice whose pointer is expressed as a sum over loop iterations.
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

    /// Rewrites a slice of one iteration of the loop `number` in terms of the next iteration; `None` if it contains
    /// values that the loop defines.
    pub(super) fn in_next_iteration(&self, analysis: &IndexAnalysis<'_>, number: usize) -> Option<Self> {
        Some(Self { start: analysis.in_next_iteration(&self.start, number)?, ..self.clone() })
    }

    /// Rewrites a slice at the end of the loop `number` in terms of values after the loop; `None` if it contains values
    /// that the loop defines.
    pub(super) fn at_exit(&self, analysis: &IndexAnalysis<'_>, number: usize) -> Option<Self> {
        Some(Self { start: analysis.at_exit(&self.start, number)?, ..self.clone() })
    }

    /// Whether accesses of the two slices never conflict: no byte is in both, or each common byte is stored by the same
    /// thread in both.
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
