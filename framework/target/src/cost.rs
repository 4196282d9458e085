//! What operations cost: cycles of the pipe that they occupy, and latency.

use serde::{Deserialize, Serialize};

/// How a figure is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Somebody measured it on the hardware; the source says who.
    Measured,
    /// The vendor's documents say it.
    Documented,
    /// Neither: taken from a related product or from experience.
    Assumed,
}

/// The cost of one class of operation, for one warp.
///
/// Cycles are counted for the whole compute unit (the hardware on which a block runs), so that costs
/// of different pipes compare: an operation of which the unit starts two warps' worth in each cycle
/// costs half a cycle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct Cost {
    /// Cycles for which one issue occupies the compute unit's pipe.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub cycles: f64,
    /// Cycles until the result can be used.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub latency: f64,
    /// How the figures are known.
    pub evidence: Evidence,
    /// Where they come from.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

/// Costs of the classes that data movement uses, for one warp of the default number of lanes each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct CostTable {
    /// One wavefront stored to shared memory.
    pub shared_store_wavefront: Cost,
    /// One wavefront loaded from shared memory.
    pub shared_load_wavefront: Cost,
    /// One exchange of 32 bits between lanes.
    pub exchange: Cost,
    /// One exchange of 32 bits between lanes whose indices differ by a constant; as any other exchange
    /// where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange_xor: Option<Cost>,
    /// One byte permute.
    pub permute: Cost,
    /// One select of 32 bits.
    pub select: Cost,
    /// A barrier of the whole block.
    pub block_barrier: Cost,
    /// A barrier of one warp.
    pub warp_barrier: Cost,
    /// A barrier of all blocks of a cluster, where the target has clusters; where it is not said it is
    /// taken to cost what one of the block costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_barrier: Option<Cost>,
}
