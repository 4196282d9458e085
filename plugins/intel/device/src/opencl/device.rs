//! One OpenCL device: its memory, loaded programs and launches.

#![allow(unsafe_code)]

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use cl3::command_queue::{
    enqueue_fill_buffer, enqueue_nd_range_kernel, enqueue_read_buffer, enqueue_write_buffer, finish,
};
use cl3::error_codes::{CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES};
use cl3::event::{
    CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_START, get_event_profiling_data, release_event, wait_for_events,
};
use cl3::kernel::set_kernel_arg;
use cl3::memory::{CL_MEM_READ_WRITE, create_buffer, release_mem_object};
use tilewright_plugin::{
    Artifact, CodeFormat, Device, DeviceBufferId, DeviceError, DeviceObjectMap, KernelMetadata, LaunchArgument,
    LaunchRequest, LaunchStats, LoadedCodeId,
};

use super::found::Found;
use super::handle::{Handle, failed};
use super::program;
use crate::register_mode::needs_large_mode;

/// The error code of OpenCL for an invalid buffer size.
const INVALID_BUFFER_SIZE: i32 = cl3::error_codes::CL_INVALID_BUFFER_SIZE;

/// A GPU or CPU that an OpenCL driver lists. Rust drops its fields in order, so the context is released last.
pub(super) struct OpenClDevice {
    given: DeviceObjectMap<Handle, Handle>,
    /// Compiled programs that define builtins for MMA and 2-D block loads, by the set of builtins in each.
    builtins: HashMap<BTreeSet<String>, Handle>,
    queue: Handle,
    context: Handle,
    about: Arc<Found>,
}

impl OpenClDevice {
    pub(super) fn open(about: Arc<Found>) -> Result<Self, DeviceError> {
        let (context, queue) = program::context_and_queue(about.id as *mut c_void)?;
        Ok(Self { given: DeviceObjectMap::default(), builtins: HashMap::new(), queue, context, about })
    }

    fn id(&self) -> *mut c_void {
        self.about.id as *mut c_void
    }

    /// Builds SPIR-V to a program for the device. If the device lacks the builtins for MMA and 2-D block loads, their
    /// implementations are linked in. The kernels' register counts select the register mode.
    fn finished(&mut self, spirv: &[u8], kernels: &[KernelMetadata]) -> Result<Handle, DeviceError> {
        let (context, device) = (self.context.get(), self.id());
        let wants = program::wants(spirv)?;
        let is_large = !self.about.is_processor && needs_large_mode(kernels);
        let options = wants.options(self.about.rounds_correctly, is_large);
        let imports = wants.imports;
        if imports.is_empty() || !self.about.is_processor {
            return program::built(context, device, spirv, &options);
        }
        let functions: BTreeSet<_> =
            imports.iter().filter_map(|name| program::function(name)).map(str::to_owned).collect();
        let builtins = match self.builtins.entry(functions) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let builtins = program::compile_builtins(context, device, new.key())?;
                new.insert(builtins)
            }
        };
        program::link(context, device, spirv, &options, builtins).map_err(|error| match error {
            DeviceError::Driver(message) => {
                DeviceError::Driver(format!("{message}; the module imports {}", imports.join(", ")))
            }
            other => other,
        })
    }

    /// Sets the arguments of a kernel for its next launch.
    fn set_arguments(&self, kernel: &Handle, arguments: &[LaunchArgument]) -> Result<(), DeviceError> {
        for (index, argument) in (0..).zip(arguments) {
            let (value, bits) =
                argument.resolve_bits(|buffer| Ok(self.given.buffer_memory(buffer, 0, 0)?.get() as u64))?;
            let bytes = bits.div_ceil(8) as usize;
            // SAFETY: the driver reads `bytes` bytes of `value`, least significant first, and checks their number.
            unsafe { set_kernel_arg(kernel.get(), index, bytes, (&raw const value).cast()) }.map_err(|code| {
                DeviceError::BadLaunch(format!("argument {index}: {}", failed("clSetKernelArg")(code)))
            })?;
        }
        Ok(())
    }

    /// Waits for all commands in the queue, then releases `event`.
    fn waited(&self, event: *mut c_void) -> Result<(), DeviceError> {
        // SAFETY: an event from the driver.
        let _event = unsafe { Handle::own(event, release_event) };
        finish(self.queue.get()).map_err(failed("clFinish"))
    }
}

impl Device for OpenClDevice {
    fn name(&self) -> String {
        let Found { name, driver, is_processor, .. } = &*self.about;
        let what = if *is_processor { "processor, MMA and 2-D block loads emulated" } else { "GPU" };
        format!("{name} ({what}; OpenCL driver {driver})")
    }

    fn allocate(&mut self, bytes: u64) -> Result<DeviceBufferId, DeviceError> {
        let too_much = |_| DeviceError::OutOfMemory(bytes);
        // OpenCL has no buffers of zero bytes.
        let size = usize::try_from(bytes.max(1)).map_err(too_much)?;
        // SAFETY: no host memory is passed.
        let memory = unsafe { create_buffer(self.context.get(), CL_MEM_READ_WRITE, size, null_mut()) };
        let memory = memory.map_err(|code| match code {
            CL_MEM_OBJECT_ALLOCATION_FAILURE | CL_OUT_OF_HOST_MEMORY | CL_OUT_OF_RESOURCES | INVALID_BUFFER_SIZE => {
                DeviceError::OutOfMemory(bytes)
            }
            code => failed("clCreateBuffer")(code),
        })?;
        // SAFETY: just created.
        let memory = unsafe { Handle::own(memory, release_mem_object) };
        let zero = 0u8;
        // SAFETY: the pattern is one byte, copied before the call returns; the range is the buffer.
        let event = unsafe {
            enqueue_fill_buffer(self.queue.get(), memory.get(), (&raw const zero).cast(), 1, 0, size, 0, null())
        };
        self.waited(event.map_err(failed("clEnqueueFillBuffer"))?)?;
        Ok(self.given.insert_buffer(memory, bytes))
    }

    fn free(&mut self, buffer: DeviceBufferId) {
        self.given.remove_buffer(buffer);
    }

    fn write(&mut self, buffer: DeviceBufferId, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let memory = self.given.buffer_memory(buffer, offset, bytes.len() as u64)?.get();
        if bytes.is_empty() {
            return Ok(());
        }
        let (data, size) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: the range is within the buffer, and the call waits until `bytes` are read.
        let event =
            unsafe { enqueue_write_buffer(self.queue.get(), memory, 1, offset as usize, size, data, 0, null()) };
        self.waited(event.map_err(failed("clEnqueueWriteBuffer"))?)
    }

    fn read(&mut self, buffer: DeviceBufferId, offset: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        let memory = self.given.buffer_memory(buffer, offset, bytes)?.get();
        let mut read = vec![0u8; bytes as usize];
        if read.is_empty() {
            return Ok(read);
        }
        let (data, size) = (read.as_mut_ptr().cast(), read.len());
        // SAFETY: the range is within the buffer, and the call waits until `read` is written.
        let event = unsafe { enqueue_read_buffer(self.queue.get(), memory, 1, offset as usize, size, data, 0, null()) };
        self.waited(event.map_err(failed("clEnqueueReadBuffer"))?)?;
        Ok(read)
    }

    fn load(&mut self, artifact: &Artifact) -> Result<LoadedCodeId, DeviceError> {
        let object = artifact.payload(CodeFormat::Object).filter(|object| object.format == "spv");
        let object = object.ok_or_else(|| DeviceError::BadLaunch("the artifact has no SPIR-V object".to_owned()))?;
        artifact.kernels.iter().try_for_each(|kernel| self.about.limits.check(kernel))?;
        let handle = self.finished(&object.bytes, &artifact.kernels)?;
        Ok(self.given.insert_code(handle, artifact))
    }

    fn unload(&mut self, code: LoadedCodeId) {
        self.given.remove_code(code);
    }

    fn launch(&mut self, launch: &LaunchRequest) -> Result<LaunchStats, DeviceError> {
        let bad = |message: String| DeviceError::BadLaunch(message);
        let (program, found) = self.given.resolve_launch(launch)?;
        let kernel = program::kernel(program, &launch.kernel)?;
        self.set_arguments(&kernel, &launch.arguments)?;
        let block = [found.lanes as usize * found.warps as usize, 1, 1];
        let grid = [0, 1, 2].map(|axis| launch.grid[axis] as usize * block[axis]);
        // SAFETY: all arguments are set, or the driver reports the missing one; they live until the event completes.
        let event = unsafe {
            let (grid, block) = (grid.as_ptr(), block.as_ptr());
            enqueue_nd_range_kernel(self.queue.get(), kernel.get(), 3, null(), grid, block, 0, null())
        };
        let event = event.map_err(|code| bad(failed("clEnqueueNDRangeKernel")(code).to_string()))?;
        // SAFETY: an event from the driver.
        let event = unsafe { Handle::own(event, release_event) };
        wait_for_events(&[event.get()])
            .map_err(|code| DeviceError::Fault(failed("clWaitForEvents")(code).to_string()))?;
        Ok(LaunchStats { nanoseconds: nanoseconds(&event), ..LaunchStats::default() })
    }
}

/// Returns the time in nanoseconds that the event's command took; `None` if the driver does not measure times.
fn nanoseconds(event: &Handle) -> Option<u64> {
    let at = |what| get_event_profiling_data(event.get(), what).ok()?.try_into().ok().map(u64::from_le_bytes);
    at(CL_PROFILING_COMMAND_END)?.checked_sub(at(CL_PROFILING_COMMAND_START)?)
}
