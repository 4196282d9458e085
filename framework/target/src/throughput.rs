//! How fast a whole product is.

use serde::{Deserialize, Serialize};

use super::Evidence;

/// How many compute units a product has, what each holds, and how fast they issue and reach global memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct Throughput {
    /// Compute units, on each of which whole blocks run.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub compute_units: u32,
    /// Their clock, in MHz: the highest that the vendor promises.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub clock_mhz: f64,
    /// Gigabytes (10^9) of global memory in a second, of all units together.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub memory_gigabytes: f64,
    /// Cycles until an access of global memory is there, where nothing is cached.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub memory_latency: f64,
    /// Instructions of warps that a unit issues in a cycle.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub issues_per_cycle: f64,
    /// Warps that are resident on a unit at most.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub warps_per_unit: u32,
    /// Blocks that are resident on a unit at most.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub blocks_per_unit: u32,
    /// 32-bit registers of all lanes of a unit.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub registers_per_unit: u32,
    /// Bytes of shared memory of a unit.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub shared_bytes_per_unit: u32,
    /// How the figures are known.
    pub evidence: Evidence,
    /// Where they come from.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

impl Throughput {
    /// Figures of no product, for targets whose files have none: they rank programs by what these do, and no more.
    #[must_use]
    pub fn assumed() -> Self {
        Self {
            compute_units: 64,
            clock_mhz: 1000.0,
            memory_gigabytes: 1000.0,
            memory_latency: 500.0,
            issues_per_cycle: 2.0,
            warps_per_unit: 32,
            blocks_per_unit: 16,
            registers_per_unit: 65536,
            shared_bytes_per_unit: 1 << 16,
            evidence: Evidence::Assumed,
            source: "no product's: the target's file has no table `throughput`".to_owned(),
        }
    }

    /// Bytes of global memory that one unit moves in a cycle while all do.
    #[must_use]
    pub fn bytes_per_cycle(&self) -> f64 {
        self.memory_gigabytes * 1000.0 / self.clock_mhz / f64::from(self.compute_units)
    }
}
