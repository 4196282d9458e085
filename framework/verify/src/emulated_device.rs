//! The emulator as a device: it loads kernel IR, runs launches and counts.

use std::collections::BTreeMap;

use tilewright_emulator::{
    self as emulator, Argument, Emulator, Fault, FaultKind, GlobalMemory, HostAccessError, RunLimits, RunReport,
    SemanticsTable,
};
use tilewright_kernel::{self as kernel, Module};
use tilewright_plugin::{
    Artifact, CodeFormat, CodePayload, Device, DeviceBufferId, DeviceError, KernelMetadata, LaunchArgument,
    LaunchRequest, LaunchStats, LoadedCodeId, SectorCounts,
};
use tilewright_target::{Instruction, TargetDescription};

/// Name of the payload format of artifacts with kernel IR.
const FORMAT: &str = "tilewright-kernel";

/// Wraps kernel IR in an artifact for an [`EmulatedDevice`].
#[must_use]
pub fn build_emulator_artifact(module: &Module, instructions: &[Instruction]) -> Artifact {
    let payload = CodePayload {
        form: CodeFormat::Object,
        format: FORMAT.to_owned(),
        bytes: kernel::encode_module(module),
        may_differ: false,
    };
    let metadata = |lowered| KernelMetadata::new(lowered, kernel::Kernel::shared_bytes(lowered), instructions);
    Artifact { payloads: vec![payload], kernels: module.kernels.iter().map(metadata).collect(), accepted_by: None }
}

/// A device that runs kernel IR on the CPU. It tracks the initialised bytes of a buffer; a read of other bytes is a
/// fault.
pub struct EmulatedDevice<'a> {
    target: &'a TargetDescription,
    instructions: &'a [Instruction],
    limits: RunLimits,
    memory: GlobalMemory,
    buffers: BTreeMap<u64, emulator::BufferHandle>,
    modules: BTreeMap<u64, Module>,
    handles: u64,
    last_run: Option<Result<RunReport, Fault>>,
}

impl<'a> EmulatedDevice<'a> {
    /// Creates a device for a target with this instruction table.
    #[must_use]
    pub fn new(target: &'a TargetDescription, instructions: &'a [Instruction]) -> Self {
        let (buffers, modules) = (BTreeMap::new(), BTreeMap::new());
        let (limits, memory) = (RunLimits::default(), GlobalMemory::new());
        Self { target, instructions, limits, memory, buffers, modules, handles: 0, last_run: None }
    }

    /// Sets the resource limits of a launch.
    #[must_use]
    pub fn with_limits(self, limits: RunLimits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the report of the last launch; `None` if it did not complete.
    #[must_use]
    pub fn report(&self) -> Option<RunReport> {
        self.last_run.as_ref().and_then(|last_run| last_run.as_ref().ok().copied())
    }

    /// Takes the fault that ended the last launch; `None` if none did.
    pub fn take_fault(&mut self) -> Option<Fault> {
        self.last_run.take_if(|last_run| last_run.is_err())?.err()
    }

    fn handle(&mut self) -> u64 {
        self.handles += 1;
        self.handles
    }

    fn buffer(&self, buffer: DeviceBufferId) -> Result<emulator::BufferHandle, DeviceError> {
        let known = self.buffers.get(&buffer.0).copied();
        known.ok_or_else(|| DeviceError::BadBuffer(format!("{} is not a buffer of this device", buffer.0)))
    }

    fn argument(&self, argument: &LaunchArgument) -> Result<Argument, DeviceError> {
        Ok(match *argument {
            LaunchArgument::Buffer(buffer) => Argument::Buffer(self.buffer(buffer)?),
            LaunchArgument::Pointer { buffer, offset } => Argument::Pointer { buffer: self.buffer(buffer)?, offset },
            LaunchArgument::Scalar { bits, .. } => Argument::Scalar(bits),
            LaunchArgument::Tensor(tensor) => Argument::Tensor(tensor.with_buffer(self.buffer(tensor.buffer)?)),
        })
    }
}

impl Device for EmulatedDevice<'_> {
    fn name(&self) -> String {
        format!("the emulator of {}", self.target.name)
    }

    fn allocate(&mut self, bytes: u64) -> Result<DeviceBufferId, DeviceError> {
        let size = usize::try_from(bytes).map_err(|_| DeviceError::OutOfMemory(bytes))?;
        let buffer = DeviceBufferId(self.handle());
        self.buffers.insert(buffer.0, self.memory.allocate_with(&vec![0; size]));
        Ok(buffer)
    }

    fn free(&mut self, buffer: DeviceBufferId) {
        if let Some(emulated_buffer) = self.buffers.remove(&buffer.0) {
            self.memory.free(emulated_buffer);
        }
    }

    fn write(&mut self, buffer: DeviceBufferId, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let emulated_buffer = self.buffer(buffer)?;
        self.memory.write(emulated_buffer, offset as usize, bytes).map_err(bad_buffer)
    }

    fn read(&mut self, buffer: DeviceBufferId, offset: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        let emulated_buffer = self.buffer(buffer)?;
        Ok(self.memory.read(emulated_buffer, offset as usize, bytes as usize).map_err(bad_buffer)?.to_vec())
    }

    fn discard(&mut self, buffer: DeviceBufferId) {
        if let Some(&emulated_buffer) = self.buffers.get(&buffer.0) {
            self.memory.mark_uninitialised(emulated_buffer);
        }
    }

    fn load(&mut self, artifact: &Artifact) -> Result<LoadedCodeId, DeviceError> {
        let payload = artifact.payloads.iter().find(|payload| payload.format == FORMAT);
        let payload = payload.ok_or_else(|| {
            DeviceError::BadLaunch("the artifact has no kernel IR, which the emulator needs".to_owned())
        })?;
        let module =
            kernel::decode_module(&payload.bytes).map_err(|error| DeviceError::BadLaunch(error.to_string()))?;
        let code = LoadedCodeId(self.handle());
        self.modules.insert(code.0, module);
        Ok(code)
    }

    fn unload(&mut self, code: LoadedCodeId) {
        self.modules.remove(&code.0);
    }

    fn launch(&mut self, launch: &LaunchRequest) -> Result<LaunchStats, DeviceError> {
        self.last_run = None;
        let arguments =
            launch.arguments.iter().map(|argument| self.argument(argument)).collect::<Result<Vec<_>, _>>()?;
        let kernels = self.modules.get(&launch.code.0).map_or(&[][..], |module| &module.kernels);
        let kernel = kernels.iter().find(|kernel| kernel.name == launch.kernel).ok_or_else(|| {
            DeviceError::BadLaunch(format!("no kernel `{}` is loaded as code {}", launch.kernel, launch.code.0))
        })?;
        let semantics = SemanticsTable::from_kernel(kernel, self.instructions);
        let emulator = Emulator::new(kernel, self.target).map(|emulator| emulator.with_semantics(&semantics));
        let last_run =
            emulator.and_then(|emulator| emulator.run(launch.grid, &arguments, &mut self.memory, &self.limits));
        let launched = last_run.as_ref().map(launched).map_err(device_error);
        self.last_run = Some(last_run);
        launched
    }
}

fn launched(report: &RunReport) -> LaunchStats {
    let sectors = SectorCounts {
        loaded: report.transactions_loaded,
        stored: report.transactions_stored,
        prefetched: report.sectors_prefetched,
    };
    LaunchStats { nanoseconds: None, counts: Some(report.counts), sectors: Some(sectors) }
}

fn device_error(fault: &Fault) -> DeviceError {
    let words = fault.to_string();
    match fault.kind {
        FaultKind::SharedLimit { .. } | FaultKind::RegisterLimit { .. } => DeviceError::Unsupported(words),
        FaultKind::Launch(_) | FaultKind::Argument { .. } => DeviceError::BadLaunch(words),
        _ => DeviceError::Fault(words),
    }
}

fn bad_buffer(error: HostAccessError) -> DeviceError {
    match error {
        HostAccessError::Uninitialised { .. } => {
            DeviceError::Fault(format!("the kernel's output cannot be read: {error}"))
        }
        error => DeviceError::BadBuffer(error.to_string()),
    }
}
