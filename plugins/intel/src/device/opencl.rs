//! One OpenCL device: its memory, its programs, its launches.

#![allow(unsafe_code)]

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use cl3::command_queue::{
    enqueue_fill_buffer, enqueue_nd_range_kernel, enqueue_read_buffer, enqueue_write_buffer, finish,
};
use cl3::device::{
    CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_SINGLE_FP_CONFIG,
    CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, get_device_data,
};
use cl3::error_codes::{CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES};
use cl3::event::{
    CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_START, get_event_profiling_data, release_event, wait_for_events,
};
use cl3::kernel::set_kernel_arg;
use cl3::memory::{CL_MEM_READ_WRITE, create_buffer, release_mem_object};
use tilewright::vendor::{
    Artifact, Buffer, Device, DeviceError, Emit, KernelMetadata, LaunchArgument, LaunchRequest, Launched, LoadedCode,
};

use super::handle::{Handle, failed};
use super::program;
use super::runtime::Found;

/// What a driver gives for an invalid size of a buffer.
const INVALID_BUFFER_SIZE: i32 = cl3::error_codes::CL_INVALID_BUFFER_SIZE;

/// The sizes of sub-groups (extension cl_intel_required_subgroup_size: CL_DEVICE_SUB_GROUP_SIZES_INTEL).
const SUB_GROUP_SIZES: u32 = 0x4108;

/// A device of a driver. Objects are released in the order of the fields.
pub(super) struct OpenClDevice {
    buffers: HashMap<u64, (Handle, u64)>,
    programs: HashMap<u64, Program>,
    /// Products of matrices and loads of blocks, by the functions that they are.
    products: HashMap<BTreeSet<String>, Handle>,
    queue: Handle,
    context: Handle,
    about: Arc<Found>,
    next: u64,
}

/// Loaded code.
struct Program {
    handle: Handle,
    kernels: Vec<KernelMetadata>,
}

impl OpenClDevice {
    pub(super) fn open(about: Arc<Found>) -> Result<Self, DeviceError> {
        let (context, queue) = program::context_and_queue(about.id as *mut c_void)?;
        let (buffers, programs, products) = (HashMap::new(), HashMap::new(), HashMap::new());
        Ok(Self { buffers, programs, products, queue, context, about, next: 1 })
    }

    fn id(&self) -> *mut c_void {
        self.about.id as *mut c_void
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// The buffer, where so many bytes from `offset` on are in it.
    fn buffer(&self, buffer: Buffer, offset: u64, bytes: u64) -> Result<*mut c_void, DeviceError> {
        let (handle, size) = self
            .buffers
            .get(&buffer.0)
            .ok_or_else(|| DeviceError::BadBuffer(format!("there is no buffer {} here", buffer.0)))?;
        match offset.checked_add(bytes).is_some_and(|end| end <= *size) {
            true => Ok(handle.get()),
            false => Err(DeviceError::BadBuffer(format!("{bytes} bytes from {offset} on of a buffer of {size}"))),
        }
    }

    /// Numbers that the driver gives of the device, as wide as addresses.
    fn sizes(&self, what: u32) -> Result<Vec<u64>, DeviceError> {
        let bytes = get_device_data(self.id(), what).map_err(failed("clGetDeviceInfo"))?;
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
        Ok(bytes.chunks(8).map(number).collect())
    }

    /// Refuses kernels that the device cannot run.
    fn check(&self, kernel: &KernelMetadata) -> Result<(), DeviceError> {
        let wrong = |what: String| Err(DeviceError::Unsupported(format!("kernel `{}`: {what}", kernel.name)));
        let lanes = self.sizes(SUB_GROUP_SIZES)?;
        if !lanes.contains(&u64::from(kernel.lanes)) {
            return wrong(format!("sub-groups of {} lanes; the device has {lanes:?}", kernel.lanes));
        }
        let block = u64::from(kernel.lanes) * u64::from(kernel.warps);
        let most = self.sizes(CL_DEVICE_MAX_WORK_GROUP_SIZE)?.first().copied().unwrap_or(0);
        if block > most {
            return wrong(format!("blocks of {block} lanes; the device has at most {most}"));
        }
        let shared = self.sizes(CL_DEVICE_LOCAL_MEM_SIZE)?.first().copied().unwrap_or(0);
        match kernel.shared_bytes > shared {
            true => wrong(format!("{} bytes of shared memory; the device has {shared}", kernel.shared_bytes)),
            false => Ok(()),
        }
    }

    /// Whether quotients and square roots of binary32 are correctly rounded where that is asked for.
    fn rounds_correctly(&self) -> Result<bool, DeviceError> {
        let can = self.sizes(CL_DEVICE_SINGLE_FP_CONFIG)?;
        Ok(can.first().is_some_and(|bits| bits & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0))
    }

    /// Finishes SPIR-V, with the products of matrices and loads of blocks where the device lacks them.
    fn finished(&mut self, spirv: &[u8]) -> Result<Handle, DeviceError> {
        let (context, device) = (self.context.get(), self.id());
        let wants = program::wants(spirv)?;
        let options = wants.options(self.rounds_correctly()?);
        let imports = wants.imports;
        if imports.is_empty() || !self.about.is_processor {
            return program::built(context, device, spirv, options);
        }
        let functions: BTreeSet<_> =
            imports.iter().filter_map(|name| program::function(name)).map(str::to_owned).collect();
        let products = match self.products.entry(functions) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let products = program::products(context, device, new.key())?;
                new.insert(products)
            }
        };
        program::linked(context, device, spirv, options, products).map_err(|error| match error {
            DeviceError::Driver(message) => {
                DeviceError::Driver(format!("{message}; the module imports {}", imports.join(", ")))
            }
            other => other,
        })
    }

    /// Sets what a kernel is called with.
    fn set_arguments(&self, kernel: &Handle, arguments: &[LaunchArgument]) -> Result<(), DeviceError> {
        for (index, argument) in (0..).zip(arguments) {
            let (value, bytes) = match *argument {
                LaunchArgument::Buffer(buffer) => (self.buffer(buffer, 0, 0)? as u64, size_of::<usize>()),
                LaunchArgument::Scalar { bits, width } => (bits, width.div_ceil(8) as usize),
            };
            if bytes > size_of_val(&value) {
                return Err(DeviceError::BadLaunch(format!("argument {index} has {bytes} bytes")));
            }
            // SAFETY: the driver reads `bytes` bytes of `value`, least significant first, and checks their number.
            unsafe { set_kernel_arg(kernel.get(), index, bytes, (&raw const value).cast()) }.map_err(|code| {
                DeviceError::BadLaunch(format!("argument {index}: {}", failed("clSetKernelArg")(code)))
            })?;
        }
        Ok(())
    }

    /// Waits for everything, and releases the event of the last command.
    fn waited(&self, event: *mut c_void) -> Result<(), DeviceError> {
        // SAFETY: an event that was just given.
        let _event = unsafe { Handle::own(event, release_event) };
        finish(self.queue.get()).map_err(failed("clFinish"))
    }
}

impl Device for OpenClDevice {
    fn name(&self) -> String {
        let Found { name, driver, is_processor, .. } = &*self.about;
        let what = if *is_processor { "processor, products of matrices and loads of blocks emulated" } else { "GPU" };
        format!("{name} ({what}; OpenCL driver {driver})")
    }

    fn allocate(&mut self, bytes: u64) -> Result<Buffer, DeviceError> {
        let too_much = |_| DeviceError::OutOfMemory(bytes);
        // Buffers of no bytes there are none.
        let size = usize::try_from(bytes.max(1)).map_err(too_much)?;
        // SAFETY: no host memory is given.
        let memory = unsafe { create_buffer(self.context.get(), CL_MEM_READ_WRITE, size, null_mut()) };
        let memory = memory.map_err(|code| match code {
            CL_MEM_OBJECT_ALLOCATION_FAILURE | CL_OUT_OF_HOST_MEMORY | CL_OUT_OF_RESOURCES | INVALID_BUFFER_SIZE => {
                DeviceError::OutOfMemory(bytes)
            }
            code => failed("clCreateBuffer")(code),
        })?;
        // SAFETY: just made.
        let memory = unsafe { Handle::own(memory, release_mem_object) };
        let zero = 0u8;
        // SAFETY: the pattern is one byte, copied before the call returns; the range is the buffer.
        let event = unsafe {
            enqueue_fill_buffer(self.queue.get(), memory.get(), (&raw const zero).cast(), 1, 0, size, 0, null())
        };
        self.waited(event.map_err(failed("clEnqueueFillBuffer"))?)?;
        let number = self.number();
        self.buffers.insert(number, (memory, bytes));
        Ok(Buffer(number))
    }

    fn free(&mut self, buffer: Buffer) {
        self.buffers.remove(&buffer.0);
    }

    fn write(&mut self, buffer: Buffer, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let memory = self.buffer(buffer, offset, bytes.len() as u64)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let (data, size) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: the range is in the buffer, and the call waits until `bytes` are read.
        let event =
            unsafe { enqueue_write_buffer(self.queue.get(), memory, 1, offset as usize, size, data, 0, null()) };
        self.waited(event.map_err(failed("clEnqueueWriteBuffer"))?)
    }

    fn read(&mut self, buffer: Buffer, offset: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        let memory = self.buffer(buffer, offset, bytes)?;
        let mut read = vec![0u8; bytes as usize];
        if read.is_empty() {
            return Ok(read);
        }
        let (data, size) = (read.as_mut_ptr().cast(), read.len());
        // SAFETY: the range is in the buffer, and the call waits until `read` is written.
        let event = unsafe { enqueue_read_buffer(self.queue.get(), memory, 1, offset as usize, size, data, 0, null()) };
        self.waited(event.map_err(failed("clEnqueueReadBuffer"))?)?;
        Ok(read)
    }

    fn load(&mut self, artifact: &Artifact) -> Result<LoadedCode, DeviceError> {
        let object = artifact.payload(Emit::Object).filter(|object| object.format == "spv");
        let object = object.ok_or_else(|| DeviceError::BadLaunch("the artifact has no SPIR-V object".to_owned()))?;
        artifact.kernels.iter().try_for_each(|kernel| self.check(kernel))?;
        let handle = self.finished(&object.bytes)?;
        let number = self.number();
        self.programs.insert(number, Program { handle, kernels: artifact.kernels.clone() });
        Ok(LoadedCode(number))
    }

    fn unload(&mut self, code: LoadedCode) {
        self.programs.remove(&code.0);
    }

    fn launch(&mut self, launch: &LaunchRequest) -> Result<Launched, DeviceError> {
        let bad = |message: String| DeviceError::BadLaunch(message);
        let program = self.programs.get(&launch.code.0);
        let program = program.ok_or_else(|| bad(format!("no code {} is loaded here", launch.code.0)))?;
        let found = program.kernels.iter().find(|kernel| kernel.name == launch.kernel);
        let found = found.ok_or_else(|| bad(format!("the code has no kernel `{}`", launch.kernel)))?;
        if launch.grid.contains(&0) {
            return Err(bad(format!("a grid of {:?} blocks", launch.grid)));
        }
        let kernel = program::kernel(&program.handle, &launch.kernel)?;
        self.set_arguments(&kernel, &launch.arguments)?;
        let block = [found.lanes as usize * found.warps as usize, 1, 1];
        let grid = [0, 1, 2].map(|axis| launch.grid[axis] as usize * block[axis]);
        // SAFETY: all arguments are set, or the driver says which is not; they live until the event has come.
        let event = unsafe {
            let (grid, block) = (grid.as_ptr(), block.as_ptr());
            enqueue_nd_range_kernel(self.queue.get(), kernel.get(), 3, null(), grid, block, 0, null())
        };
        let event = event.map_err(|code| bad(failed("clEnqueueNDRangeKernel")(code).to_string()))?;
        // SAFETY: an event that was just given.
        let event = unsafe { Handle::own(event, release_event) };
        wait_for_events(&[event.get()])
            .map_err(|code| DeviceError::Fault(failed("clWaitForEvents")(code).to_string()))?;
        Ok(Launched { nanoseconds: nanoseconds(&event) })
    }
}

/// How long the command of an event took, where the driver says.
fn nanoseconds(event: &Handle) -> Option<u64> {
    let at = |what| get_event_profiling_data(event.get(), what).ok()?.try_into().ok().map(u64::from_le_bytes);
    at(CL_PROFILING_COMMAND_END)?.checked_sub(at(CL_PROFILING_COMMAND_START)?)
}
