//! The register mode of kernels: more registers for each hardware thread mean fewer threads on an execution unit.
//!
//! The mode is an option of the driver's compiler and applies to a whole module (oneAPI GPU Optimization Guide, small
//! and large register modes).

use std::ffi::CStr;

use tilewright_plugin::KernelMetadata;

/// Build option of OpenCL that selects the large register mode.
pub const OPENCL_LARGE_GRF_OPTION: &CStr = c"-cl-intel-256-GRF-per-thread";
/// The option of Level Zero's module compiler for the large register mode.
pub(crate) const LARGE_BY_LEVEL_ZERO: &CStr = c"-ze-opt-large-register-file";

/// Number of 64-byte registers of a hardware thread in the default mode; the large mode has twice as many.
const DEFAULT_REGISTERS: u64 = 128;

/// Whether some kernel is compiled for more registers than a thread has in the default mode.
#[must_use]
pub fn needs_large_mode(kernels: &[KernelMetadata]) -> bool {
    let bytes = |kernel: &KernelMetadata| 4 * u64::from(kernel.registers) * u64::from(kernel.lanes);
    kernels.iter().any(|kernel| bytes(kernel) > 64 * DEFAULT_REGISTERS)
}
