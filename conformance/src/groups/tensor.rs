//! Tensors of data movement cases: a shape, with an element type and numbers of warps and lanes.

use std::fmt;

use tilewright_kernel::Element;

use super::KernelConfig;

/// A tensor in a kernel. Case names spell it `f16/64x128/w4`, followed by the number of lanes if it is not the target's
/// default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseTensorSpec {
    /// The tensor's shape, in elements.
    pub shape: Vec<u64>,
    /// The tensor's element type, and the warps and lanes of the block that holds it.
    pub setting: KernelConfig,
}

/// Shapes of tensors with one axis: from a single element to a long tensor.
const LINES: [&[u64]; 5] = [&[1], &[16], &[64], &[256], &[2048]];
/// Shapes of tensors with two axes: single elements, rows and columns, squares, long and wide tensors, small and large
/// for a block.
const MATRICES: [&[u64]; 8] = [&[1, 1], &[1, 64], &[256, 1], &[16, 16], &[32, 64], &[64, 128], &[128, 32], &[256, 256]];
/// Shapes of tensors with three axes.
const SOLIDS: [&[u64]; 3] = [&[2, 16, 64], &[16, 1, 8], &[4, 64, 32]];

/// Max elements of a tensor for each lane of its block; more would exceed the registers of any target.
const MOST_ELEMENTS_OF_A_LANE: u64 = 256;

impl CaseTensorSpec {
    /// Returns the shapes with this number of axes that a block of this configuration can hold.
    #[must_use]
    pub fn shapes(axes: usize, setting: KernelConfig) -> Vec<&'static [u64]> {
        let all: &[&[u64]] = match axes {
            1 => &LINES,
            2 => &MATRICES,
            3 => &SOLIDS,
            _ => &[],
        };
        let most = MOST_ELEMENTS_OF_A_LANE * u64::from(setting.lanes * setting.warps);
        all.iter().copied().filter(|shape| shape.iter().product::<u64>() <= most).collect()
    }

    /// Returns the number of elements of the tensor.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Returns the last part of the name of a case about this tensor and further ones of the same shape, with the
    /// element types `others`.
    #[must_use]
    pub fn name_with(&self, others: &[Element]) -> String {
        let names: Vec<_> = [self.setting.element].iter().chain(others).map(|element| element.name()).collect();
        let shape: Vec<_> = self.shape.iter().map(u64::to_string).collect();
        format!("{}/{}/{}", names.join("+"), shape.join("x"), self.setting.block())
    }
}

impl fmt::Display for CaseTensorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name_with(&[]))
    }
}
