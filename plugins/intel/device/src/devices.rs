//! The devices of a GPU model.

use tilewright_plugin::{Device, DeviceError};

use super::{level_zero, opencl};

/// Lists the devices that can run code for a GPU model: GPUs of Level Zero first, then GPUs of OpenCL, then processors.
/// A GPU that both interfaces find is listed twice, under different names.
///
/// # Errors
/// [`DeviceError::NoRuntime`], with the missing library, if one interface is not installed and the other lists no
/// device or is not installed either; [`DeviceError::Driver`] if a call of a driver fails.
pub fn list_devices(gpu_model: &str) -> Result<Vec<Box<dyn Device>>, DeviceError> {
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
