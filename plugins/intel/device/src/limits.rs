//! Limits that a device puts on kernels, and their check.

use tilewright_plugin::{DeviceError, KernelMetadata};

/// Limits of a device, as its driver reports them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Limits {
    /// Supported warp sizes (sub-group sizes), in lanes.
    pub(super) lanes: Vec<u64>,
    /// Maximum number of lanes of a block (work-group).
    pub(super) block: u64,
    /// Maximum bytes of shared memory of a block (work-group).
    pub(super) shared: u64,
}

impl Limits {
    /// Checks that the device can run a kernel with this metadata.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] if the kernel exceeds a limit.
    pub(super) fn check(&self, kernel: &KernelMetadata) -> Result<(), DeviceError> {
        let wrong = |what: String| Err(DeviceError::Unsupported(format!("kernel `{}`: {what}", kernel.name)));
        if !self.lanes.contains(&u64::from(kernel.lanes)) {
            return wrong(format!("sub-groups of {} lanes; the device has {:?}", kernel.lanes, self.lanes));
        }
        let block = u64::from(kernel.lanes) * u64::from(kernel.warps);
        if block > self.block {
            return wrong(format!("blocks of {block} lanes; the device has at most {}", self.block));
        }
        match kernel.shared_bytes > self.shared {
            true => wrong(format!("{} bytes of shared memory; the device has {}", kernel.shared_bytes, self.shared)),
            false => Ok(()),
        }
    }
}
