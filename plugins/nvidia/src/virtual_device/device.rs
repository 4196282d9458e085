//! The virtual device behind the framework's trait.

use std::collections::HashMap;

use tilewright::target::{Instruction, TargetDescription};
use tilewright::vendor::{
    Artifact, Buffer, Device, DeviceError, Emit, KernelMetadata, LaunchArgument, LaunchRequest, Launched, LoadedCode,
};

use super::machine::{Global, LANES, Launch, Report, run};
use super::program::{Addresses, Program, program};
use super::text::{Initial, Module, PtxError, Variable, parse};

/// An interpreter of PTX that stands for a product.
pub struct VirtualDevice {
    target: TargetDescription,
    instructions: Vec<Instruction>,
    global: Global,
    loaded: HashMap<u64, Loaded>,
    codes: u64,
    last: Report,
}

/// Code that is ready to run.
struct Loaded {
    kernels: Vec<(Program, KernelMetadata)>,
    /// Buffers of the module's variables.
    variables: Vec<u64>,
}

/// Instructions that a launch executes at most.
const MOST_STEPS: u64 = 1 << 32;

impl VirtualDevice {
    /// The device of a product with its instructions.
    #[must_use]
    pub fn new(target: TargetDescription, instructions: Vec<Instruction>) -> Self {
        let (global, loaded, last) = (Global::default(), HashMap::new(), Report::default());
        Self { target, instructions, global, loaded, codes: 0, last }
    }

    /// What the last launch that came to its end did.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.last
    }

    /// Gives the variables of a module memory, with what they hold at first.
    fn variables(&mut self, module: &Module) -> Result<(Addresses, Vec<u64>), DeviceError> {
        let (mut addresses, mut buffers) = (Addresses::new(), Vec::new());
        let global = || module.variables.iter().filter(|variable| variable.space != "shared");
        for variable in global() {
            // What has no size is declared here and made elsewhere; whoever uses it is told.
            let Some(elements) = variable.elements else { continue };
            let bytes = elements.saturating_mul(variable.element_bytes);
            let buffer = self.allocate(bytes)?;
            buffers.push(buffer.0);
            addresses.insert(variable.name.clone(), Global::address(buffer.0));
        }
        for (variable, &buffer) in global().filter(|variable| variable.elements.is_some()).zip(&buffers) {
            let bytes = initial(variable, &addresses).map_err(unsupported)?;
            match self.global.buffer(buffer) {
                Some(memory) if bytes.len() <= memory.len() => memory[..bytes.len()].copy_from_slice(&bytes),
                _ => {
                    let message = format!("`{}` begins with more than it has", variable.name);
                    return Err(unsupported(PtxError::new(variable.line, message)));
                }
            }
        }
        Ok((addresses, buffers))
    }

    fn programs(
        &self,
        module: &Module,
        artifact: &Artifact,
        addresses: &Addresses,
    ) -> Result<Vec<(Program, KernelMetadata)>, DeviceError> {
        let mut programs = Vec::new();
        for metadata in &artifact.kernels {
            let kernel = module.kernels.iter().find(|kernel| kernel.name == metadata.name);
            let missing = || DeviceError::BadLaunch(format!("the PTX has no kernel `{}`", metadata.name));
            let kernel = kernel.ok_or_else(missing)?;
            let program = program(module, kernel, addresses, &self.instructions).map_err(unsupported)?;
            self.check(metadata, &program)?;
            programs.push((program, metadata.clone()));
        }
        Ok(programs)
    }

    /// Refuses kernels that the product cannot run, or this device.
    fn check(&self, kernel: &KernelMetadata, program: &Program) -> Result<(), DeviceError> {
        let wrong = |what: String| Err(DeviceError::Unsupported(format!("kernel `{}`: {what}", kernel.name)));
        let threads = u64::from(kernel.lanes) * u64::from(kernel.warps);
        let shared = kernel.shared_bytes.max(program.shared_bytes);
        if kernel.lanes as usize != LANES {
            return wrong(format!("warps of {} lanes; there are {LANES}", kernel.lanes));
        }
        if kernel.blocks > 1 {
            return wrong(format!("clusters of {} blocks; the virtual device has none", kernel.blocks));
        }
        if !kernel.maps.is_empty() {
            return wrong("maps of tensors; the virtual device has none".to_owned());
        }
        if threads == 0 || threads > u64::from(self.target.limits.lanes_per_block) {
            return wrong(format!(
                "blocks of {threads} lanes; there are at most {}",
                self.target.limits.lanes_per_block
            ));
        }
        if program.local_bytes > MOST_LOCAL {
            return wrong(format!("{} bytes of a lane's own memory; there are {MOST_LOCAL}", program.local_bytes));
        }
        match shared > u64::from(self.target.shared.bytes) {
            true => wrong(format!("{shared} bytes of shared memory; a block has {}", self.target.shared.bytes)),
            false => Ok(()),
        }
    }

    /// The bytes of the parameters.
    fn parameters(&mut self, program: &Program, arguments: &[LaunchArgument]) -> Result<Vec<u8>, DeviceError> {
        let (taken, given) = (program.parameters.len(), arguments.len());
        if taken != given {
            let message = format!("kernel `{}` takes {taken} arguments, {given} are given", program.name);
            return Err(DeviceError::BadLaunch(message));
        }
        let mut bytes = vec![0; program.parameter_bytes as usize];
        for (number, (parameter, argument)) in program.parameters.iter().zip(arguments).enumerate() {
            let (value, size) = match *argument {
                LaunchArgument::Buffer(buffer) => {
                    self.buffer(buffer, 0, 0)?;
                    (Global::address(buffer.0), 8)
                }
                LaunchArgument::Scalar { bits, width } => (bits, u64::from(width.div_ceil(8))),
            };
            if size != parameter.bytes || size > 8 {
                let message = format!("argument {number} has {size} bytes, the parameter {}", parameter.bytes);
                return Err(DeviceError::BadLaunch(message));
            }
            let at = parameter.offset as usize;
            bytes[at..at + size as usize].copy_from_slice(&value.to_le_bytes()[..size as usize]);
        }
        Ok(bytes)
    }

    /// So many bytes of a buffer from an offset on.
    fn buffer(&mut self, buffer: Buffer, offset: u64, bytes: u64) -> Result<&mut [u8], DeviceError> {
        let memory = self.global.buffer(buffer.0);
        let memory = memory.ok_or_else(|| DeviceError::BadBuffer(format!("there is no buffer {} here", buffer.0)))?;
        let size = memory.len() as u64;
        match offset.checked_add(bytes).filter(|&end| end <= size) {
            Some(end) => Ok(&mut memory[offset as usize..end as usize]),
            None => Err(DeviceError::BadBuffer(format!("{bytes} bytes from {offset} on of a buffer of {size}"))),
        }
    }
}

fn unsupported(error: PtxError) -> DeviceError {
    DeviceError::Unsupported(format!("the virtual device: PTX, {error}"))
}

/// The PTX of an artifact.
fn text(artifact: &Artifact) -> Result<&str, DeviceError> {
    let forms = [Emit::Assembly, Emit::Object];
    let payload = forms.iter().find_map(|&form| artifact.payload(form).filter(|payload| payload.format == "ptx"));
    let payload = payload.ok_or_else(|| {
        DeviceError::BadLaunch("the artifact has no PTX; the virtual device runs no cubin: ask for assembly".to_owned())
    })?;
    std::str::from_utf8(&payload.bytes).map_err(|_| DeviceError::BadLaunch("the PTX is no text".to_owned()))
}

/// What a variable holds at first, as far as its text says.
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
        format!("virtual PTX interpreter of {}, no hardware", self.target.product)
    }

    fn allocate(&mut self, bytes: u64) -> Result<Buffer, DeviceError> {
        let size = usize::try_from(bytes).ok().filter(|&size| size <= LARGEST_BUFFER);
        let number = size.and_then(|size| self.global.allocate(size));
        number.map(Buffer).ok_or(DeviceError::OutOfMemory(bytes))
    }

    fn free(&mut self, buffer: Buffer) {
        self.global.free(buffer.0);
    }

    fn write(&mut self, buffer: Buffer, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.buffer(buffer, offset, bytes.len() as u64)?.copy_from_slice(bytes);
        Ok(())
    }

    fn read(&mut self, buffer: Buffer, offset: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        self.buffer(buffer, offset, bytes).map(|bytes| bytes.to_vec())
    }

    fn load(&mut self, artifact: &Artifact) -> Result<LoadedCode, DeviceError> {
        let module = parse(text(artifact)?).map_err(unsupported)?;
        let (addresses, variables) = self.variables(&module)?;
        let kernels = self.programs(&module, artifact, &addresses).inspect_err(|_| {
            variables.iter().for_each(|&variable| self.global.free(variable));
        })?;
        self.codes += 1;
        self.loaded.insert(self.codes, Loaded { kernels, variables });
        Ok(LoadedCode(self.codes))
    }

    fn unload(&mut self, code: LoadedCode) {
        if let Some(loaded) = self.loaded.remove(&code.0) {
            loaded.variables.into_iter().for_each(|variable| self.global.free(variable));
        }
    }

    fn launch(&mut self, launch: &LaunchRequest) -> Result<Launched, DeviceError> {
        let bad = |message: String| DeviceError::BadLaunch(message);
        // Taken out, so that it is not borrowed while buffers change.
        let loaded = self.loaded.remove(&launch.code.0);
        let loaded = loaded.ok_or_else(|| bad(format!("no code {} is loaded here", launch.code.0)))?;
        let found = loaded.kernels.iter().find(|(program, _)| program.name == launch.kernel);
        let outcome = match found {
            Some((program, metadata)) => self.launch_program(program, metadata, launch),
            None => Err(bad(format!("the code has no kernel `{}`", launch.kernel))),
        };
        self.loaded.insert(launch.code.0, loaded);
        self.last = outcome?;
        Ok(Launched::default())
    }
}

/// Bytes of a lane's own memory: CUDA C++ Programming Guide, technical specifications.
const MOST_LOCAL: u64 = 512 << 10;

/// Buffers have addresses that are so far apart.
const LARGEST_BUFFER: usize = 1 << 35;

impl VirtualDevice {
    fn launch_program(
        &mut self,
        program: &Program,
        metadata: &KernelMetadata,
        launch: &LaunchRequest,
    ) -> Result<Report, DeviceError> {
        if launch.grid.contains(&0) {
            return Err(DeviceError::BadLaunch(format!("a grid of {:?} blocks", launch.grid)));
        }
        let parameters = self.parameters(program, &launch.arguments)?;
        let launch = Launch {
            target: &self.target,
            grid: launch.grid,
            threads: [metadata.lanes * metadata.warps, 1, 1],
            dynamic_bytes: metadata.shared_bytes.saturating_sub(program.shared_bytes),
            parameters: &parameters,
            most_steps: MOST_STEPS,
        };
        run(program, &launch, &mut self.global).map_err(|fault| DeviceError::Fault(fault.to_string()))
    }
}
