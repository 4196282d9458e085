//! Costs of operations: the cycles for which they occupy a pipe of the compute unit, and their latency.

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
    /// Number of cycles from issue until the result can be used.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub latency: f64,
    /// Kind of evidence for this entry's values: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of this entry's values: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// Costs of the operation classes of data movement, each for one warp of the default number of lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct CostTable {
    /// Cost of one wavefront (one transaction of all banks) that stores to shared memory.
    pub shared_store_wavefront: Cost,
    /// Cost of one wavefront (one transaction of all banks) that loads from shared memory.
    pub shared_load_wavefront: Cost,
    /// Cost of one shuffle of 32 bits per lane.
    #[serde(rename(serialize = "exchange"), alias = "exchange")]
    pub shuffle: Cost,
    /// Cost of one shuffle of 32 bits per lane between lanes whose indices differ by a constant xor mask; that of
    /// `shuffle` if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename(serialize = "exchange_xor"), alias = "exchange_xor")]
    pub shuffle_xor: Option<Cost>,
    /// Cost of one swap of 32-bit words between lanes whose indices differ in one bit; that of `shuffle` if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap: Option<Cost>,
    /// Cost of one byte permute: an instruction that picks the bytes of a word from two 32-bit words (PTX `prmt`).
    pub permute: Cost,
    /// Cost of one select (conditional move) of 32 bits.
    pub select: Cost,
    /// Cost of one fused multiply-add of 32 bits; the cost of `select` if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiply_add: Option<Cost>,
    /// Cost of one barrier of all warps of a block.
    pub block_barrier: Cost,
    /// Cost of one barrier of the lanes of a warp.
    pub warp_barrier: Cost,
    /// Cost of one barrier of all blocks of a cluster, if the target has clusters; that of `block_barrier` if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_barrier: Option<Cost>,
}

impl CostTable {
    /// Returns the number of cycles of one fused multiply-add of 32 bits by a warp.
    #[must_use]
    pub fn multiply_add_cycles(&self) -> f64 {
        self.multiply_add.as_ref().unwrap_or(&self.select).cycles
    }
}
