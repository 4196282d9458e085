//! How a product of matrices rounds: which products are added together, what is cut off, what becomes zero.
//!
//! Vendors document little of it. What is known was found by experiments on hardware: Fasi, Higham, Mikaitis and
//! Pranesh, "Numerical behavior of NVIDIA tensor cores" (2021); Li et al., "FTTN" (2024); and Xie et al.,
//! "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores" (2025, arXiv 2511.10909), whose models
//! gave the same bits as the hardware.

use serde::{Deserialize, Serialize};

use super::Evidence;

/// How the floating-point sums of a row come about. Sums of integers wrap, whatever stands here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numerics {
    /// How products are added.
    pub summation: Summation,
    /// Whether a result that is no number has all bits but its sign set; else it is the quiet one without payload.
    #[serde(default)]
    pub nan_is_all_ones: bool,
    /// How this is known.
    pub evidence: Evidence,
    /// Who says so.
    pub source: String,
}

/// How the products along K, and what they are added to, become a sum. Products are formed in groups of neighbours along
/// K, in its order; each group is added to the sum so far. A group is no longer than K.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Summation {
    /// One product after the other, each by a fused multiply-add that is rounded to nearest even in the type of the
    /// sums, subnormals kept.
    Chain,
    /// The products of a group and the sum so far are cut, toward zero, `fraction` bits below the greatest exponent
    /// among them, then added exactly. A product's exponent is the sum of its factors', those of subnormals and zeros being
    /// their type's least, of a product that is zero that of binary32. The result is cut toward zero to `kept` bits of
    /// fraction where sums are of binary32, and rounded to nearest even where they are narrower.
    Aligned {
        /// Products of a group.
        group: u32,
        /// Bits that are kept below the greatest exponent.
        fraction: u32,
        /// Bits of fraction of a result in binary32.
        kept: u32,
    },
    /// The products of a group and the sum so far are added exactly, and rounded to nearest even.
    Exact {
        /// Products of a group.
        group: u32,
    },
    /// The products of a group are added two by two, then those sums, and what comes out to the sum so far. All is rounded
    /// to nearest even in binary32. Subnormal elements, products and sums become zero.
    Tree {
        /// Products of a group, two or four.
        group: u32,
    },
    /// The products of a group are cut, toward zero, `fraction` bits below the greatest exponent among them, and added
    /// exactly; where they are `interleaved`, those of even and of odd number first by themselves, each sum rounded down at that
    /// bit below the greater exponent. Beside the sum so far the result is rounded down at `fraction_of_sum` bits
    /// below the greater exponent, and the sum so far at `fraction` bits. Their sum is rounded to nearest even.
    Floored {
        /// Products of a group.
        group: u32,
        /// Bits that are kept of products, and of the sum so far.
        fraction: u32,
        /// Bits that are kept of the sum of products.
        fraction_of_sum: u32,
        /// Whether even and odd products are added by themselves first.
        interleaved: bool,
    },
}

impl Summation {
    /// Products that are added at a time where there are `k`.
    #[must_use]
    pub fn group(self, k: u32) -> u32 {
        let group = match self {
            Self::Chain => 1,
            Self::Aligned { group, .. }
            | Self::Exact { group }
            | Self::Tree { group }
            | Self::Floored { group, .. } => group,
        };
        group.clamp(1, k.max(1))
    }
}

impl Default for Numerics {
    /// A chain of fused multiply-adds, assumed: what is said where nothing is known.
    fn default() -> Self {
        Self {
            summation: Summation::Chain,
            nan_is_all_ones: false,
            evidence: Evidence::Assumed,
            source: "nothing is published; as IEEE 754 would have it".to_owned(),
        }
    }
}
