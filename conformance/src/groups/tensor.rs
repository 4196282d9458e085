//! Tensors that movements are shown on: a shape, in a kernel of some setting.

use std::fmt;

use tilewright_kernel::Element;

use super::Setting;

/// A tensor in a kernel. Written as in case names: `f16/64x128/w4`, its lanes behind where they are not the
/// target's default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseTensor {
    /// Its shape.
    pub shape: Vec<u64>,
    /// Its elements, and the warps and lanes of the block that holds it.
    pub setting: Setting,
}

/// Shapes of each number of axes: single elements, single rows and columns, squares, long and wide ones, small
/// for a block and large.
const LINES: [&[u64]; 5] = [&[1], &[16], &[64], &[256], &[2048]];
const MATRICES: [&[u64]; 8] = [&[1, 1], &[1, 64], &[256, 1], &[16, 16], &[32, 64], &[64, 128], &[128, 32], &[256, 256]];
const SOLIDS: [&[u64]; 3] = [&[2, 16, 64], &[16, 1, 8], &[4, 64, 32]];

/// More elements than a lane of any target has registers for.
const MOST_ELEMENTS_OF_A_LANE: u64 = 256;

impl CaseTensor {
    /// The shapes of one number of axes that a block of this setting can hold.
    #[must_use]
    pub fn shapes(axes: usize, setting: Setting) -> Vec<&'static [u64]> {
        let all: &[&[u64]] = match axes {
            1 => &LINES,
            2 => &MATRICES,
            3 => &SOLIDS,
            _ => &[],
        };
        let most = MOST_ELEMENTS_OF_A_LANE * u64::from(setting.lanes * setting.warps);
        all.iter().copied().filter(|shape| shape.iter().product::<u64>() <= most).collect()
    }

    /// How many elements it has.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// The end of the name of a case about this tensor together with others of the same shape.
    #[must_use]
    pub fn with(&self, others: &[Element]) -> String {
        let names: Vec<_> = [self.setting.element].iter().chain(others).map(|element| element.name()).collect();
        let shape: Vec<_> = self.shape.iter().map(u64::to_string).collect();
        format!("{}/{}/{}", names.join("+"), shape.join("x"), self.setting.block())
    }
}

impl fmt::Display for CaseTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with(&[]))
    }
}
