//! Hardware, or what stands for it: memory, and launches.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Artifact;
use tilewright_kernel::{Counts, TensorMapBinding};

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
    fn allocate(&mut self, bytes: u64) -> Result<DeviceBuffer, DeviceError>;

    /// Frees memory of this device; a buffer that is not, or no longer, of it is ignored.
    fn free(&mut self, buffer: DeviceBuffer);

    /// Copies bytes into a buffer, from the byte `offset` of it on.
    ///
    /// # Errors
    /// [`DeviceError::BadBuffer`], [`DeviceError::Driver`].
    fn write(&mut self, buffer: DeviceBuffer, offset: u64, bytes: &[u8]) -> Result<(), DeviceError>;

    /// Copies so many bytes of a buffer, from the byte `offset` of it on.
    ///
    /// # Errors
    /// [`DeviceError::BadBuffer`], [`DeviceError::Driver`].
    fn read(&mut self, buffer: DeviceBuffer, offset: u64, bytes: u64) -> Result<Vec<u8>, DeviceError>;

    /// Forgets what a buffer holds: a kernel or host that reads it before it is written is wrong. A device that does not
    /// know which bytes were written does nothing.
    fn discard(&mut self, buffer: DeviceBuffer) {
        let _ = buffer;
    }

    /// Makes the kernels of an artifact ready to run.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`], [`DeviceError::BadLaunch`] where the artifact has no code for such a device,
    /// [`DeviceError::Driver`].
    fn load(&mut self, artifact: &Artifact) -> Result<LoadedCode, DeviceError>;

    /// Forgets loaded code; code that is not, or no longer, loaded here is ignored.
    fn unload(&mut self, code: LoadedCode);

    /// Runs a kernel of loaded code to its end.
    ///
    /// # Errors
    /// [`DeviceError`]; after [`DeviceError::Fault`] the contents of buffers are unspecified.
    fn launch(&mut self, launch: &LaunchRequest) -> Result<Launched, DeviceError>;
}

/// Memory of a device, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeviceBuffer(pub u64);

/// Code of an artifact on a device, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LoadedCode(pub u64);

/// Blocks along the three axes of a launch.
pub type LaunchGrid = [u32; 3];

/// What is to run. How many lanes a block has, the kernel says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRequest {
    /// The code.
    pub code: LoadedCode,
    /// The kernel's name in it.
    pub kernel: String,
    /// Blocks along the three axes, each at least one.
    pub grid: LaunchGrid,
    /// One for each parameter of the kernel.
    pub arguments: Vec<LaunchArgument>,
}

/// What is known of a launch that has ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launched {
    /// How long the device worked at it, by its own clock; absent where it has none.
    #[serde(default)]
    pub nanoseconds: Option<u64>,
    /// What a warp executed, the most over all warps, by the product's own bank rows; absent where the device does not
    /// count. Hardware does not.
    #[serde(default)]
    pub counts: Option<Counts>,
    /// Sectors of global memory that were touched. Only a device that runs kernel IR operation by operation counts them;
    /// its `counts` are then exact, before any code generator. They never cross the plugin boundary.
    #[serde(skip)]
    pub sectors: Option<Sectors>,
}

/// Sectors of global memory: units of the target's `global.transaction_bytes`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sectors {
    /// Sectors loaded: for each load of a warp those that its lanes touch.
    pub loaded: u64,
    /// Sectors stored, counted likewise.
    pub stored: u64,
    /// Different sectors that were prefetched.
    pub prefetched: u64,
}

/// One argument of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchArgument {
    /// The address of a buffer.
    Buffer(DeviceBuffer),
    /// A scalar, by its bits.
    Scalar {
        /// The bits, zero-extended.
        bits: u64,
        /// Its width in bits.
        width: u32,
    },
    /// A tensor, for a parameter that is a map.
    Tensor(TensorMapBinding<DeviceBuffer>),
}

impl LaunchArgument {
    /// The value of an argument that is an address or a number, and its width in bits; `address` is that of a buffer.
    ///
    /// # Errors
    /// [`DeviceError::Unsupported`] of a tensor, which only some devices have maps of; and those of `address`.
    pub fn value(
        &self,
        address: impl FnOnce(DeviceBuffer) -> Result<u64, DeviceError>,
    ) -> Result<(u64, u32), DeviceError> {
        match *self {
            Self::Buffer(buffer) => Ok((address(buffer)?, 64)),
            Self::Scalar { bits, width } if width <= 64 => Ok((bits, width)),
            Self::Scalar { width, .. } => Err(DeviceError::BadLaunch(format!("a scalar of {width} bits"))),
            Self::Tensor(_) => Err(DeviceError::Unsupported("tensors that a kernel takes by their maps".to_owned())),
        }
    }
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
    /// The device has no way to run this: fewer lanes, less shared memory; nobody's fault.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The artifact or the launch is wrong; the caller's fault.
    #[error("bad launch: {0}")]
    BadLaunch(String),
    /// The kernel did something wrong.
    #[error("kernel fault: {0}")]
    Fault(String),
    /// The driver failed.
    #[error("driver: {0}")]
    Driver(String),
    /// The plugin broke: it panicked, ended, hung or answered nonsense; its devices may be gone. The plugin's fault.
    #[error("plugin failure: {0}")]
    Plugin(String),
}
