//! Tensors in registers and one of their axes: what reductions, scans and gathers are asked about.

use std::fmt;

use tilewright_kernel::Element;
use tilewright_layout::{Dim, LinearLayout};

use super::corpus::{LayoutCorpus, Turns};
use super::setting::ELEMENTS;
use super::{CaseTensor, Endpoint};
use crate::{Context, Verdict};

/// An axis of a tensor, or of a tuple of tensors of one layout. Written as in case names:
/// `blocked-rows/axis1/f16+f32/64x128/w4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorAxis {
    /// The layout.
    pub source: Endpoint,
    /// The axis.
    pub axis: usize,
    /// Elements of the other tensors of the tuple.
    pub others: Vec<Element>,
    /// The tensor.
    pub tensor: CaseTensor,
}

/// Most axes of a tensor.
const AXES: usize = 3;

impl fmt::Display for TensorAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/axis{}/{}", self.source.name, self.axis, self.tensor.with(&self.others))
    }
}

impl TensorAxis {
    /// For every width, number of lanes and layout every axis, on `usual` tensors each, together with each of the
    /// given tuples of others, which are named by their distance in the list of elements.
    pub(super) fn all(context: &Context, usual: usize, tuples: &[&[usize]]) -> Vec<Self> {
        let (mut all, mut turns) = (Vec::new(), Turns::new(context));
        for corpus in LayoutCorpus::all(context) {
            for name in &corpus.distributed() {
                for (axis, tuple) in (0..AXES).flat_map(|axis| tuples.iter().map(move |tuple| (axis, tuple))) {
                    let others: Vec<Element> = tuple.iter().map(|&far| further(corpus.element, far)).collect();
                    for (tensor, mut ends) in corpus.some(&mut turns, usual, &[name], |shape| shape.len() > axis) {
                        all.extend(ends.pop().map(|source| Self { source, axis, others: others.clone(), tensor }));
                    }
                }
            }
        }
        all
    }

    /// Whether it is worth a run on a device, for which code must be generated: two warps stand for all numbers of them,
    /// and tensors of usual size for all.
    #[must_use]
    pub(super) fn is_worth_compiling(&self) -> bool {
        self.tensor.setting.warps == 2 && (256..=2048).contains(&self.tensor.elements())
    }

    /// The axis as a dim.
    #[must_use]
    pub fn dim(&self) -> Dim {
        Dim::tensor(self.axis)
    }

    /// Widths of the elements of all tensors.
    #[must_use]
    pub fn element_bits(&self) -> Vec<u32> {
        [self.tensor.setting.element].iter().chain(&self.others).map(|element| element.bits()).collect()
    }

    /// The layout of the tensors.
    ///
    /// # Errors
    /// The verdict where it cannot be built.
    pub fn layout(&self, context: &Context) -> Result<LinearLayout, Verdict> {
        self.source.distributed(context, &self.tensor)
    }
}

/// The element so far behind in the list.
fn further(element: Element, far: usize) -> Element {
    let own = ELEMENTS.iter().position(|&known| known == element).unwrap_or(0);
    ELEMENTS[(own + far) % ELEMENTS.len()]
}
