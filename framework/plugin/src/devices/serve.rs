//! The plugin's side of device calls: the C functions of the optional table `devices`, which call the target's
//! [`Device`]s.

#![allow(unsafe_code)]

use std::sync::{Mutex, PoisonError};

use crate::abi::{
    BlobHandle, DEVICE_TABLE_NAME, DeviceTable, DevicesHandle, ErrorHandle, Extension, PieceTable, Slice, TargetHandle,
};
use crate::bytes::read_slice;
use crate::exported_handles::{drop_handle, return_handle, return_value, target_of_handle};
use crate::{Device, DeviceBufferId, LaunchRequest, LoadedCodeId};
use crate::{ErrorCode, SerializedError, message, wire};

/// Returns the devices table of a plugin; `next` is the optional table that follows it in the chain.
pub(crate) const fn table(next: &'static PieceTable) -> DeviceTable {
    DeviceTable {
        extension: Extension {
            struct_size: size_of::<DeviceTable>(),
            next: &raw const next.extension,
            name: Slice::of(DEVICE_TABLE_NAME.as_bytes()),
        },
        open: Some(open),
        close: Some(close),
        device_name: Some(device_name),
        allocate: Some(allocate),
        free: Some(free),
        write: Some(write),
        read: Some(read),
        load: Some(load),
        unload: Some(unload),
        launch: Some(launch),
    }
}

/// The set of devices that a [`DevicesHandle`] points to: the name of each device, and the device.
struct Opened(Vec<(String, Mutex<Box<dyn Device>>)>);

unsafe extern "C" fn open(target: *const TargetHandle, out: *mut *mut DevicesHandle) -> *mut ErrorHandle {
    let work = || {
        // SAFETY: the host's contract.
        let devices = unsafe { target_of_handle(target) }?.devices()?;
        Ok(Opened(devices.into_iter().map(|device| (device.name(), Mutex::new(device))).collect()))
    };
    // SAFETY: the host's contract.
    unsafe { return_handle(out, work) }
}

unsafe extern "C" fn close(devices: *mut DevicesHandle) {
    // SAFETY: the host's contract.
    unsafe { drop_handle(devices.cast::<Opened>()) }
}

unsafe extern "C" fn device_name(devices: *const DevicesHandle, device: u32) -> Slice {
    // SAFETY: the host's contract; handles are made by `open` from an `Opened`.
    let opened = unsafe { devices.cast::<Opened>().as_ref() };
    let named = opened.and_then(|opened| opened.0.get(device as usize));
    named.map_or(Slice::EMPTY, |(name, _)| Slice::of(name.as_bytes()))
}

/// Calls `work` with the device of index `device` in a set, and returns the result of `work`; an error if there is no
/// such device. The device is locked during the call.
///
/// # Safety
/// `devices` must be null or a live handle of this table.
unsafe fn with<T>(
    devices: *const DevicesHandle,
    device: u32,
    work: impl FnOnce(&mut dyn Device) -> Result<T, SerializedError>,
) -> Result<T, SerializedError> {
    // SAFETY: the caller's contract.
    let opened = unsafe { devices.cast::<Opened>().as_ref() };
    let found = opened.and_then(|opened| opened.0.get(device as usize));
    let (_, found) =
        found.ok_or_else(|| SerializedError::new(ErrorCode::MALFORMED, [format!("there is no device {device}")]))?;
    // The lock is taken even if an earlier call on the device has panicked: the device itself decides what it can still
    // do.
    work(&mut **found.lock().unwrap_or_else(PoisonError::into_inner))
}

unsafe extern "C" fn allocate(
    devices: *const DevicesHandle,
    device: u32,
    bytes: u64,
    buffer: *mut u64,
) -> *mut ErrorHandle {
    // SAFETY: the host's contract, here and in the functions below.
    unsafe { return_value(buffer, || with(devices, device, |device| Ok(device.allocate(bytes)?.0))) }
}

unsafe extern "C" fn free(devices: *const DevicesHandle, device: u32, buffer: u64) {
    // SAFETY: the host's contract.
    unsafe { call_without_result(devices, device, |device| device.free(DeviceBufferId(buffer))) }
}

unsafe extern "C" fn write(
    devices: *const DevicesHandle,
    device: u32,
    buffer: u64,
    offset: u64,
    bytes: Slice,
) -> *mut ErrorHandle {
    let mut nothing = ();
    let work = || {
        let bytes = read_slice(bytes)?;
        unsafe { with(devices, device, |device| Ok(device.write(DeviceBufferId(buffer), offset, bytes)?)) }
    };
    unsafe { return_value(&raw mut nothing, work) }
}

unsafe extern "C" fn read(
    devices: *const DevicesHandle,
    device: u32,
    buffer: u64,
    offset: u64,
    bytes: u64,
    out: *mut *mut BlobHandle,
) -> *mut ErrorHandle {
    unsafe {
        return_handle(out, || with(devices, device, |device| Ok(device.read(DeviceBufferId(buffer), offset, bytes)?)))
    }
}

unsafe extern "C" fn load(
    devices: *const DevicesHandle,
    device: u32,
    artifact: Slice,
    code: *mut u64,
) -> *mut ErrorHandle {
    let work = || {
        let artifact = message::read_artifact(read_slice(artifact)?)
            .map_err(|error| SerializedError::malformed("the artifact", &error))?;
        unsafe { with(devices, device, |device| Ok(device.load(&artifact)?.0)) }
    };
    unsafe { return_value(code, work) }
}

unsafe extern "C" fn unload(devices: *const DevicesHandle, device: u32, code: u64) {
    // SAFETY: the host's contract.
    unsafe { call_without_result(devices, device, |device| device.unload(LoadedCodeId(code))) }
}

unsafe extern "C" fn launch(
    devices: *const DevicesHandle,
    device: u32,
    request: Slice,
    out: *mut *mut BlobHandle,
) -> *mut ErrorHandle {
    let work = || {
        let request: LaunchRequest = wire::deserialize_message(read_slice(request)?)
            .map_err(|error| SerializedError::malformed("the launch", &error))?;
        let launched = unsafe { with(devices, device, |device| Ok(device.launch(&request)?)) }?;
        wire::serialize_message(&launched)
            .map_err(|error| SerializedError::malformed("the report of the launch", &error))
    };
    unsafe { return_handle(out, work) }
}

/// Calls `work` with the device of index `device` in a set, for C functions that return no status. If the device does
/// not exist or `work` panics, the error is dropped.
///
/// # Safety
/// As for [`with`].
unsafe fn call_without_result(devices: *const DevicesHandle, device: u32, work: impl FnOnce(&mut dyn Device)) {
    let mut nothing = ();
    // SAFETY: the caller's contract; an error was just created here.
    unsafe {
        let error = return_value(&raw mut nothing, || {
            with(devices, device, |device| {
                work(device);
                Ok(())
            })
        });
        drop_handle(error.cast::<SerializedError>());
    }
}
