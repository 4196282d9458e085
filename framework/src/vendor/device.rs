//! Hardware, or what stands for it: memory, and launches.

use thiserror::Error;

use super::Artifact;

/// A device that runs what a target compiles.
///
/// Calls are synchronous: a launch has ended when it returns.
pub trait Device: Send {
    /// What the device calls itself, with driver version.
    fn name(&self) -> String;

    /// Allocates zeroed memory.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], [`DeviceError::Driver`].
    fn allocate(&mut self, bytes: u64) -> Result<Buffer, DeviceError>;

    /// Frees memory of this device; a buffer that is not, or no longer, of it is ignored.
    fn free(&mut self, buffer: Buffer);

    /// Copies bytes to the start of a buffer.
    ///
    /// # Errors
    /// [`DeviceError::BadBuffer`], [`DeviceError::Driver`].
    fn write(&mut self, buffer: Buffer, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Copies a buffer's first bytes.
    ///
    /// # Errors
    /// [`DeviceError::BadBuffer`], [`DeviceError::Driver`].
    fn read(&mut self, buffer: Buffer, bytes: u64) -> Result<Vec<u8>, DeviceError>;

    /// Runs a kernel of an artifact to its end.
    ///
    /// # Errors
    /// [`DeviceError`]; after [`DeviceError::Fault`] the contents of buffers are unspecified.
    fn launch(
        &mut self,
        artifact: &Artifact,
        kernel: &str,
        grid: LaunchGrid,
        arguments: &[LaunchArgument],
    ) -> Result<(), DeviceError>;
}

/// Memory of a device, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Buffer(pub u64);

/// Blocks along the three axes of a launch.
pub type LaunchGrid = [u32; 3];

/// One argument of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchArgument {
    /// The address of a buffer.
    Buffer(Buffer),
    /// A scalar, by its bits.
    Scalar {
        /// The bits, zero-extended.
        bits: u64,
        /// Its width in bits.
        width: u32,
    },
}

/// Why a device did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The vendor's runtime is not on this machine.
    #[error("no runtime: {0}")]
    NoRuntime(String),
    /// The device has not enough memory left.
    #[error("out of device memory: {0} bytes asked for")]
    OutOfMemory(u64),
    /// A buffer that is not of this device, or too small.
    #[error("bad buffer: {0}")]
    BadBuffer(String),
    /// The artifact or the launch does not fit the device; the caller's fault.
    #[error("bad launch: {0}")]
    BadLaunch(String),
    /// The kernel did something wrong.
    #[error("kernel fault: {0}")]
    Fault(String),
    /// The driver failed.
    #[error("driver: {0}")]
    Driver(String),
}
