//! One HIP device: its memory, loaded code and launches.

#![allow(unsafe_code)]

use std::ffi::{CString, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

use tilewright_plugin::{
    Artifact, CodeFormat, Device, DeviceBufferId, DeviceError, DeviceObjectMap, LaunchArgument, LaunchRequest,
    LaunchStats, LoadedCodeId,
};

use super::functions::{Functions, NO_BINARY, OUT_OF_MEMORY, Object, TO_DEVICE, TO_HOST};

/// A GPU that the HIP runtime lists.
pub(super) struct HipDevice {
    given: DeviceObjectMap<Owned, Owned>,
    functions: Arc<Functions>,
    ordinal: c_int,
    name: String,
}

/// Selects, from the loaded library's functions, the one that releases an object of a certain kind, such as `hipFree`.
type Release = fn(&Functions) -> unsafe extern "C" fn(Object) -> c_int;

/// A runtime object (module, event or buffer) that is released when dropped.
struct Owned {
    object: Object,
    functions: Arc<Functions>,
    release: Release,
}

// SAFETY: HIP programming guide, "Multi-threading": objects may be used from any thread.
unsafe impl Send for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the object is alive, and nothing else releases it. A failure cannot be reported.
        let _ = unsafe { (self.release)(&self.functions)(self.object) };
    }
}

impl HipDevice {
    pub(super) fn open(functions: Arc<Functions>, ordinal: c_int, name: String) -> Result<Self, DeviceError> {
        let device = Self { given: DeviceObjectMap::default(), functions, ordinal, name };
        device.enter()?;
        Ok(device)
    }

    /// Makes this device the current one of the calling thread.
    fn enter(&self) -> Result<(), DeviceError> {
        // SAFETY: takes an integer.
        let code = unsafe { (self.functions.set_device)(self.ordinal) };
        self.functions.check("hipSetDevice", code)
    }

    /// Wraps an object of the runtime so that the function selected by `release` releases it when dropped.
    fn own(&self, object: Object, release: Release) -> Owned {
        Owned { object, functions: Arc::clone(&self.functions), release }
    }

    fn event(&self) -> Result<Owned, DeviceError> {
        let mut event = null_mut();
        // SAFETY: writes one object.
        let code = unsafe { (self.functions.event_create)(&raw mut event) };
        self.functions.check("hipEventCreate", code)?;
        Ok(self.own(event, |functions| functions.event_destroy))
    }

    /// Returns the values of a launch's arguments, zero-extended to 64 bits; a buffer's value is its address.
    fn values(&self, arguments: &[LaunchArgument]) -> Result<Vec<u64>, DeviceError> {
        let address = |buffer| Ok(self.given.buffer_memory(buffer, 0, 0)?.object as u64);
        arguments.iter().map(|argument| Ok(argument.resolve_bits(address)?.0)).collect()
    }
}

impl Device for HipDevice {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn allocate(&mut self, bytes: u64) -> Result<DeviceBufferId, DeviceError> {
        self.enter()?;
        // The runtime returns no address for an empty allocation.
        let size = usize::try_from(bytes.max(1)).map_err(|_| DeviceError::OutOfMemory(bytes))?;
        let mut memory = null_mut();
        // SAFETY: writes one address.
        let code = unsafe { (self.functions.allocate)(&raw mut memory, size) };
        if code == OUT_OF_MEMORY {
            return Err(DeviceError::OutOfMemory(bytes));
        }
        self.functions.check("hipMalloc", code)?;
        let memory = self.own(memory, |functions| functions.free);
        // SAFETY: this many bytes were just allocated.
        let code = unsafe { (self.functions.fill)(memory.object, 0, size) };
        self.functions.check("hipMemset", code)?;
        Ok(self.given.insert_buffer(memory, bytes))
    }

    fn free(&mut self, buffer: DeviceBufferId) {
        self.given.remove_buffer(buffer);
    }

    fn write(&mut self, buffer: DeviceBufferId, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.enter()?;
        let memory = self.given.buffer_memory(buffer, offset, bytes.len() as u64)?.object;
        // SAFETY: the range is in the buffer; the call waits until `bytes` are read.
        let code = unsafe {
            let to = memory.byte_add(offset as usize);
            (self.functions.copy)(to, bytes.as_ptr().cast(), bytes.len(), TO_DEVICE)
        };
        self.functions.check("hipMemcpy", code)
    }

    fn read(&mut self, buffer: DeviceBufferId, offset: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        self.enter()?;
        let memory = self.given.buffer_memory(buffer, offset, bytes)?.object;
        let mut read = vec![0u8; bytes as usize];
        // SAFETY: the range is in the buffer; the call waits until `read` is written.
        let code = unsafe {
            let from = memory.byte_add(offset as usize);
            (self.functions.copy)(read.as_mut_ptr().cast(), from, read.len(), TO_HOST)
        };
        self.functions.check("hipMemcpy", code)?;
        Ok(read)
    }

    fn load(&mut self, artifact: &Artifact) -> Result<LoadedCodeId, DeviceError> {
        self.enter()?;
        let object = artifact.payload(CodeFormat::Object).filter(|object| object.format == "hsaco");
        let object = object.ok_or_else(|| DeviceError::BadLaunch("the artifact has no code object".to_owned()))?;
        let mut module = null_mut();
        // SAFETY: the runtime reads a code object, whose headers give its length, and copies it.
        let code = unsafe { (self.functions.load)(&raw mut module, object.bytes.as_ptr().cast()) };
        if code == NO_BINARY {
            return Err(DeviceError::BadLaunch(format!("the code is for another GPU than {}", self.name)));
        }
        self.functions.check("hipModuleLoadData", code)?;
        let module = self.own(module, |functions| functions.unload);
        Ok(self.given.insert_code(module, artifact))
    }

    fn unload(&mut self, code: LoadedCodeId) {
        self.given.remove_code(code);
    }

    fn launch(&mut self, launch: &LaunchRequest) -> Result<LaunchStats, DeviceError> {
        self.enter()?;
        let (module, kernel) = self.given.resolve_launch(launch)?;
        let bad = |message: String| DeviceError::BadLaunch(message);
        let name = CString::new(launch.kernel.as_str()).map_err(|error| bad(error.to_string()))?;
        let mut function = null_mut();
        // SAFETY: writes one object; the module is loaded, the name ends with a zero.
        let code = unsafe { (self.functions.function)(&raw mut function, module.object, name.as_ptr()) };
        self.functions.check("hipModuleGetFunction", code)?;
        let mut values = self.values(&launch.arguments)?;
        let mut arguments: Vec<*mut c_void> = values.iter_mut().map(|value| (&raw mut *value).cast()).collect();
        let (start, end) = (self.event()?, self.event()?);
        let ([x, y, z], lanes) = (launch.grid, kernel.lanes * kernel.warps);
        let shared: c_uint = 0; // No kernel uses dynamic shared memory.
        // SAFETY: the arguments match the kernel's parameters, as `resolve_launch` has checked; the events were just
        // created.
        let codes = unsafe {
            let before = (self.functions.event_record)(start.object, null_mut());
            let launched = (self.functions.launch)(
                function,
                x,
                y,
                z,
                lanes,
                1,
                1,
                shared,
                null_mut(),
                arguments.as_mut_ptr(),
                null_mut(),
            );
            [
                ("hipEventRecord", before),
                ("hipModuleLaunchKernel", launched),
                ("hipEventRecord", (self.functions.event_record)(end.object, null_mut())),
            ]
        };
        for (call, code) in codes {
            self.functions.check(call, code).map_err(|error| bad(error.to_string()))?;
        }
        // SAFETY: as before.
        let code = unsafe { (self.functions.synchronize)() };
        self.functions.check("hipDeviceSynchronize", code).map_err(|error| DeviceError::Fault(error.to_string()))?;
        let mut milliseconds = 0.0;
        // SAFETY: both events have completed; writes one number.
        let code = unsafe { (self.functions.elapsed)(&raw mut milliseconds, start.object, end.object) };
        let nanoseconds = (code == 0).then(|| (f64::from(milliseconds) * 1e6) as u64);
        Ok(LaunchStats { nanoseconds, ..LaunchStats::default() })
    }
}
