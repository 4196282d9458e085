//! Cases on one axis of a tensor in registers, the common input of reductions, scans and gathers.

use std::fmt;

use tilewright_kernel::Element;
use tilewright_layout::{Dim, LinearLayout};

use super::corpus::{LayoutCorpus, Sampler};
use super::setting::ELEMENTS;
use super::{CaseTensorSpec, NamedLayout};
use crate::{Context, Verdict};

/// An axis of a tensor, or of a tuple of tensors in one layout. Case names spell it
/// `blocked-rows/axis1/f16+f32/64x128/w4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisOperationCase {
    /// The layout that the tensors share.
    pub source: NamedLayout,
    /// Index of the axis that the operation works along.
    pub axis: usize,
    /// Element types of the tuple's other tensors; empty for a single tensor.
    pub others: Vec<Element>,
    /// The first tensor: element type, shape and number of warps.
    pub tensor: CaseTensorSpec,
}

/// Max number of axes of a tensor.
const AXES: usize = 3;

impl fmt::Display for AxisOperationCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/axis{}/{}", self.source.name, self.axis, self.tensor.name_with(&self.others))
    }
}

impl AxisOperationCase {
    /// Returns the cases of every layout, axis, element width, number of lanes and tuple in `tuples`: `usual` tensors
    /// for each combination, or all tensors if the run is thorough.
    ///
    /// A tuple gives the element types of its further tensors, each as a distance from the first tensor's type in the
    /// list of element types.
    pub(super) fn all(context: &Context, usual: usize, tuples: &[&[usize]]) -> Vec<Self> {
        let (mut all, mut sampler) = (Vec::new(), Sampler::new(context));
        for corpus in LayoutCorpus::all(context) {
            for name in &corpus.distributed() {
                for (axis, tuple) in (0..AXES).flat_map(|axis| tuples.iter().map(move |tuple| (axis, tuple))) {
                    let others: Vec<Element> = tuple.iter().map(|&far| later_element(corpus.element, far)).collect();
                    for (tensor, mut ends) in
                        corpus.select_tensors(&mut sampler, usual, &[name], |shape| shape.len() > axis)
                    {
                        all.extend(ends.pop().map(|source| Self { source, axis, others: others.clone(), tensor }));
                    }
                }
            }
        }
        all
    }

    /// Whether the case should also be compiled and run on a device, which takes longer than the emulator: cases with
    /// two warps and 256 to 2048 elements represent all others.
    #[must_use]
    pub(super) fn is_worth_compiling(&self) -> bool {
        self.tensor.setting.warps == 2 && (256..=2048).contains(&self.tensor.elements())
    }

    /// Returns the axis as a dim of layouts.
    #[must_use]
    pub fn dim(&self) -> Dim {
        Dim::tensor(self.axis)
    }

    /// Returns the widths in bits of the elements of all tensors.
    #[must_use]
    pub fn element_bits(&self) -> Vec<u32> {
        [self.tensor.setting.element].iter().chain(&self.others).map(|element| element.bits()).collect()
    }

    /// Builds the layout that the tensors share.
    ///
    /// # Errors
    /// The verdict of the case if the layout cannot be built.
    pub fn layout(&self, context: &Context) -> Result<LinearLayout, Verdict> {
        self.source.distributed(context, &self.tensor)
    }
}

/// Returns the element type that is `far` entries after `element` in the list of element types, cyclically.
fn later_element(element: Element, far: usize) -> Element {
    let own = ELEMENTS.iter().position(|&known| known == element).unwrap_or(0);
    ELEMENTS[(own + far) % ELEMENTS.len()]
}
