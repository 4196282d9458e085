//! Enumerates the Level Zero devices of this machine.

#![allow(unsafe_code)]

use std::ptr::null_mut;
use std::sync::Arc;

use tilewright_plugin::{Device, DeviceError};

use super::super::gpu_model::{is_named, is_numbered};
use super::super::limits::Limits;
use super::device::LevelZeroDevice;
use super::found::Found;
use super::functions::{
    Code, ComputeProperties, DeviceProperties, DriverProperties, Functions, GPU, Head, Object, UNINITIALIZED, What,
    check,
};

/// Returns the GPUs of this machine whose name or PCI device id matches the model `gpu_model`.
///
/// # Errors
/// [`DeviceError::NoRuntime`] if the Level Zero loader is not installed, [`DeviceError::Driver`] if a call of it fails.
pub(crate) fn devices(gpu_model: &str) -> Result<Vec<Box<dyn Device>>, DeviceError> {
    let functions = Arc::new(Functions::open()?);
    let found = found(&functions)?.into_iter();
    let ours = found.filter(|device| is_named(&device.name, gpu_model) || is_numbered(device.number, gpu_model));
    ours.map(|device| Ok(Box::new(LevelZeroDevice::open(Arc::clone(&functions), device)?) as Box<dyn Device>)).collect()
}

fn found(functions: &Functions) -> Result<Vec<Found>, DeviceError> {
    // SAFETY: no flags.
    match unsafe { (functions.init)(0) } {
        // The loader works, but no driver has a device.
        UNINITIALIZED => return Ok(Vec::new()),
        code => check("zeInit", code)?,
    }
    let mut found = Vec::new();
    // SAFETY: the functions write at most as many objects as the buffer holds, and their number.
    let drivers = all("zeDriverGet", |count, objects| unsafe { (functions.drivers)(count, objects) })?;
    for driver in drivers {
        // SAFETY: as above.
        let devices = all("zeDeviceGet", |count, objects| unsafe { (functions.devices)(driver, count, objects) })?;
        for device in devices {
            found.extend(query_device(functions, driver, device)?);
        }
    }
    Ok(found)
}

/// Returns all objects that a list function returns: the first call returns their number, the second the objects.
fn all(call: &str, list: impl Fn(*mut u32, *mut Object) -> Code) -> Result<Vec<Object>, DeviceError> {
    let mut count = 0;
    check(call, list(&raw mut count, null_mut()))?;
    let mut objects = vec![null_mut(); count as usize];
    check(call, list(&raw mut count, objects.as_mut_ptr()))?;
    objects.truncate(count as usize);
    Ok(objects)
}

/// Queries the properties of a device; `None` if the device is not a GPU.
fn query_device(functions: &Functions, driver: Object, device: Object) -> Result<Option<Found>, DeviceError> {
    // SAFETY: structs of numbers, for which zeros are valid.
    let (mut about, mut compute, mut of_driver): (DeviceProperties, ComputeProperties, DriverProperties) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed(), std::mem::zeroed()) };
    about.head = Head::of(What::DeviceProperties);
    compute.head = Head::of(What::ComputeProperties);
    of_driver.head = Head::of(What::DriverProperties);
    // SAFETY: each function fills a struct of the type in its head.
    let codes = unsafe {
        [
            ("zeDeviceGetProperties", (functions.device_properties)(device, &raw mut about)),
            ("zeDeviceGetComputeProperties", (functions.compute_properties)(device, &raw mut compute)),
            ("zeDriverGetProperties", (functions.driver_properties)(driver, &raw mut of_driver)),
        ]
    };
    codes.into_iter().try_for_each(|(call, code)| check(call, code))?;
    let name = about.name.iter().take_while(|&&byte| byte != 0).copied().collect::<Vec<_>>();
    let sizes = compute.warp_size.iter().take(compute.warp_sizes as usize);
    let limits = Limits {
        lanes: sizes.map(|&size| u64::from(size)).collect(),
        block: compute.most_lanes.into(),
        shared: compute.shared_bytes.into(),
    };
    Ok((about.kind == GPU).then(|| Found {
        driver,
        device,
        name: String::from_utf8_lossy(&name).into_owned(),
        number: about.device,
        version: of_driver.version,
        limits,
        tick: about.tick,
        tick_bits: about.kernel_timestamp_bits,
    }))
}
