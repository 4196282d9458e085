//! One CUDA GPU: its memory, loaded code and launches.

#![allow(unsafe_code)]

use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::{result, sys};
use tilewright_plugin::{
    Artifact, CodeFormat, Device, DeviceBufferId, DeviceError, DeviceObjectMap, KernelMetadata, LaunchArgument,
    LaunchRequest, LaunchStats, LoadedCodeId,
};
use tilewright_target::TargetDescription;

use super::driver_error::failed;
use super::maps;
use super::owned::{Context, Event, Memory, Module};

/// A GPU that the CUDA driver lists.
pub(super) struct CudaDevice {
    given: DeviceObjectMap<Memory, Module>,
    context: Arc<Context>,
    name: String,
    /// Driver version as `cuDriverGetVersion` returns it: 1000 for each major, 10 for each minor version.
    version: i32,
    /// Maximum bytes of static shared memory of a kernel. A kernel that needs more uses dynamic shared memory, whose
    /// size the launch must pass.
    static_bytes: u64,
}

/// A kernel argument in the form that the driver reads.
enum KernelArgument {
    /// The bits of a scalar or an address, zero-extended to 64 bits; the driver reads the parameter's first bytes.
    Value(u64),
    Map(sys::CUtensorMap),
}

impl KernelArgument {
    fn pointer(&mut self) -> *mut c_void {
        match self {
            Self::Value(value) => (&raw mut *value).cast(),
            Self::Map(map) => (&raw mut *map).cast(),
        }
    }
}

impl CudaDevice {
    pub(super) fn open(device: sys::CUdevice, name: &str, target: &TargetDescription) -> Result<Self, DeviceError> {
        let mut version = 0;
        // SAFETY: the call writes one integer.
        unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().map_err(failed("cuDriverGetVersion"))?;
        let context = Arc::new(Context::of(device)?);
        let name = format!("{name} (GPU {device}; CUDA driver {}.{})", version / 1000, version % 1000 / 10);
        let static_bytes = target.shared.static_bytes.into();
        Ok(Self { given: DeviceObjectMap::default(), context, name, version, static_bytes })
    }

    /// Encodes the arguments of a kernel for the driver.
    fn encode_arguments(
        &self,
        kernel: &KernelMetadata,
        arguments: &[LaunchArgument],
    ) -> Result<Vec<KernelArgument>, DeviceError> {
        let passed = |(number, argument): (u32, &LaunchArgument)| {
            let map = kernel.maps.iter().find(|map| map.parameter == number);
            match (argument, map) {
                (LaunchArgument::Tensor(tensor), Some(map)) => {
                    let memory = self.given.mapped_tensor_memory(tensor, &map.map)?;
                    Ok(KernelArgument::Map(maps::encode_tensor_map(map, tensor, memory.0, self.version)?))
                }
                _ => Ok(KernelArgument::Value(
                    argument.resolve_bits(|buffer| Ok(self.given.buffer_memory(buffer, 0, 0)?.0))?.0,
                )),
            }
        };
        (0..).zip(arguments).map(passed).collect()
    }

    fn function(&self, module: &Module, kernel: &KernelMetadata) -> Result<(sys::CUfunction, u32), DeviceError> {
        let bad = |message: String| DeviceError::BadLaunch(message);
        let name = CString::new(kernel.name.as_str()).map_err(|error| bad(error.to_string()))?;
        // SAFETY: the module is loaded.
        let function = unsafe { result::module::get_function(module.0, name) };
        let function = function.map_err(|error| bad(failed("cuModuleGetFunction")(error).to_string()))?;
        if kernel.shared_bytes <= self.static_bytes {
            return Ok((function, 0));
        }
        let bytes = u32::try_from(kernel.shared_bytes).unwrap_or(u32::MAX);
        let most = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function belongs to a loaded module.
        let allowed = unsafe {
            result::function::set_function_attribute(function, most, i32::try_from(bytes).unwrap_or(i32::MAX))
        };
        allowed.map_err(|_| DeviceError::Unsupported(format!("{bytes} bytes of shared memory")))?;
        Ok((function, bytes))
    }
}

impl Device for CudaDevice {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn allocate(&mut self, bytes: u64) -> Result<DeviceBufferId, DeviceError> {
        self.context.enter()?;
        // The driver returns no address for an allocation of zero bytes.
        let size = usize::try_from(bytes.max(1)).map_err(|_| DeviceError::OutOfMemory(bytes))?;
        let memory = Memory::of(size, &self.context)?;
        // SAFETY: the allocation above has this many bytes.
        unsafe { result::memset_d8_sync(memory.0, 0, size) }.map_err(failed("cuMemsetD8"))?;
        Ok(self.given.insert_buffer(memory, bytes))
    }

    fn free(&mut self, buffer: DeviceBufferId) {
        self.given.remove_buffer(buffer);
    }

    fn write(&mut self, buffer: DeviceBufferId, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.context.enter()?;
        let address = self.given.buffer_memory(buffer, offset, bytes.len() as u64)?.0 + offset;
        // SAFETY: the range lies in the buffer; the call returns after it has read `bytes`.
        unsafe { result::memcpy_htod_sync(address, bytes) }.map_err(failed("cuMemcpyHtoD"))
    }

    fn read(&mut self, buffer: DeviceBufferId, offset: u64, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        self.context.enter()?;
        let address = self.given.buffer_memory(buffer, offset, bytes)?.0 + offset;
        let mut read = vec![0u8; bytes as usize];
        // SAFETY: the range lies in the buffer; the call returns after it has written `read`.
        unsafe { result::memcpy_dtoh_sync(&mut read, address) }.map_err(failed("cuMemcpyDtoH"))?;
        Ok(read)
    }

    fn load(&mut self, artifact: &Artifact) -> Result<LoadedCodeId, DeviceError> {
        self.context.enter()?;
        let missing = || DeviceError::BadLaunch("the artifact has no cubin and no PTX".to_owned());
        let object = artifact
            .payload(CodeFormat::Object)
            .or_else(|| artifact.payload(CodeFormat::Assembly))
            .ok_or_else(missing)?;
        let mut image = object.bytes.clone();
        // The driver reads PTX up to a zero byte; a cubin contains its length.
        image.push(0);
        // SAFETY: an object of the plugin is a whole cubin or PTX with a final zero.
        let module = unsafe { Module::load(&image, &self.context) }?;
        Ok(self.given.insert_code(module, artifact))
    }

    fn unload(&mut self, code: LoadedCodeId) {
        self.given.remove_code(code);
    }

    fn launch(&mut self, launch: &LaunchRequest) -> Result<LaunchStats, DeviceError> {
        self.context.enter()?;
        let (module, kernel) = self.given.resolve_launch(launch)?;
        let (function, shared) = self.function(module, kernel)?;
        let mut passed = self.encode_arguments(kernel, &launch.arguments)?;
        let mut arguments: Vec<*mut c_void> = passed.iter_mut().map(KernelArgument::pointer).collect();
        let (start, end) = (Event::new()?, Event::new()?);
        let ([x, y, z], lanes) = (launch.grid, kernel.lanes * kernel.warps);
        start.record()?;
        // SAFETY: the arguments match the kernel's parameters, which was checked above, and live until the launch has
        // completed.
        let launched = unsafe {
            result::launch_kernel(function, (x, y, z), (lanes, 1, 1), shared, result::stream::null(), &mut arguments)
        };
        launched.map_err(|error| DeviceError::BadLaunch(failed("cuLaunchKernel")(error).to_string()))?;
        end.record()?;
        let synchronized = result::ctx::synchronize();
        synchronized.map_err(|error| DeviceError::Fault(failed("cuCtxSynchronize")(error).to_string()))?;
        // SAFETY: both events have completed.
        let milliseconds = unsafe { result::event::elapsed(start.0, end.0) };
        let nanoseconds = milliseconds.ok().map(|milliseconds| (f64::from(milliseconds) * 1e6) as u64);
        Ok(LaunchStats { nanoseconds, ..LaunchStats::default() })
    }
}
