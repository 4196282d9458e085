//! The description of a launch by the host.

use tilewright_plugin::LaunchGrid;

use super::KernelArgument;

/// A launch of a kernel on buffers in the host's memory, which are copied to the device and back.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelLaunch<'a> {
    /// Number of blocks along x, y and z.
    pub grid: LaunchGrid,
    /// One argument for each parameter of the kernel; [`bind_arguments`](super::bind_arguments) makes them from those of
    /// the program's function.
    pub arguments: &'a [KernelArgument],
    /// The buffers that the arguments refer to.
    pub buffers: Vec<HostBuffer<'a>>,
}

/// A buffer in the host's memory; a launch copies its contents to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostBuffer<'a> {
    /// The contents before the launch; their length is the size of the buffer.
    pub bytes: &'a [u8],
    /// Whether the kernel may read the contents. Otherwise a device that tracks written bytes, such as the emulator,
    /// reports a read of bytes that the kernel has not written.
    pub initialised: bool,
    /// The address of the buffer on the emulator, for kernels that load pointers from memory; `None` for an address far
    /// from all other buffers, so that every access out of bounds is found. Other devices ignore it.
    pub address: Option<u64>,
}

impl<'a> HostBuffer<'a> {
    /// Creates a buffer with contents that the kernel may read, at no fixed address.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, initialised: true, address: None }
    }
}
