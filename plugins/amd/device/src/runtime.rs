//! Enumeration of the AMD GPUs of this machine.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::sync::Arc;

use tilewright_plugin::{Device, DeviceError};

use super::functions::{Functions, INVALID_DEVICE, NO_DEVICE};
use super::hip::HipDevice;

/// Returns the GPUs of this machine whose architecture is `architecture`, such as `gfx90a`.
///
/// # Errors
/// [`DeviceError::NoRuntime`] if the runtime library is missing or too old, [`DeviceError::Driver`] if a call of it
/// fails.
pub fn open_devices(architecture: &str) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    let functions = Arc::new(Functions::open()?);
    let mut found: Vec<Box<dyn Device>> = Vec::new();
    for ordinal in 0..count(&functions)? {
        if functions.architecture(ordinal)? == architecture {
            found.push(Box::new(HipDevice::open(Arc::clone(&functions), ordinal, name(&functions, ordinal)?)?));
        }
    }
    Ok(found)
}

fn count(functions: &Functions) -> Result<c_int, DeviceError> {
    // SAFETY: no flags are defined.
    let code = unsafe { (functions.init)(0) };
    if matches!(code, NO_DEVICE | INVALID_DEVICE) {
        return Ok(0);
    }
    functions.check("hipInit", code)?;
    let mut count = 0;
    // SAFETY: writes one number.
    let code = unsafe { (functions.device_count)(&raw mut count) };
    if code == NO_DEVICE {
        return Ok(0);
    }
    functions.check("hipGetDeviceCount", code)?;
    Ok(count)
}

fn name(functions: &Functions, device: c_int) -> Result<String, DeviceError> {
    let mut name: [c_char; 256] = [0; 256];
    let mut version = 0;
    // SAFETY: the buffer has the stated number of bytes, and there is space for one number.
    let codes = unsafe {
        ((functions.device_name)(name.as_mut_ptr(), 255, device), (functions.driver_version)(&raw mut version))
    };
    functions.check("hipDeviceGetName", codes.0)?;
    functions.check("hipDriverGetVersion", codes.1)?;
    // SAFETY: the last byte is zero.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy();
    Ok(format!("{name} (GPU {device}; HIP driver {version})"))
}
