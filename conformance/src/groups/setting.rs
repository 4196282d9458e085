//! What kernels of a target are like: the elements, warps and lanes that cases are built for.

use std::fmt;

use tilewright_kernel::Element;
use tilewright_layout::SampleUse;

use crate::Context;

/// One kind of kernel. Written as in case names: `f16/w4`, and `f16/w4/l16` where the number of
/// lanes is not the target's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Setting {
    /// The elements of its tensors.
    pub element: Element,
    /// Warps of its blocks.
    pub warps: u32,
    /// Lanes of its warps.
    pub lanes: u32,
    named_lanes: bool,
}

/// One element of each width; movement of data knows only widths.
pub(super) const ELEMENTS: [Element; 4] = [Element::I8, Element::F16, Element::F32, Element::F64];

impl Setting {
    /// All settings of a target: every width of element, number of warps and choice of lanes.
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

    /// Samples for this setting are asked for by this.
    #[must_use]
    pub fn sample_use(&self) -> SampleUse {
        SampleUse { lanes: self.lanes, warps: self.warps, element_bits: self.element.bits() }
    }

    /// The words for warps and lanes in case names: `w4`, `w4/l16`.
    #[must_use]
    pub fn block(&self) -> String {
        let lanes = if self.named_lanes { format!("/l{}", self.lanes) } else { String::new() };
        format!("w{}{lanes}", self.warps)
    }

    /// Log2 of the number of warps: counts the settings that differ in warps only.
    #[must_use]
    pub fn warp_step(&self) -> usize {
        self.warps.trailing_zeros() as usize
    }

    /// Counts the settings that differ in elements only.
    #[must_use]
    pub fn element_step(&self) -> usize {
        ELEMENTS.iter().position(|&element| element == self.element).unwrap_or(0)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.element.name(), self.block())
    }
}
