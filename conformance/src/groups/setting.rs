//! Kernel configurations that cases use: element type, number of warps and number of lanes.

use std::fmt;

use tilewright_kernel::Element;
use tilewright_layout::SampleLayoutRequest;

use crate::Context;

/// A kernel configuration. Case names spell it `f16/w4`, or `f16/w4/l16` if the number of lanes is not the target's
/// default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KernelConfig {
    /// The element type of the kernel's tensors.
    pub element: Element,
    /// Number of warps of a block of the kernel.
    pub warps: u32,
    /// Number of lanes of a warp of the kernel.
    pub lanes: u32,
    named_lanes: bool,
}

/// One element type of each width, since data movement depends on the width only.
pub(super) const ELEMENTS: [Element; 4] = [Element::I8, Element::F16, Element::F32, Element::F64];

impl KernelConfig {
    /// Returns all configurations of a target: every element width, number of warps and number of lanes.
    #[must_use]
    pub fn all(context: &Context) -> Vec<Self> {
        let choices = &context.target().description().lanes;
        let mut settings = Vec::new();
        for &lanes in &choices.choices {
            for warps in context.warp_counts(lanes) {
                let named_lanes = lanes != choices.default;
                settings.extend(ELEMENTS.map(|element| Self { element, warps, lanes, named_lanes }));
            }
        }
        settings
    }

    /// Returns the request for sample layouts for these lanes, warps and this element width.
    #[must_use]
    pub fn sample_use(&self) -> SampleLayoutRequest {
        SampleLayoutRequest { lanes: self.lanes, warps: self.warps, element_bits: self.element.bits() }
    }

    /// Returns the words for warps and lanes in case names, such as `w4` or `w4/l16`.
    #[must_use]
    pub fn block(&self) -> String {
        let lanes = if self.named_lanes { format!("/l{}", self.lanes) } else { String::new() };
        format!("w{}{lanes}", self.warps)
    }

    /// Returns log2 of the number of warps, as an index of the number of warps in rotations over configurations.
    #[must_use]
    pub fn warp_step(&self) -> usize {
        self.warps.trailing_zeros() as usize
    }

    /// Returns the index of the element type in the list of one type for each width, for rotations over configurations.
    #[must_use]
    pub fn element_step(&self) -> usize {
        ELEMENTS.iter().position(|&element| element == self.element).unwrap_or(0)
    }
}

impl fmt::Display for KernelConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.element.name(), self.block())
    }
}
