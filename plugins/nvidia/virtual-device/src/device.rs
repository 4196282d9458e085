//! The virtual device behind the framework's `Device` trait.

use tilewright_plugin::{
    Artifact, CodeFormat, Device, DeviceBufferId, DeviceError, DeviceObjectMap, KernelMetadata, LaunchArgument,
    LaunchRequest, LaunchStats, LoadedCodeId,
};
use tilewright_target::{Instruction, TargetDescription};

use super::machine::{Global, LANES, Launch, LaunchReport, Tensor, run};
use super::program::{Addresses, Program, program};
use super::text::{Initial, PtxError, PtxModule, Variable, parse_ptx};

/// A virtual device: an interpreter of PTX that executes kernels for a GPU model without the GPU.
pub struct VirtualDevice {
    target: TargetDescription,
    instructions: Vec<Instruction>,
    global: Global,
    /// Table of the handles that the device has returned: of buffers, with the buffer's index in global memory, and of
    /// loaded code.
    given: DeviceObjectMap<u64, Loaded>,
    last: LaunchReport,
    replicated_stores: bool,
}

/// The decoded kernels of an artifact, ready to execute, in the order of the artifact's metadata.
struct Loaded {
    programs: Vec<Program>,
    /// Indices, in global memory, of the buffers that hold the module's variables; freed when the code is unloaded.
    variables: Vec<u64>,
}

/// Maximum number of instructions that all warps of a launch may execute together; a launch that needs more faults. The
/// kernels of the test programs execute a few million; an endless loop ends within seconds.
const MOST_STEPS: u64 = 1 << 26;

impl VirtualDevice {
    /// Creates the virtual device of a target; `instructions` is the target's instruction table.
    #[must_use]
    pub fn new(target: TargetDescription, instructions: Vec<Instruction>) -> Self {
        let (global, given, last) = (Global::default(), DeviceObjectMap::default(), LaunchReport::default());
        Self { target, instructions, global, given, last, replicated_stores: false }
    }

    /// Permits several lanes to store to the same address of shared memory by one instruction without synchronization;
    /// memory keeps one of the values.
    ///
    /// Triton's kernels store tensors whose elements several lanes or warps hold, even if these replicas differ by
    /// rounding. By default such a store is a fault, unless lanes of one warp store equal values.
    #[must_use]
    pub fn with_replicated_stores(self) -> Self {
        Self { replicated_stores: true, ..self }
    }

    /// Returns the counts of the last launch that completed.
    #[must_use]
    pub fn report(&self) -> &LaunchReport {
        &self.last
    }

    /// Allocates global memory for the variables of a module and writes their initial values. Returns the variables'
    /// addresses by name, and the indices of the buffers.
    fn variables(&mut self, module: &PtxModule) -> Result<(Addresses, Vec<u64>), DeviceError> {
        let (mut addresses, mut buffers) = (Addresses::new(), Vec::new());
        let global = || module.variables.iter().filter(|variable| variable.space != "shared");
        for variable in global() {
            // A variable without a size is only declared in this module; decoding an instruction that uses it fails.
            let Some(elements) = variable.elements else { continue };
            let bytes = elements.saturating_mul(variable.element_bytes);
            let buffer = self.memory(bytes)?;
            buffers.push(buffer);
            addresses.insert(variable.name.clone(), Global::address(buffer));
        }
        for (variable, &buffer) in global().filter(|variable| variable.elements.is_some()).zip(&buffers) {
            let bytes = initial(variable, &addresses).map_err(unsupported)?;
            match self.global.buffer(buffer) {
                Some(memory) if bytes.len() <= memory.len() => memory[..bytes.len()].copy_from_slice(&bytes),
                _ => {
                    let message = format!("`{}` has more initial values than elements", variable.name);
                    return Err(unsupported(PtxError::new(variable.line, message)));
                }
            }
        }
        Ok((addresses, buffers))
    }

    fn programs(
        &self,
        module: &PtxModule,
        artifact: &Artifact,
        addresses: &Addresses,
    ) -> Result<Vec<Program>, DeviceError> {
        let mut programs = Vec::new();
        for metadata in &artifact.kernels {
            let kernel = module.kernels.iter().find(|kernel| kernel.name == metadata.name);
            let missing = || DeviceError::BadLaunch(format!("the PTX has no kernel `{}`", metadata.name));
            let kernel = kernel.ok_or_else(missing)?;
            let program = program(module, kernel, addresses, &self.instructions).map_err(unsupported)?;
            self.check(metadata, &program)?;
            programs.push(program);
        }
        Ok(programs)
    }

    /// Returns an error if the target or the virtual device cannot run the kernel, e.g. because its block has too many
    /// threads.
    fn check(&self, kernel: &KernelMetadata, program: &Program) -> Result<(), DeviceError> {
        let wrong = |what: String| Err(DeviceError::Unsupported(format!("kernel `{}`: {what}", kernel.name)));
        let threads = u64::from(kernel.lanes) * u64::from(kernel.warps);
        let shared = kernel.shared_bytes.max(program.shared_bytes);
        if kernel.lanes as usize != LANES {
            return wrong(format!("warps of {} lanes; there are {LANES}", kernel.lanes));
        }
        if kernel.blocks > 1 {
            return wrong(format!("clusters of {} blocks; the virtual device has no clusters", kernel.blocks));
        }
        if threads == 0 || threads > u64::from(self.target.limits.lanes_per_block) {
            return wrong(format!(
                "blocks of {threads} lanes; there are at most {}",
                self.target.limits.lanes_per_block
            ));
        }
        if program.local_bytes > MOST_LOCAL {
            return wrong(format!("{} bytes of local memory; a lane has at most {MOST_LOCAL}", program.local_bytes));
        }
        match shared > u64::from(self.target.shared.bytes) {
            true => wrong(format!("{shared} bytes of shared memory; a block has {}", self.target.shared.bytes)),
            false => Ok(()),
        }
    }

    /// Allocates zeroed global memory and returns the index of the buffer.
    fn memory(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let size = usize::try_from(bytes).ok().filter(|&size| size <= LARGEST_BUFFER);
        size.and_then(|size| self.global.allocate(size)).ok_or(DeviceError::OutOfMemory(bytes))
    }

    /// Returns `bytes` bytes of a buffer, from byte `offset` on.
    fn buffer(&mut self, buffer: DeviceBufferId, offset: u64, bytes: u64) -> Result<&mut [u8], DeviceError> {
        let number = *self.given.buffer_memory(buffer, offset, bytes)?;
        let memory = self.global.buffer(number).and_then(|memory| memory.get_mut(offset as usize..));
        let memory = memory.and_then(|memory| memory.get_mut(..bytes as usize));
        memory.ok_or_else(|| DeviceError::BadBuffer(format!("buffer {} was freed", buffer.0)))
    }
}

/// Encodes the arguments of a launch as the bytes of the kernel's parameter memory.
fn parameters(
    given: &DeviceObjectMap<u64, Loaded>,
    (program, kernel): (&Program, &KernelMetadata),
    arguments: &[LaunchArgument],
) -> Result<Vec<u8>, DeviceError> {
    let address = |buffer| Ok(Global::address(*given.buffer_memory(buffer, 0, 0)?));
    let mut bytes = vec![0; program.parameter_bytes as usize];
    let bad = |message: String| Err(DeviceError::BadLaunch(format!("kernel `{}`: {message}", program.name)));
    if arguments.len() != program.parameters.len() {
        return bad(format!("{} arguments, the text takes {}", arguments.len(), program.parameters.len()));
    }
    for (number, (parameter, argument)) in program.parameters.iter().zip(arguments).enumerate() {
        let map = kernel.maps.iter().find(|map| map.parameter as usize == number);
        let value = match (argument, map) {
            (LaunchArgument::Tensor(tensor), Some(map)) => {
                let first = Global::address(*given.mapped_tensor_memory(tensor, &map.map)?).wrapping_add(tensor.offset);
                match Tensor::new(map, first, tensor.sizes, tensor.strides) {
                    Ok(tensor) => tensor.to_bytes().to_vec(),
                    Err(why) => return bad(format!("argument {number}: {why}")),
                }
            }
            _ => {
                let (value, width) = argument.resolve_bits(address)?;
                value.to_le_bytes()[..width.div_ceil(8) as usize].to_vec()
            }
        };
        if value.len() as u64 != parameter.bytes {
            return bad(format!("argument {number} has {} bytes, the text takes {}", value.len(), parameter.bytes));
        }
        let at = parameter.offset as usize;
        bytes[at..at + value.len()].copy_from_slice(&value);
    }
    Ok(bytes)
}

/// Returns a copy of the artifact with only the metadata of its kernels. If the metadata of a kernel does not list its
/// parameters, their widths are taken from the PTX text.
fn metadata_with_parameters(artifact: &Artifact, programs: &[Program]) -> Artifact {
    let kernel = |(metadata, program): (&KernelMetadata, &Program)| {
        // A parameter wider than any argument cannot be passed by a launch.
        let bits = |bytes: u64| u32::try_from(bytes).map_or(u32::MAX, |bytes| bytes.saturating_mul(8));
        let written = || program.parameters.iter().map(|parameter| bits(parameter.bytes)).collect();
        let parameters = Some(metadata.parameters.clone().unwrap_or_else(written));
        KernelMetadata { parameters, ..metadata.clone() }
    };
    let kernels = artifact.kernels.iter().zip(programs).map(kernel).collect();
    Artifact { payloads: Vec::new(), kernels, accepted_by: None }
}

fn unsupported(error: PtxError) -> DeviceError {
    DeviceError::Unsupported(format!("the virtual device: PTX, {error}"))
}

/// Returns the PTX text of an artifact; an error if the artifact has only a cubin.
fn text(artifact: &Artifact) -> Result<&str, DeviceError> {
    let forms = [CodeFormat::Assembly, CodeFormat::Object];
    let payload = forms.iter().find_map(|&form| artifact.payload(form).filter(|payload| payload.format == "ptx"));
    let payload = payload.ok_or_else(|| {
        DeviceError::BadLaunch("the artifact has no PTX; the virtual device runs no cubin: request assembly".to_owned())
    })?;
    std::str::from_utf8(&payload.bytes).map_err(|_| DeviceError::BadLaunch("the PTX is not text".to_owned()))
}

/// Returns the bytes of a variable's initial value. `addresses` has the addresses of global variables; the value may
/// refer to them.
fn initial(variable: &Variable, addresses: &Addresses) -> Result<Vec<u8>, PtxError> {
    let mut bytes = Vec::new();
    for value in &variable.initial {
        let bits = match value {
            Initial::Bits(bits) => *bits,
            Initial::Address { name, offset, .. } => {
                let missing = || PtxError::new(variable.line, format!("`{name}` has no address in global memory"));
                addresses.get(name).ok_or_else(missing)?.wrapping_add(*offset)
            }
        };
        bytes.extend_from_slice(&bits.to_le_bytes()[..(variable.element_bytes as usize).min(8)]);
    }
    Ok(bytes)
}

impl Device for VirtualDevice {
    fn name(&self) -> String {
        format!("virtual PTX interpreter of {}, no hardware", self.target.gpu_model)
    }

    fn allocate(&mut self, bytes: u64) -> Result<DeviceBufferId, DeviceError> {
        let memory = self.memory(bytes)?;
        Ok(self.given.insert_buffer(memory, bytes))
    }

    fn free(&mut self, buffer: DeviceBufferId) {
        if let Some(memory) = self.given.remove_buffer(buffer) {
            self.global.free(memory);
        }
    }

    fn write(&mut self, buffer: DeviceBufferId, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.buffer(buffer, offset, bytes.len() as u64)?.copy_from_slice(bytes);
        Ok(())
    }

    fn read(&mut self, buffer: DeviceBufferId, offset: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        self.buffer(buffer, offset, bytes).map(|bytes| bytes.to_vec())
    }

    fn load(&mut self, artifact: &Artifact) -> Result<LoadedCodeId, DeviceError> {
        let module = parse_ptx(text(artifact)?).map_err(unsupported)?;
        let (addresses, variables) = self.variables(&module)?;
        let programs = self.programs(&module, artifact, &addresses).inspect_err(|_| {
            variables.iter().for_each(|&variable| self.global.free(variable));
        })?;
        let artifact = metadata_with_parameters(artifact, &programs);
        Ok(self.given.insert_code(Loaded { programs, variables }, &artifact))
    }

    fn unload(&mut self, code: LoadedCodeId) {
        if let Some(loaded) = self.given.remove_code(code) {
            loaded.variables.into_iter().for_each(|variable| self.global.free(variable));
        }
    }

    fn launch(&mut self, launch: &LaunchRequest) -> Result<LaunchStats, DeviceError> {
        let (loaded, metadata) = self.given.resolve_launch(launch)?;
        let missing = || DeviceError::BadLaunch(format!("the code has no kernel `{}`", launch.kernel));
        let program = loaded.programs.iter().find(|program| program.name == launch.kernel).ok_or_else(missing)?;
        let parameters = parameters(&self.given, (program, metadata), &launch.arguments)?;
        let launch = Launch {
            target: &self.target,
            grid: launch.grid,
            threads: [metadata.lanes * metadata.warps, 1, 1],
            dynamic_bytes: metadata.shared_bytes.saturating_sub(program.shared_bytes),
            parameters: &parameters,
            replicated_stores: self.replicated_stores,
            most_steps: MOST_STEPS,
        };
        let ran = run(program, &launch, &mut self.global);
        self.last = ran.map_err(|fault| DeviceError::Fault(fault.to_string()))?;
        Ok(LaunchStats { counts: Some(self.last.counts), ..LaunchStats::default() })
    }
}

/// Max bytes of a lane's local memory: CUDA C++ Programming Guide, technical specifications.
const MOST_LOCAL: u64 = 512 << 10;

/// Maximum bytes of one buffer: half the distance between the addresses of consecutive buffers, so that an access past
/// the end hits no other buffer.
const LARGEST_BUFFER: usize = 1 << 35;
