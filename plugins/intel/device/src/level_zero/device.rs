//! One Level Zero device: its memory, loaded code and launches.

#![allow(unsafe_code)]

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use tilewright_plugin::{
    Artifact, CodeFormat, Device, DeviceBufferId, DeviceError, DeviceObjectMap, LaunchArgument, LaunchRequest,
    LaunchStats, LoadedCodeId,
};

use super::found::Found;
use super::functions::{
    ContextDescription, EventDescription, EventPoolDescription, Functions, HOST_SCOPE, Head, KernelDescription,
    MemoryDescription, ModuleDescription, OUT_OF_DEVICE_MEMORY, Object, QueueDescription, SYNCHRONOUS, Times,
    UNSUPPORTED_SIZE, VISIBLE_WITH_TIMES, What, check, error_text,
};
use super::owned::{Context, Kind, Owned};
use crate::register_mode::{LARGE_BY_LEVEL_ZERO, needs_large_mode};

/// Alignment of device buffers in bytes, at least as large as the widest access of a lane.
const ALIGNMENT: usize = 128;

/// The bytes with which SPIR-V begins: its magic number, least significant byte first (SPIR-V specification, section
/// 2.3).
const MAGIC: [u8; 4] = 0x0723_0203u32.to_le_bytes();

/// A GPU that a Level Zero driver lists. Rust drops its fields in order, so the context is released last.
pub(super) struct LevelZeroDevice {
    given: DeviceObjectMap<Owned, Owned>,
    /// An immediate command list in synchronous mode: each call returns only after its command has completed.
    list: Owned,
    pool: Owned,
    context: Arc<Context>,
    about: Found,
}

// SAFETY: the properties of the device are numbers, which the driver reads in any thread (see `Context`).
unsafe impl Send for LevelZeroDevice {}

impl LevelZeroDevice {
    pub(super) fn open(functions: Arc<Functions>, about: Found) -> Result<Self, DeviceError> {
        let description = ContextDescription { head: Head::of(What::Context), flags: 0 };
        let mut object = null_mut();
        // SAFETY: a driver from the loader; writes one object.
        let code = unsafe { (functions.context_create)(about.driver, &raw const description, &raw mut object) };
        check("zeContextCreate", code)?;
        let context = Arc::new(Context { functions, object });
        let (list, pool) = (list(&context, about.device)?, pool(&context)?);
        Ok(Self { given: DeviceObjectMap::default(), list, pool, context, about })
    }

    fn functions(&self) -> &Functions {
        &self.context.functions
    }

    /// Copies bytes between host and device memory, and returns when they are copied.
    ///
    /// # Safety
    /// `bytes` bytes must be writable at `to` and readable at `from`.
    unsafe fn copy(&self, to: *mut c_void, from: *const c_void, bytes: usize) -> Result<(), DeviceError> {
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the caller's contract; no events.
        let code = unsafe { (self.functions().copy)(self.list.get(), to, from, bytes, null_mut(), 0, null_mut()) };
        check("zeCommandListAppendMemoryCopy", code)
    }

    /// Creates an event in the device's event pool, which has space for one event at a time.
    fn event(&self) -> Result<Owned, DeviceError> {
        let description =
            EventDescription { head: Head::of(What::Event), index: 0, signal: HOST_SCOPE, wait: HOST_SCOPE };
        let mut event = null_mut();
        // SAFETY: no event of the pool is alive: each launch creates one and releases it.
        let code = unsafe { (self.functions().event_create)(self.pool.get(), &raw const description, &raw mut event) };
        check("zeEventCreate", code)?;
        // SAFETY: just created.
        Ok(unsafe { Owned::of(event, Kind::Event, &self.context) })
    }

    fn kernel(&self, module: &Owned, name: &str) -> Result<Owned, DeviceError> {
        let bad = |what: String| DeviceError::BadLaunch(what);
        let name = CString::new(name).map_err(|error| bad(error.to_string()))?;
        let description = KernelDescription { head: Head::of(What::Kernel), flags: 0, name: name.as_ptr() };
        let mut kernel = null_mut();
        // SAFETY: the module is loaded, the name ends with a zero.
        let code = unsafe { (self.functions().kernel_create)(module.get(), &raw const description, &raw mut kernel) };
        check("zeKernelCreate", code).map_err(|error| bad(error.to_string()))?;
        // SAFETY: just created.
        Ok(unsafe { Owned::of(kernel, Kind::Kernel, &self.context) })
    }

    /// Sets the arguments of a kernel for its next launch.
    fn set_arguments(&self, kernel: &Owned, arguments: &[LaunchArgument]) -> Result<(), DeviceError> {
        for (index, argument) in (0..).zip(arguments) {
            let (value, bits) =
                argument.resolve_bits(|buffer| Ok(self.given.buffer_memory(buffer, 0, 0)?.get() as u64))?;
            let bytes = bits.div_ceil(8) as usize;
            // SAFETY: the driver reads `bytes` bytes of `value`, least significant first, and checks their number.
            let code =
                unsafe { (self.functions().kernel_argument)(kernel.get(), index, bytes, (&raw const value).cast()) };
            let set = check("zeKernelSetArgumentValue", code);
            set.map_err(|error| DeviceError::BadLaunch(format!("argument {index}: {error}")))?;
        }
        Ok(())
    }

    /// Returns the time in nanoseconds that the event's command took; `None` if the device does not measure times.
    fn nanoseconds(&self, event: &Owned) -> Option<u64> {
        let mut times = Times::default();
        // SAFETY: writes two times of two clocks.
        let code = unsafe { (self.functions().event_times)(event.get(), &raw mut times) };
        let most = u64::MAX.checked_shr(64 - self.about.tick_bits.min(64))?;
        let ticks = times.end.wrapping_sub(times.begin) & most;
        (code == 0).then(|| ticks.saturating_mul(self.about.tick))
    }
}

fn list(context: &Arc<Context>, device: Object) -> Result<Owned, DeviceError> {
    let head = Head::of(What::Queue);
    let queue = QueueDescription { head, ordinal: 0, index: 0, flags: 0, mode: SYNCHRONOUS, priority: 0 };
    let mut list = null_mut();
    // SAFETY: a device of the context's driver; writes one object.
    let code = unsafe { (context.functions.list_create)(context.object, device, &raw const queue, &raw mut list) };
    check("zeCommandListCreateImmediate", code)?;
    // SAFETY: just created.
    Ok(unsafe { Owned::of(list, Kind::List, context) })
}

fn pool(context: &Arc<Context>) -> Result<Owned, DeviceError> {
    let pool = EventPoolDescription { head: Head::of(What::EventPool), flags: VISIBLE_WITH_TIMES, count: 1 };
    let mut object = null_mut();
    // SAFETY: for all devices of the context's driver; writes one object.
    let code =
        unsafe { (context.functions.pool_create)(context.object, &raw const pool, 0, null_mut(), &raw mut object) };
    check("zeEventPoolCreate", code)?;
    // SAFETY: just created.
    Ok(unsafe { Owned::of(object, Kind::Pool, context) })
}

impl Device for LevelZeroDevice {
    fn name(&self) -> String {
        let Found { name, number, version, .. } = &self.about;
        format!("{name} (GPU {number:#06x}; Level Zero driver {version})")
    }

    fn allocate(&mut self, bytes: u64) -> Result<DeviceBufferId, DeviceError> {
        let size = usize::try_from(bytes.max(1)).map_err(|_| DeviceError::OutOfMemory(bytes))?;
        let description = MemoryDescription { head: Head::of(What::DeviceMemory), flags: 0, ordinal: 0 };
        let (context, device) = (self.context.object, self.about.device);
        let mut memory = null_mut();
        // SAFETY: writes one address.
        let code = unsafe {
            let create = self.functions().memory_create;
            create(context, &raw const description, size, ALIGNMENT, device, &raw mut memory)
        };
        if matches!(code, OUT_OF_DEVICE_MEMORY | UNSUPPORTED_SIZE) {
            return Err(DeviceError::OutOfMemory(bytes));
        }
        check("zeMemAllocDevice", code)?;
        // SAFETY: just created.
        let memory = unsafe { Owned::of(memory, Kind::Memory, &self.context) };
        let zero = 0u8;
        // SAFETY: the pattern is one byte, and the range is the memory; the command has ended when the call returns.
        let code = unsafe {
            let (list, pattern) = (self.list.get(), (&raw const zero).cast());
            (self.functions().fill)(list, memory.get(), pattern, 1, size, null_mut(), 0, null_mut())
        };
        check("zeCommandListAppendMemoryFill", code)?;
        Ok(self.given.insert_buffer(memory, bytes))
    }

    fn free(&mut self, buffer: DeviceBufferId) {
        self.given.remove_buffer(buffer);
    }

    fn write(&mut self, buffer: DeviceBufferId, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let memory = self.given.buffer_memory(buffer, offset, bytes.len() as u64)?.get();
        // SAFETY: the range is within the buffer.
        unsafe { self.copy(memory.byte_add(offset as usize), bytes.as_ptr().cast(), bytes.len()) }
    }

    fn read(&mut self, buffer: DeviceBufferId, offset: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        let memory = self.given.buffer_memory(buffer, offset, bytes)?.get();
        let mut read = vec![0u8; bytes as usize];
        // SAFETY: the range is within the buffer.
        unsafe { self.copy(read.as_mut_ptr().cast(), memory.byte_add(offset as usize), read.len())? };
        Ok(read)
    }

    fn load(&mut self, artifact: &Artifact) -> Result<LoadedCodeId, DeviceError> {
        let object = artifact.payload(CodeFormat::Object).filter(|object| object.format == "spv");
        let object = object.ok_or_else(|| DeviceError::BadLaunch("the artifact has no SPIR-V object".to_owned()))?;
        if !object.bytes.starts_with(&MAGIC) {
            // Drivers crash on code that is not SPIR-V.
            return Err(DeviceError::BadLaunch("the object is not SPIR-V".to_owned()));
        }
        artifact.kernels.iter().try_for_each(|kernel| self.about.limits.check(kernel))?;
        let (bytes, code) = (object.bytes.len(), object.bytes.as_ptr());
        let head = Head::of(What::Module);
        let options = if needs_large_mode(&artifact.kernels) { LARGE_BY_LEVEL_ZERO.as_ptr() } else { null() };
        let description = ModuleDescription { head, format: 0, bytes, code, options, constants: null() };
        let (mut module, mut log) = (null_mut(), null_mut());
        // SAFETY: the code has this many bytes; writes two objects, of these the log even if there is no module.
        let code = unsafe {
            let create = self.functions().module_create;
            create(self.context.object, self.about.device, &raw const description, &raw mut module, &raw mut log)
        };
        let build_log = log_text(self.functions(), log);
        if code != 0 {
            return Err(DeviceError::Driver(format!("{}: {build_log}", error_text("zeModuleCreate", code))));
        }
        // SAFETY: just created.
        let module = unsafe { Owned::of(module, Kind::Module, &self.context) };
        Ok(self.given.insert_code(module, artifact))
    }

    fn unload(&mut self, code: LoadedCodeId) {
        self.given.remove_code(code);
    }

    fn launch(&mut self, launch: &LaunchRequest) -> Result<LaunchStats, DeviceError> {
        let (module, known) = self.given.resolve_launch(launch)?;
        let kernel = self.kernel(module, &launch.kernel)?;
        let functions = self.functions();
        // SAFETY: takes numbers.
        let code = unsafe { (functions.kernel_block)(kernel.get(), known.lanes * known.warps, 1, 1) };
        check("zeKernelSetGroupSize", code).map_err(|error| DeviceError::BadLaunch(error.to_string()))?;
        self.set_arguments(&kernel, &launch.arguments)?;
        let event = self.event()?;
        // SAFETY: all arguments are set, or the driver reports the missing one; the command has ended when the call
        // returns.
        let code = unsafe {
            let (list, grid) = (self.list.get(), &raw const launch.grid);
            (functions.launch)(list, kernel.get(), grid, event.get(), 0, null_mut())
        };
        check("zeCommandListAppendLaunchKernel", code).map_err(|error| DeviceError::Fault(error.to_string()))?;
        Ok(LaunchStats { nanoseconds: self.nanoseconds(&event), ..LaunchStats::default() })
    }
}

/// Returns the text of a build log and releases the log; empty if `log` is null.
fn log_text(functions: &Functions, log: Object) -> String {
    if log.is_null() {
        return String::new();
    }
    let mut bytes = 0;
    let mut text = Vec::new();
    // SAFETY: gets the length of the text, then the text; then the log is released.
    unsafe {
        if (functions.log_text)(log, &raw mut bytes, null_mut()) == 0 {
            text = vec![0u8; bytes];
            let _ = (functions.log_text)(log, &raw mut bytes, text.as_mut_ptr().cast());
        }
        let _ = (functions.log_destroy)(log);
    }
    String::from_utf8_lossy(&text).trim_end_matches('\0').trim().to_owned()
}
