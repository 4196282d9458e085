//! Devices, real or simulated: their memory, loaded code and launches.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Artifact;
use tilewright_kernel::{Counts, TensorMapBinding};

/// A device that runs compiled code of a target.
///
/// Calls are synchronous: a launch has ended when it returns.
pub trait Device: Send {
    /// Returns the device's name, with the driver version.
    fn name(&self) -> String;

    /// Allocates zeroed memory.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`] if the device has too little free memory, [`DeviceError::Driver`] if the driver
    /// fails.
    fn allocate(&mut self, bytes: u64) -> Result<DeviceBufferId, DeviceError>;

    /// Frees a buffer; ignores one that is not, or no longer, allocated on this device.
    fn free(&mut self, buffer: DeviceBufferId);

    /// Copies bytes into a buffer from byte `offset`.
    ///
    /// # Errors
    /// [`DeviceError::BadBuffer`] if the buffer is unknown or too small, [`DeviceError::Driver`] if the driver fails.
    fn write(&mut self, buffer: DeviceBufferId, offset: u64, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Returns `bytes` bytes of a buffer from byte `offset` on.
    ///
    /// # Errors
    /// [`DeviceError::BadBuffer`] if the buffer is unknown or too small, [`DeviceError::Driver`] if the driver fails.
    fn read(&mut self, buffer: DeviceBufferId, offset: u64, bytes: u64) -> Result<Vec<u8>, DeviceError>;

    /// Invalidates the contents of a buffer: a kernel or host must write it before reading. A device that does not
    /// track written bytes does nothing.
    fn discard(&mut self, buffer: DeviceBufferId) {
        let _ = buffer;
    }

    /// Loads the kernels of an artifact.
    ///
    /// # Errors
    /// [`DeviceError::BadLaunch`] if the artifact has no code for this device, [`DeviceError::Unsupported`] if the
    /// device cannot run the code, [`DeviceError::Driver`] if the driver fails.
    fn load(&mut self, artifact: &Artifact) -> Result<LoadedCodeId, DeviceError>;

    /// Unloads code; ignores code that is not, or no longer, loaded on this device.
    fn unload(&mut self, code: LoadedCodeId);

    /// Runs a kernel of loaded code to its end.
    ///
    /// # Errors
    /// [`DeviceError::BadLaunch`] if the grid or the arguments do not fit the kernel, [`DeviceError::Unsupported`] if
    /// the device cannot run the launch, [`DeviceError::Fault`] if the kernel faults. After a fault the contents of
    /// buffers are unspecified.
    fn launch(&mut self, launch: &LaunchRequest) -> Result<LaunchStats, DeviceError>;
}

/// A buffer in a device's memory, identified by a number that the device chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeviceBufferId(pub u64);

/// The code of an artifact loaded on a device, identified by a number that the device chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LoadedCodeId(pub u64);

/// Number of blocks along each of the three axes of a launch.
pub type LaunchGrid = [u32; 3];

/// The parameters of a launch. The number of lanes per block is fixed in the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRequest {
    /// The loaded code that has the kernel.
    pub code: LoadedCodeId,
    /// The kernel's name in the loaded code.
    pub kernel: String,
    /// Number of blocks along each of the three axes, at least one each.
    pub grid: LaunchGrid,
    /// One argument for each parameter of the kernel.
    pub arguments: Vec<LaunchArgument>,
}

/// The report of a finished launch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchStats {
    /// The launch's duration in nanoseconds by the device's clock; `None` if the device has no clock.
    #[serde(default)]
    pub nanoseconds: Option<u64>,
    /// Counts of events, such as instructions: each count is the maximum over the warps. `None` if the device does not
    /// count, such as real hardware.
    #[serde(default)]
    pub counts: Option<Counts>,
    /// Sectors of global memory that the launch accessed; `None` except on a device that interprets kernel IR operation
    /// by operation. If they are known, `counts` are exact counts of that IR, before any code generator. Never sent
    /// across the plugin boundary.
    #[serde(skip)]
    pub sectors: Option<SectorCounts>,
}

/// Numbers of accessed sectors of global memory. A sector has the size `global.transaction_bytes` of the target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SectorCounts {
    /// Sectors loaded: the sum, over all loads of all warps, of the different sectors that the warp's lanes access.
    pub loaded: u64,
    /// Sectors stored: the same sum over all stores.
    pub stored: u64,
    /// Number of different sectors that were prefetched.
    pub prefetched: u64,
}

/// One argument of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchArgument {
    /// The address of a buffer.
    Buffer(DeviceBufferId),
    /// An address within a buffer.
    Pointer {
        /// The buffer that contains the address.
        buffer: DeviceBufferId,
        /// Offset of the address from the start of the buffer, in bytes.
        offset: u64,
    },
    /// A scalar, given by its bits.
    Scalar {
        /// The scalar's bits, zero-extended.
        bits: u64,
        /// The scalar's width in bits.
        width: u32,
    },
    /// A tensor, for a parameter that is a tensor map.
    Tensor(TensorMapBinding<DeviceBufferId>),
}

impl LaunchArgument {
    /// Returns the bits that the kernel receives for a buffer or scalar argument, and their number; `address` maps a
    /// buffer to its address.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] for a tensor, since only some devices support tensor maps; errors of `address`.
    pub fn resolve_bits(
        &self,
        address: impl FnOnce(DeviceBufferId) -> Result<u64, DeviceError>,
    ) -> Result<(u64, u32), DeviceError> {
        match *self {
            Self::Buffer(buffer) => Ok((address(buffer)?, 64)),
            Self::Pointer { buffer, offset } => Ok((address(buffer)?.wrapping_add(offset), 64)),
            Self::Scalar { bits, width } if width <= 64 => Ok((bits, width)),
            Self::Scalar { width, .. } => Err(DeviceError::BadLaunch(format!("a scalar of {width} bits"))),
            Self::Tensor(_) => Err(DeviceError::Unsupported("kernel parameters that are tensor maps".to_owned())),
        }
    }
}

/// The reason why a device rejected or failed a call.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The vendor's runtime is not on this machine.
    #[error("no runtime: {0}")]
    NoRuntime(String),
    /// The device has not enough free memory for this many bytes.
    #[error("out of device memory: {0} bytes requested")]
    OutOfMemory(u64),
    /// The buffer is not one of this device, or is too small.
    #[error("bad buffer: {0}")]
    BadBuffer(String),
    /// The device cannot run the code or the launch, for example because a block has too many lanes or too much shared
    /// memory; nobody's fault.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The artifact or the launch is wrong; the caller's fault.
    #[error("bad launch: {0}")]
    BadLaunch(String),
    /// The kernel caused a fault on the device, such as an invalid address.
    #[error("kernel fault: {0}")]
    Fault(String),
    /// The vendor's driver failed.
    #[error("driver: {0}")]
    Driver(String),
    /// The plugin failed: it panicked, ended, hung or gave an invalid answer, which is the plugin's fault. Its devices
    /// may be gone.
    #[error("plugin failure: {0}")]
    Plugin(String),
}
