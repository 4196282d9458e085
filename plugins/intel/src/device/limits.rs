//! What a device can hold of a kernel.

use tilewright_plugin::{DeviceError, KernelMetadata};

/// A device's limits, as its driver tells them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Limits {
    /// The lanes that a warp may have (sub-groups of this size).
    pub(super) lanes: Vec<u64>,
    /// Lanes of a block, at most.
    pub(super) block: u64,
    /// Bytes of shared memory of a block, at most.
    pub(super) shared: u64,
}

impl Limits {
    /// Refuses kernels that the device cannot run.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`].
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
