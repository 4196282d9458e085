//! Enumerates the OpenCL devices of this machine.

use std::sync::Arc;

use cl3::device::{
    CL_DEVICE_IL_VERSION, CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_NAME,
    CL_DEVICE_SINGLE_FP_CONFIG, CL_DEVICE_TYPE, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU,
    CL_DRIVER_VERSION, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, get_device_data, get_device_ids,
};
use cl3::error_codes::{CL_DEVICE_NOT_FOUND, DLOPEN_RUNTIME_LOAD_FAILED};
use cl3::platform::{CL_PLATFORM_VENDOR, get_platform_data, get_platform_ids};
use tilewright_plugin::{Device, DeviceError};

use super::super::limits::Limits;
use super::device::OpenClDevice;
use super::found::{Found, text};
use super::handle::failed;

/// Error code that OpenCL's loader returns if no driver (platform) is installed (extension cl_khr_icd).
const NO_PLATFORM: i32 = -1001;

/// Device property that lists the supported sub-group sizes: `CL_DEVICE_SUB_GROUP_SIZES_INTEL` of the extension
/// cl_intel_required_subgroup_size.
const SUB_GROUP_SIZES: u32 = 0x4108;

/// Intermediate language and version that a device must accept.
const SPIRV: &str = "SPIR-V_1.3";

/// Returns the devices that can run code for a GPU model: GPUs with the model's name first, then CPUs.
///
/// # Errors
/// [`DeviceError::NoRuntime`] if OpenCL or a driver of Intel's is not installed, [`DeviceError::Driver`] if a call
/// fails.
pub(crate) fn devices(gpu_model: &str) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    let mut found: Vec<Found> = found()?.into_iter().filter(|device| device.serves(gpu_model)).collect();
    found.sort_by_key(|device| device.is_processor);
    let open = |device| Ok(Box::new(OpenClDevice::open(Arc::new(device))?) as Box<dyn Device>);
    found.into_iter().map(open).collect()
}

/// Returns all devices of Intel's drivers that accept SPIR-V.
fn found() -> Result<Vec<Found>, DeviceError> {
    let platforms = match get_platform_ids() {
        Ok(platforms) => platforms,
        Err(NO_PLATFORM) => Vec::new(),
        Err(DLOPEN_RUNTIME_LOAD_FAILED) => {
            let message = "libOpenCL.so.1 cannot be opened; it is in Debian's package ocl-icd-libopencl1";
            return Err(DeviceError::NoRuntime(message.to_owned()));
        }
        Err(code) => return Err(failed("clGetPlatformIDs")(code)),
    };
    let ours = |&platform: &_| {
        get_platform_data(platform, CL_PLATFORM_VENDOR).is_ok_and(|vendor| text(vendor).contains("Intel"))
    };
    let ours: Vec<_> = platforms.into_iter().filter(ours).collect();
    if ours.is_empty() {
        let message = "OpenCL has no driver of Intel's; for GPUs install Debian's intel-opencl-icd, for the runtime that \
                       computes on processors see conformance/intel-tools.sh (OCL_ICD_VENDORS names the list of drivers)";
        return Err(DeviceError::NoRuntime(message.to_owned()));
    }
    let mut devices = Vec::new();
    for platform in ours {
        match get_device_ids(platform, CL_DEVICE_TYPE_ALL) {
            Ok(ids) => devices.extend(ids.into_iter().filter_map(|id| query_device(id as usize).transpose())),
            Err(CL_DEVICE_NOT_FOUND) => {}
            Err(code) => return Err(failed("clGetDeviceIDs")(code)),
        }
    }
    devices.into_iter().collect()
}

/// Queries the properties of a device; `None` if it does not accept SPIR-V, or is neither a GPU nor a CPU.
fn query_device(id: usize) -> Result<Option<Found>, DeviceError> {
    let of = |what| get_device_data(id as _, what).map_err(failed("clGetDeviceInfo"));
    let kind = of(CL_DEVICE_TYPE)?;
    let is = |required: u64| kind.as_slice().try_into().is_ok_and(|kind| u64::from_le_bytes(kind) & required != 0);
    if !text(of(CL_DEVICE_IL_VERSION)?).contains(SPIRV) || !(is(CL_DEVICE_TYPE_CPU) || is(CL_DEVICE_TYPE_GPU)) {
        return Ok(None);
    }
    let (name, driver) = (text(of(CL_DEVICE_NAME)?), text(of(CL_DRIVER_VERSION)?));
    let sizes = |what| Ok::<_, DeviceError>(sizes(&of(what)?));
    let first = |what| Ok::<_, DeviceError>(sizes(what)?.first().copied().unwrap_or(0));
    let limits = Limits {
        lanes: sizes(SUB_GROUP_SIZES)?,
        block: first(CL_DEVICE_MAX_WORK_GROUP_SIZE)?,
        shared: first(CL_DEVICE_LOCAL_MEM_SIZE)?,
    };
    let rounds_correctly = first(CL_DEVICE_SINGLE_FP_CONFIG)? & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0;
    Ok(Some(Found { id, name, driver, is_processor: is(CL_DEVICE_TYPE_CPU), limits, rounds_correctly }))
}

/// Decodes numbers of 8 bytes each, the least significant byte first.
fn sizes(bytes: &[u8]) -> Vec<u64> {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    bytes.chunks(8).map(number).collect()
}
