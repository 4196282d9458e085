//! Throughput of a whole GPU: compute units, issue rates and memory bandwidth.

use serde::{Deserialize, Serialize};

use super::Evidence;

/// Number and size of a device's compute units, and their issue and memory rates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
pub struct DeviceThroughput {
    /// Number of compute units; a block runs on one of them.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub compute_units: u32,
    /// Clock of the compute units in MHz: the highest one that the vendor specifies.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub clock_mhz: f64,
    /// Bandwidth of global memory in GB/s (10^9 bytes), of all compute units together.
    #[cfg_attr(test, schemars(range(min = 0)))]
    #[serde(rename(serialize = "memory_gigabytes"), alias = "memory_gigabytes")]
    pub memory_bandwidth_gbps: f64,
    /// Latency of an access of global memory that misses all caches, in cycles.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub memory_latency: f64,
    /// Number of warp instructions that a compute unit issues per cycle.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub issues_per_cycle: f64,
    /// Maximum number of resident warps of a compute unit.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub warps_per_unit: u32,
    /// Maximum number of resident blocks of a compute unit.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub blocks_per_unit: u32,
    /// Number of 32-bit registers of a compute unit, for all lanes.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub registers_per_unit: u32,
    /// Number of register files of a compute unit, which have equal parts of its registers. Each warp has its registers
    /// in one of them, and the warps are divided evenly among them.
    #[serde(default = "one_register_file", skip_serializing_if = "is_one")]
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub register_files: u32,
    /// Bytes of shared memory of a compute unit.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub shared_bytes_per_unit: u32,
    /// Kind of evidence for this entry's values: measured, documented or assumed.
    pub evidence: Evidence,
    /// Origin of this entry's values: a document, a measurement or an assumption.
    #[cfg_attr(test, schemars(regex(pattern = r"\S")))]
    pub source: String,
}

impl DeviceThroughput {
    /// Returns the throughput that is assumed if a target file states none; it serves only to rank plans of one
    /// program.
    #[must_use]
    pub fn assumed_default() -> Self {
        Self {
            compute_units: 64,
            clock_mhz: 1000.0,
            memory_bandwidth_gbps: 1000.0,
            memory_latency: 500.0,
            issues_per_cycle: 2.0,
            warps_per_unit: 32,
            blocks_per_unit: 16,
            registers_per_unit: 65536,
            register_files: 1,
            shared_bytes_per_unit: 1 << 16,
            evidence: Evidence::Assumed,
            source: "assumed: the target file has no table `throughput`".to_owned(),
        }
    }

    /// Returns the maximum number of 32-bit registers of a lane if `warps` warps of `lanes` lanes are resident on a
    /// compute unit.
    #[must_use]
    pub fn registers_per_lane(&self, warps: u64, lanes: u64) -> u64 {
        let files = u64::from(self.register_files.max(1));
        u64::from(self.registers_per_unit) / files / (warps.div_ceil(files) * lanes).max(1)
    }

    /// Returns the maximum number of resident warps of `lanes` lanes with this number of 32-bit registers each.
    #[must_use]
    pub fn warps_with_registers(&self, registers: u64, lanes: u64) -> u64 {
        let files = u64::from(self.register_files.max(1));
        u64::from(self.registers_per_unit) / files / (registers * lanes).max(1) * files
    }

    /// Returns the bytes of global memory that one compute unit moves per cycle if all compute units share the
    /// bandwidth.
    #[must_use]
    pub fn bytes_per_cycle(&self) -> f64 {
        self.memory_bandwidth_gbps * 1000.0 / self.clock_mhz / f64::from(self.compute_units)
    }
}

fn one_register_file() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
fn is_one(count: &u32) -> bool {
    *count == 1
}
