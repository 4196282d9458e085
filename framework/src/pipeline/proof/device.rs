//! Running a kernel on a device, on the same tensors as on the emulator.

use super::Disproof;
use crate::kernel::{self, Kernel, Module};
use crate::vendor::{Buffer, CompileOptions, Device, DeviceError, LaunchArgument, LaunchGrid, LaunchRequest, Target};

/// What an output holds before: elements that are not written are seen.
const NOISE: u8 = 0xa5;

/// A target's compiler and a device of it.
pub(in crate::pipeline) struct Machine<'a> {
    pub target: &'a dyn Target,
    pub device: &'a mut dyn Device,
}

impl Machine<'_> {
    /// Compiles a kernel whose parameters are buffers, first read, then written, and runs it: what it wrote.
    pub(in crate::pipeline) fn run(
        &mut self,
        kernel: Kernel,
        inputs: &[Vec<u8>],
        outputs: &[usize],
        blocks: u32,
    ) -> Result<Vec<Vec<u8>>, Disproof> {
        let noise = outputs.iter().map(|&bytes| vec![NOISE; bytes]);
        let buffers: Vec<_> = inputs.iter().cloned().chain(noise).collect();
        Ok(self.run_on(kernel, &buffers, blocks)?.split_off(inputs.len()))
    }

    /// Compiles a kernel whose parameters are buffers of known contents, and runs it: what they hold then.
    pub(in crate::pipeline) fn run_on(
        &mut self,
        kernel: Kernel,
        contents: &[Vec<u8>],
        blocks: u32,
    ) -> Result<Vec<Vec<u8>>, Disproof> {
        let buffers = |buffers: &[Buffer]| buffers.iter().map(|&buffer| LaunchArgument::Buffer(buffer)).collect();
        self.run_with(kernel, contents, [blocks, 1, 1], buffers)
    }

    /// Compiles a kernel and runs it over a grid; what it is given, made of the buffers, which begin with these
    /// contents, in order. What they hold then.
    pub(in crate::pipeline) fn run_with(
        &mut self,
        kernel: Kernel,
        contents: &[Vec<u8>],
        grid: LaunchGrid,
        arguments: impl FnOnce(&[Buffer]) -> Vec<LaunchArgument>,
    ) -> Result<Vec<Vec<u8>>, Disproof> {
        let module = Module { kernels: vec![kernel] };
        kernel::verify(&module)?;
        // Devices load objects, those that read text assembly.
        let artifact = self.target.compile(&module, &CompileOptions::default())?;
        let code = self.device.load(&artifact)?;
        let mut buffers = Vec::new();
        let launch = |buffers: &[Buffer]| LaunchRequest {
            code,
            kernel: module.kernels[0].name.clone(),
            grid,
            arguments: arguments(buffers),
        };
        let outcome = self.launch(launch, contents, &mut buffers);
        buffers.into_iter().for_each(|buffer| self.device.free(buffer));
        self.device.unload(code);
        Ok(outcome?)
    }

    fn launch(
        &mut self,
        launch: impl FnOnce(&[Buffer]) -> LaunchRequest,
        contents: &[Vec<u8>],
        buffers: &mut Vec<Buffer>,
    ) -> Result<Vec<Vec<u8>>, DeviceError> {
        for bytes in contents {
            let buffer = self.device.allocate(bytes.len() as u64)?;
            buffers.push(buffer);
            self.device.write(buffer, 0, bytes)?;
        }
        self.device.launch(&launch(buffers))?;
        let written = buffers.iter().zip(contents);
        written.map(|(&buffer, bytes)| self.device.read(buffer, 0, bytes.len() as u64)).collect()
    }
}
