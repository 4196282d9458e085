//! The description of a launch by the host.

use tilewright_plugin::LaunchGrid;

use super::KernelArgument;

/// A launch of a kernel with buffers of the host.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelLaunch<'a> {
    /// Number of blocks along the three axes.
    pub grid: LaunchGrid,
    /// One argument for each parameter of the kernel; [`bind_arguments`](super::bind_arguments) makes them from those of
    /// the program's function.
    pub arguments: &'a [KernelArgument],
    /// The buffers that the arguments refer to.
    pub buffers: Vec<HostBuffer<'a>>,
}

/// A buffer of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostBuffer<'a> {
    /// The contents before the launch.
    pub bytes: &'a [u8],
    /// Whether the kernel may read the contents. Otherwise a device that tracks written bytes, such as the emulator,
    /// reports a read of bytes that the kernel has not written. Has no effect on the emulator if `address` is given.
    pub initialised: bool,
    /// The address of the buffer on the emulator, for kernels that load pointers from memory; `None` for an address far
    /// from all other buffers, so that every access out of bounds is found. Other devices ignore it.
    pub address: Option<u64>,
}

impl<'a> HostBuffer<'a> {
    /// A buffer whose contents the kernel may read.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, initialised: true, address: None }
    }
}
