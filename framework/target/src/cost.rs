//! Costs of operations: cycles of the pipe that they occupy, and latency.

use serde::{Deserialize, Serialize};

/// The kind of evidence for a value in a target file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Measured on the hardware; the source names the measurement.
    Measured,
    /// Documented by the vendor of the hardware.
    Documented,
    /// Assumed, from a related GPU model or from experience.
    Assumed,
}

/// The cost of one class of operation, for one warp.
///
/// Cycles are counted for the whole compute unit (the hardware that runs a block), so that costs of different pipes
/// compare: an operation that the unit starts for two warps in each cycle costs half a cycle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct Cost {
    /// Number of cycles for which one issue occupies the compute unit's pipe.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub cycles: f64,
    /// Number of cycles until the result can be used.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub latency: f64,
    /// Evidence for the values.
    pub evidence: Evidence,
    /// Source of the values.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// Costs of the operation classes of data movement, each for one warp of the default number of lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct CostTable {
    /// One wavefront stored to shared memory.
    pub shared_store_wavefront: Cost,
    /// One wavefront loaded from shared memory.
    pub shared_load_wavefront: Cost,
    /// One shuffle of 32 bits.
    #[serde(rename(serialize = "exchange"), alias = "exchange")]
    pub shuffle: Cost,
    /// One shuffle of 32 bits between lanes whose indices differ by a constant; defaults to the cost of any shuffle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename(serialize = "exchange_xor"), alias = "exchange_xor")]
    pub shuffle_xor: Option<Cost>,
    /// One swap of words of 32 bits between lanes whose indices differ in one bit; defaults to the cost of any shuffle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap: Option<Cost>,
    /// One byte permute.
    pub permute: Cost,
    /// One select of 32 bits.
    pub select: Cost,
    /// A barrier of the whole block.
    pub block_barrier: Cost,
    /// A barrier of one warp.
    pub warp_barrier: Cost,
    /// A barrier of all blocks of a cluster, if the target has clusters; defaults to the cost of a block barrier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_barrier: Option<Cost>,
}
