//! Devices of this vendor through OpenCL and Level Zero, opened at run time.
//!
//! Two kinds of devices run this plugin's code: Intel GPUs, recognized by model name or PCI device id, and Intel's
//! OpenCL runtime for CPUs, which stands in for any GPU model. The CPU runtime lacks the builtins for MMA and 2-D block
//! loads; the plugin links them from `matrix_mad.cl` and `block_read.cl`. A device's name shows its kind.
//!
//! Devices need the feature `drivers`; without it the plugin compiles kernels, but launches none.
//!
//! This module may import the crate's root, but not `compile`: devices load artifacts from any source.

#[cfg(feature = "drivers")]
mod gpu_model;
#[cfg(feature = "drivers")]
mod level_zero;
#[cfg(feature = "drivers")]
mod limits;
#[cfg(feature = "drivers")]
mod opencl;

use tilewright_plugin::{Device, DeviceError};

/// Returns the devices that can run code for a GPU model: GPUs through Level Zero, then GPUs through OpenCL, then CPUs
/// through OpenCL. A GPU that both interfaces list is returned twice, under different names.
///
/// # Errors
/// Returns [`DeviceError::NoRuntime`], with the missing libraries, if neither interface is installed.
#[cfg(feature = "drivers")]
pub(crate) fn devices(gpu_model: &str) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    match (level_zero::devices(gpu_model), opencl::devices(gpu_model)) {
        (Ok(mut devices), Ok(more)) => {
            devices.extend(more);
            Ok(devices)
        }
        (Ok(devices), Err(DeviceError::NoRuntime(why))) | (Err(DeviceError::NoRuntime(why)), Ok(devices)) => {
            if devices.is_empty() { Err(DeviceError::NoRuntime(why)) } else { Ok(devices) }
        }
        (Err(DeviceError::NoRuntime(one)), Err(DeviceError::NoRuntime(other))) => {
            Err(DeviceError::NoRuntime(format!("{other}; {one}")))
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

#[cfg(not(feature = "drivers"))]
/// Returns no devices, because this build has no drivers.
///
/// # Errors
/// Always [`DeviceError::NoRuntime`]: this build of the plugin opens no driver.
#[cfg(not(feature = "drivers"))]
pub(crate) fn devices(_gpu_model: &str) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    Err(DeviceError::NoRuntime(
        "this build of the plugin has no drivers: build it with the feature `drivers`, or load its SPIR-V with the \
         vendor's runtime"
            .to_owned(),
    ))
}
