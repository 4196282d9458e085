//! Running a kernel on a device, on the same tensors as on the emulator.

use super::Disproof;
use tilewright_kernel::{self as kernel, Counts, Kernel, Module};
use tilewright_plugin::{
    Buffer, CompileOptions, Device, DeviceError, LaunchArgument, LaunchGrid, LaunchRequest, Target,
};

/// What an output holds before: elements that are not written are seen.
const NOISE: u8 = 0xa5;

/// A target's compiler and a device of it.
pub(crate) struct Machine<'a> {
    target: &'a dyn Target,
    device: &'a mut dyn Device,
    /// What the device counted of the last launch, where it counts.
    counted: Option<Counts>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(target: &'a dyn Target, device: &'a mut dyn Device) -> Self {
        Self { target, device, counted: None }
    }

    /// Compares what a plan counts with what the device counted, if it did. Permutes and selects are the code
    /// generator's, and so is how many accesses move what a plan moves by several; `with_conflicts` are loads whose
    /// addresses no plan knows.
    pub(crate) fn compare_counts(&self, planned: &Counts, with_conflicts: bool) -> Result<(), Disproof> {
        let Some(executed) = self.counted else { return Ok(()) };
        let compared = |counts: &Counts| {
            let Counts { exchanges, matrix_stores, matrix_loads, wavefronts_stored, barriers, warp_barriers, .. } =
                *counts;
            [exchanges, matrix_stores, matrix_loads, wavefronts_stored, barriers, warp_barriers]
        };
        let (own, planned_loads) = (executed.wavefronts_loaded, planned.wavefronts_loaded);
        let loads_agree = if with_conflicts { own >= planned_loads } else { own == planned_loads };
        match loads_agree && compared(planned) == compared(&executed) {
            true => Ok(()),
            false => Err(Disproof::Counts { planned: Box::new(*planned), executed: Box::new(executed) }),
        }
    }

    /// Compiles a kernel whose parameters are buffers, first read, then written, and runs it: what it wrote.
    pub(crate) fn run(
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
    pub(crate) fn run_on(
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
    pub(crate) fn run_with(
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
        self.counted = self.device.launch(&launch(buffers))?.counts;
        let written = buffers.iter().zip(contents);
        written.map(|(&buffer, bytes)| self.device.read(buffer, 0, bytes.len() as u64)).collect()
    }
}
