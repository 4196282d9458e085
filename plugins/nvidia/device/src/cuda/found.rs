//! Lists the GPUs of this machine through the CUDA driver.

#![allow(unsafe_code)]

use cudarc::driver::{DriverError, result, sys};
use tilewright_plugin::{Device, DeviceError};
use tilewright_target::TargetDescription;

use super::device::CudaDevice;
use super::driver_error::failed;

/// Returns the GPUs of this machine whose name and compute capability match the target's.
///
/// # Errors
/// [`DeviceError::NoRuntime`] if no driver is installed, [`DeviceError::Driver`] if a call of the driver fails.
pub(crate) fn devices(target: &TargetDescription) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    // SAFETY: opens `libcuda`, whose initializers every CUDA program runs.
    if !unsafe { sys::is_culib_present() } {
        let missing = "libcuda.so.1 cannot be opened; it comes with the GPU's driver (in Debian the package libcuda1)";
        return Err(DeviceError::NoRuntime(missing.to_owned()));
    }
    match result::init() {
        Err(DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => return Ok(Vec::new()),
        outcome => outcome.map_err(failed("cuInit"))?,
    }
    let mut devices: Vec<Box<dyn Device>> = Vec::new();
    for ordinal in 0..result::device::get_count().map_err(failed("cuDeviceGetCount"))? {
        let device = result::device::get(ordinal).map_err(failed("cuDeviceGet"))?;
        let name = result::device::get_name(device).map_err(failed("cuDeviceGetName"))?;
        if is_gpu_model(&name, &target.gpu_model)
            && capability(device)? == capability_of_architecture(&target.architecture)
        {
            devices.push(Box::new(CudaDevice::open(device, &name, target)?));
        }
    }
    Ok(devices)
}

/// Whether the driver's name of a device contains the model `gpu_model`. Compares the first word of the model that has
/// a digit, such as `H100` with `NVIDIA H100 80GB HBM3`; not all names contain the memory size.
fn is_gpu_model(name: &str, gpu_model: &str) -> bool {
    let model = gpu_model.split_whitespace().find(|word| word.contains(|c: char| c.is_ascii_digit()));
    model.is_some_and(|model| name.split([' ', '-']).any(|word| word == model))
}

/// Returns the compute capability of a device, times ten: 90 for 9.0.
fn capability(device: sys::CUdevice) -> Result<u32, DeviceError> {
    use sys::CUdevice_attribute::{
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
    };
    // SAFETY: the driver has returned this device.
    let of = |what| unsafe { result::device::get_attribute(device, what) }.map_err(failed("cuDeviceGetAttribute"));
    Ok(of(MAJOR)? as u32 * 10 + of(MINOR)? as u32)
}

/// Returns the compute capability of an architecture, times ten: 90 for `sm_90a`.
fn capability_of_architecture(architecture: &str) -> u32 {
    let digits: String = architecture.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{capability_of_architecture, is_gpu_model};

    #[test]
    fn devices_are_recognized_by_their_model() {
        assert!(is_gpu_model("NVIDIA H100 80GB HBM3", "NVIDIA H100"));
        assert!(is_gpu_model("NVIDIA A100-SXM4-80GB", "NVIDIA A100"));
        assert!(is_gpu_model("NVIDIA GH200 480GB", "NVIDIA GH200 Grace Hopper"));
        assert!(is_gpu_model("NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090"));
        assert!(!is_gpu_model("NVIDIA H200", "NVIDIA H100"));
        assert!(!is_gpu_model("NVIDIA GH200 480GB", "NVIDIA H200"));
        assert_eq!(
            (
                capability_of_architecture("sm_90a"),
                capability_of_architecture("sm_120a"),
                capability_of_architecture("sm_86")
            ),
            (90, 120, 86)
        );
    }
}
