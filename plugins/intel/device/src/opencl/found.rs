//! The properties of an OpenCL device, as its driver reports them.

use super::super::gpu_model::is_named;
use super::super::limits::Limits;

/// A device that a driver lists, and its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The driver's handle of the device (`cl_device_id`).
    pub id: usize,
    pub name: String,
    pub driver: String,
    /// Whether the device is a CPU; Intel's runtime for CPUs lacks the builtins for MMA and 2-D block loads.
    pub is_processor: bool,
    pub limits: Limits,
    /// Whether the device can round division and square root of binary32 correctly.
    pub rounds_correctly: bool,
}

impl Found {
    pub(super) fn serves(&self, gpu_model: &str) -> bool {
        self.is_processor || is_named(&self.name, gpu_model)
    }
}

/// Converts a zero-terminated string of the driver to a `String`, without the zeros and surrounding white space.
pub(super) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').trim().to_owned()
}
