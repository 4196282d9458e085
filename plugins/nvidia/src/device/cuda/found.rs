//! Which GPUs there are.

#![allow(unsafe_code)]

use cudarc::driver::{DriverError, result, sys};
use tilewright_plugin::{Device, DeviceError};
use tilewright_target::TargetDescription;

use super::device::CudaDevice;
use super::driver_error::failed;

/// The GPUs that are a target's product.
///
/// # Errors
/// [`DeviceError::NoRuntime`] where there is no driver; [`DeviceError::Driver`] where it fails.
pub(crate) fn devices(target: &TargetDescription) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    // SAFETY: opens the vendor's library, as any program that uses it does.
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
        if is_product(&name, &target.product) && capability(device)? == requested(&target.architecture) {
            devices.push(Box::new(CudaDevice::open(device, &name, target)?));
        }
    }
    Ok(devices)
}

/// Whether a device of this name is the product: of a name such as `NVIDIA H100 80GB HBM3` the words with a number tell
/// products apart, and memory is not told in all names.
fn is_product(name: &str, product: &str) -> bool {
    let model = product.split_whitespace().find(|word| word.contains(|c: char| c.is_ascii_digit()));
    model.is_some_and(|model| name.split([' ', '-']).any(|word| word == model))
}

/// The compute capability of a device, major times ten and minor.
fn capability(device: sys::CUdevice) -> Result<u32, DeviceError> {
    use sys::CUdevice_attribute::{
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
    };
    // SAFETY: a device that the driver has named.
    let of = |what| unsafe { result::device::get_attribute(device, what) }.map_err(failed("cuDeviceGetAttribute"));
    Ok(of(MAJOR)? as u32 * 10 + of(MINOR)? as u32)
}

/// The compute capability that an architecture such as `sm_90a` is for.
fn requested(architecture: &str) -> u32 {
    let digits: String = architecture.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{is_product, requested};

    #[test]
    fn products_are_told_by_their_model() {
        assert!(is_product("NVIDIA H100 80GB HBM3", "NVIDIA H100"));
        assert!(is_product("NVIDIA A100-SXM4-80GB", "NVIDIA A100"));
        assert!(is_product("NVIDIA GH200 480GB", "NVIDIA GH200 Grace Hopper"));
        assert!(is_product("NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090"));
        assert!(!is_product("NVIDIA H200", "NVIDIA H100"));
        assert!(!is_product("NVIDIA GH200 480GB", "NVIDIA H200"));
        assert_eq!((requested("sm_90a"), requested("sm_120a"), requested("sm_86")), (90, 120, 86));
    }
}
