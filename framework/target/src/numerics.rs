//! Numerics of MMA instructions: the order of additions, truncation, and flushing to zero.
//!
//! Vendors document little of it. The models follow experiments on hardware: Fasi, Higham, Mikaitis and Pranesh,
//! "Numerical behavior of NVIDIA tensor cores" (2021); Li et al., "FTTN" (2024); and Xie et al., "MMA-Sim: Bit-Accurate
//! Reference Model of Tensor Cores and Matrix Cores" (2025, arXiv 2511.10909), whose models gave the same bits as the
//! hardware.

use serde::{Deserialize, Serialize};

use super::Evidence;

/// The numerics of a floating-point MMA instruction: how it adds. Integer accumulation wraps, whatever the values here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MmaNumerics {
    /// The order and the rounding of the additions.
    pub summation: Summation,
    /// Whether a NaN result has all bits set except its sign; otherwise it is the quiet NaN without payload.
    #[serde(default)]
    pub nan_is_all_ones: bool,
    /// Kind of evidence for this model of the numerics: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of this model: a document, a measurement or an assumption.
    pub source: String,
}

/// The order of an MMA's additions of the products along K to the accumulator. Products form groups of neighbours along
/// K, in the order of K; each group is added to the running sum, which starts as the accumulator. A group is no longer
/// than K.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Summation {
    /// Adds one product after the other, each by a fused multiply-add rounded to nearest even in the accumulator's
    /// type, subnormals kept.
    Chain,
    /// The products of a group and the running sum are truncated toward zero, `fraction` bits below the greatest
    /// exponent among them, then added exactly. The exponent of a product is the sum of its operands' exponents; a
    /// subnormal operand counts with the least exponent of its type, a zero product with binary32's least exponent. The
    /// result is truncated toward zero to `kept` bits of fraction for binary32 accumulators, and rounded to nearest
    /// even for narrower ones.
    Aligned {
        /// Number of products along K in a group.
        group: u32,
        /// Number of bits of each term that are kept below the greatest exponent of the terms.
        fraction: u32,
        /// Number of fraction bits that are kept of a binary32 result.
        kept: u32,
    },
    /// The products of a group and the running sum are added exactly, and rounded to nearest even.
    Exact {
        /// Number of products along K in a group.
        group: u32,
    },
    /// The products of a group are added pairwise, then those sums, then the result to the running sum. Every addition
    /// is rounded to nearest even in binary32. Subnormal elements, products and sums become zero.
    Tree {
        /// Number of products along K in a group, two or four.
        group: u32,
    },
    /// The products of a group are truncated toward zero, `fraction` bits below the greatest exponent among them, and
    /// added exactly. If `interleaved`, this is done for even and odd products separately; each of the two totals is
    /// rounded down, `fraction` bits below the greatest exponent of the group's products, and both are added. Before
    /// the addition to the running sum, the group's sum is rounded down at `fraction_of_sum` bits, and the running sum
    /// at `fraction` bits, below the greatest exponent of the group's products and the running sum. If `interleaved`, a
    /// running sum whose exponent lies more than `fraction + 1` below this greatest exponent counts as zero. The total
    /// is rounded to nearest even.
    Floored {
        /// Number of products along K in a group.
        group: u32,
        /// Number of bits that are kept of the products, and of the running sum, below the greater exponent.
        fraction: u32,
        /// Number of bits that are kept of the sum of a group's products, below the greater exponent.
        fraction_of_sum: u32,
        /// Whether the even and the odd products of a group are first added separately.
        interleaved: bool,
    },
}

impl Summation {
    /// Whether subnormal elements of the operands count as zero.
    #[must_use]
    pub fn flushes_subnormals(self) -> bool {
        matches!(self, Self::Tree { .. })
    }

    /// Returns the number of products in a group for an MMA whose size along K is `k`: at most `k`, at least 1.
    #[must_use]
    pub fn group_size(self, k: u32) -> u32 {
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

impl Default for MmaNumerics {
    /// Returns the numerics that are assumed if nothing is known: a chain of fused multiply-adds.
    fn default() -> Self {
        Self {
            summation: Summation::Chain,
            nan_is_all_ones: false,
            evidence: Evidence::Assumed,
            source: "unpublished; assumed as in IEEE 754".to_owned(),
        }
    }
}
