//! A launch on a device: its code is loaded and its buffers are filled; both are freed on drop.

use tilewright_plugin::{Artifact, Device, DeviceBufferId, DeviceError, LaunchArgument, LaunchRequest, LaunchStats};

use super::{KernelArgument, KernelLaunch};

/// A launch whose code and buffers are on a device, and that can be run repeatedly.
pub struct DeviceResidentLaunch<'d> {
    device: &'d mut dyn Device,
    request: LaunchRequest,
    buffers: Vec<(DeviceBufferId, u64)>,
}

impl<'d> DeviceResidentLaunch<'d> {
    /// Loads the code to a device, and fills the buffers. `kernel` is the name of the kernel in the artifact.
    ///
    /// # Errors
    /// [`DeviceError`] if the device cannot load the code or allocate a buffer, or if an argument refers to no buffer.
    ///
    /// # Examples
    /// ```no_run
    /// use tilewright::plugin::{Artifact, Device, DeviceError};
    /// use tilewright::run::{HostBuffer, KernelArgument, KernelLaunch, DeviceResidentLaunch};
    ///
    /// fn doubled(artifact: &Artifact, device: &mut dyn Device, numbers: &[u8]) -> Result<Vec<u8>, DeviceError> {
    ///     let arguments = [KernelArgument::Buffer(0)];
    ///     let launch = KernelLaunch { grid: [1; 3], arguments: &arguments, buffers: vec![HostBuffer::new(numbers)] };
    ///     let mut loaded = DeviceResidentLaunch::new("double", &launch, artifact, device)?;
    ///     loaded.run()?;
    ///     Ok(loaded.read()?.remove(0))
    /// }
    /// ```
    pub fn new(
        kernel: &str,
        launch: &KernelLaunch<'_>,
        artifact: &Artifact,
        device: &'d mut dyn Device,
    ) -> Result<Self, DeviceError> {
        let code = device.load(artifact)?;
        let request = LaunchRequest { code, kernel: kernel.to_owned(), grid: launch.grid, arguments: Vec::new() };
        let mut loaded = Self { device, request, buffers: Vec::new() };
        for buffer in &launch.buffers {
            let bytes = buffer.bytes.len() as u64;
            let allocated = loaded.device.allocate(bytes)?;
            loaded.buffers.push((allocated, bytes));
            loaded.device.write(allocated, 0, buffer.bytes)?;
            if !buffer.initialised {
                loaded.device.discard(allocated);
            }
        }
        let buffer = |index: usize| {
            let count = loaded.buffers.len();
            let known = loaded.buffers.get(index).map(|&(buffer, _)| buffer);
            known.ok_or_else(|| DeviceError::BadLaunch(format!("an argument is buffer {index} of {count}")))
        };
        let argument = |given: &KernelArgument| {
            Ok(match *given {
                // A pointer to the start of a buffer is passed as the buffer, which plugins of every interface version
                // accept.
                KernelArgument::Buffer(index) | KernelArgument::Pointer { buffer: index, offset: 0 } => {
                    LaunchArgument::Buffer(buffer(index)?)
                }
                KernelArgument::Pointer { buffer: index, offset } => {
                    LaunchArgument::Pointer { buffer: buffer(index)?, offset }
                }
                KernelArgument::Scalar { bits, width } => LaunchArgument::Scalar { bits, width },
                KernelArgument::Tensor(tensor) => LaunchArgument::Tensor(tensor.with_buffer(buffer(tensor.buffer)?)),
            })
        };
        loaded.request.arguments = launch.arguments.iter().map(argument).collect::<Result<_, DeviceError>>()?;
        Ok(loaded)
    }

    /// Runs the kernel, and waits for its end.
    ///
    /// # Errors
    /// [`DeviceError`] if the device reports that the launch failed.
    pub fn run(&mut self) -> Result<LaunchStats, DeviceError> {
        self.device.launch(&self.request)
    }

    /// Reads the contents of all buffers.
    ///
    /// # Errors
    /// [`DeviceError`] if the device cannot copy a buffer to the host.
    pub fn read(&mut self) -> Result<Vec<Vec<u8>>, DeviceError> {
        self.buffers.iter().map(|&(buffer, bytes)| self.device.read(buffer, 0, bytes)).collect()
    }
}

impl Drop for DeviceResidentLaunch<'_> {
    fn drop(&mut self) {
        self.buffers.drain(..).for_each(|(buffer, _)| self.device.free(buffer));
        self.device.unload(self.request.code);
    }
}
