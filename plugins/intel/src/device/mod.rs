//! Devices of this vendor: those of OpenCL and of Level Zero, opened at run time.
//!
//! Two kinds of device run what this plugin writes: the vendor's GPUs, found by the product's name or number, and
//! the vendor's OpenCL runtime for processors, which stands for any product. That one computes everything
//! but the products of matrices and loads of blocks, whose builtins it lacks; they are linked to it from
//! `matrix_mad.cl` and `block_read.cl`. A device says by its name which it is.
//!
//! Only with the feature `drivers`; without it a plugin compiles, and launches nothing.
//!
//! May import the crate's root, and nothing of `compile`: what a device is handed comes from outside.

#[cfg(feature = "drivers")]
mod level_zero;
#[cfg(feature = "drivers")]
mod limits;
#[cfg(feature = "drivers")]
mod opencl;
#[cfg(feature = "drivers")]
mod product;

use tilewright_plugin::{Device, DeviceError};

/// The devices that run code for a product: GPUs of Level Zero first, then those of OpenCL, then processors. A GPU that
/// both know is there twice; its names say which is which.
///
/// # Errors
/// [`DeviceError::NoRuntime`] where neither is there, with what is missing.
#[cfg(feature = "drivers")]
pub(crate) fn devices(product: &str) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    match (level_zero::devices(product), opencl::devices(product)) {
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
/// No devices.
///
/// # Errors
/// Always [`DeviceError::NoRuntime`]: this build of the plugin opens no driver.
#[cfg(not(feature = "drivers"))]
pub(crate) fn devices(_product: &str) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    Err(DeviceError::NoRuntime(
        "this build of the plugin has no drivers: build it with the feature `drivers`, or load its SPIR-V with the \
         vendor's runtime"
            .to_owned(),
    ))
}
