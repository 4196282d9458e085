//! The host's side of device calls for a plugin in this process: finds the plugin's devices table and calls its
//! functions.

#![allow(unsafe_code)]

use std::sync::Arc;

use super::call::{DeviceCall, DeviceNames, Number};
use crate::abi::{
    BlobHandle, DEVICE_TABLE_NAME, DeviceTable, DevicesHandle, ErrorHandle, Extension, REQUIRED_DEVICE_TABLE_SIZE,
    Slice, TargetHandle,
};
use crate::extensions::{broken, find_extension};
use crate::functions::functions;
use crate::open_target::OpenTarget;
use crate::plugin_functions::{Functions as PluginFunctions, MOST_ITEMS, text};
use crate::{ErrorCode, SerializedError, wire};

functions! { Functions of DeviceTable:
    open: unsafe extern "C" fn(*const TargetHandle, *mut *mut DevicesHandle) -> *mut ErrorHandle,
    close: unsafe extern "C" fn(*mut DevicesHandle),
    device_name: unsafe extern "C" fn(*const DevicesHandle, u32) -> Slice,
    allocate: unsafe extern "C" fn(*const DevicesHandle, u32, u64, *mut u64) -> *mut ErrorHandle,
    free: unsafe extern "C" fn(*const DevicesHandle, u32, u64),
    write: unsafe extern "C" fn(*const DevicesHandle, u32, u64, u64, Slice) -> *mut ErrorHandle,
    read: unsafe extern "C" fn(*const DevicesHandle, u32, u64, u64, u64, *mut *mut BlobHandle) -> *mut ErrorHandle,
    load: unsafe extern "C" fn(*const DevicesHandle, u32, Slice, *mut u64) -> *mut ErrorHandle,
    unload: unsafe extern "C" fn(*const DevicesHandle, u32, u64),
    launch: unsafe extern "C" fn(*const DevicesHandle, u32, Slice, *mut *mut BlobHandle) -> *mut ErrorHandle,
}

/// Returns the functions of a plugin's devices table, or the reason why the table cannot be used.
pub(crate) fn find(first: *const Extension) -> Result<Arc<Functions>, SerializedError> {
    let Some(extension) = find_extension(first, DEVICE_TABLE_NAME, REQUIRED_DEVICE_TABLE_SIZE)? else {
        let message = "the plugin has no `devices` extension: it compiles, but cannot launch";
        return Err(SerializedError::new(ErrorCode::NO_RUNTIME, [message]));
    };
    // SAFETY: its size covers all fields of this version; an aligned extension is an aligned table.
    let table = unsafe { extension.cast::<DeviceTable>().read() };
    Functions::of(&table).map(Arc::new).map_err(|what| broken(&what))
}

/// A set of open devices; it is closed after the last call on it, and before its target is destroyed.
pub(crate) struct OpenDevices {
    functions: Arc<Functions>,
    handle: *mut DevicesHandle,
    target: Arc<OpenTarget>,
    /// Number of devices in the set.
    count: u32,
}

// SAFETY: the interface allows calls from any thread; the proxy serialises calls on one device.
unsafe impl Send for OpenDevices {}
// SAFETY: as above.
unsafe impl Sync for OpenDevices {}

impl Drop for OpenDevices {
    fn drop(&mut self) {
        // SAFETY: created by `open` of the same table and closed only here.
        unsafe { (self.functions.close)(self.handle) }
    }
}

impl OpenDevices {
    /// Opens the devices of a target; returns the set, and the devices' names as the bytes of an answer.
    pub(crate) fn open(functions: Arc<Functions>, target: Arc<OpenTarget>) -> Result<(Self, Vec<u8>), SerializedError> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: a function of a checked table, called on a live target.
        let error = unsafe { (functions.open)(target.handle(), &raw mut handle) };
        target.functions().outcome(error)?;
        if handle.is_null() {
            return Err(SerializedError::internal("it gave neither devices nor an error"));
        }
        let mut opened = Self { functions, handle, target, count: 0 };
        let mut names = Vec::new();
        while opened.count < MOST_ITEMS {
            // SAFETY: a function of a checked table, called on a live set; the text is copied immediately.
            let name = unsafe { (opened.functions.device_name)(opened.handle, opened.count) };
            if name.length == 0 {
                break;
            }
            names.push(text("a device's name", name)?);
            opened.count += 1;
        }
        let names = wire::serialize_message(&DeviceNames { names })
            .map_err(|error| SerializedError::internal(error.to_string()))?;
        Ok((opened, names))
    }

    /// Makes a call on a device of the set.
    pub(crate) fn call(&self, device: u32, call: &DeviceCall) -> Result<Vec<u8>, SerializedError> {
        if device >= self.count {
            return Err(SerializedError::internal(format!("there is no device {device}")));
        }
        let (functions, set, plugin) = (&*self.functions, self.handle, self.target.functions());
        // SAFETY of the calls below: functions of a checked table, called on a live set with slices that outlive the
        // call.
        match call {
            DeviceCall::Allocate { bytes } => {
                number(plugin, |out| unsafe { (functions.allocate)(set, device, *bytes, out) })
            }
            DeviceCall::Free { buffer } => {
                unsafe { (functions.free)(set, device, *buffer) };
                Ok(Vec::new())
            }
            DeviceCall::Write { buffer, offset, bytes } => {
                let error = unsafe { (functions.write)(set, device, *buffer, *offset, Slice::of(bytes)) };
                plugin.outcome(error).map(|()| Vec::new())
            }
            DeviceCall::Read { buffer, offset, bytes } => {
                plugin.blob(|out| unsafe { (functions.read)(set, device, *buffer, *offset, *bytes, out) })
            }
            DeviceCall::Load { artifact } => {
                number(plugin, |out| unsafe { (functions.load)(set, device, Slice::of(artifact), out) })
            }
            DeviceCall::Unload { code } => {
                unsafe { (functions.unload)(set, device, *code) };
                Ok(Vec::new())
            }
            DeviceCall::Launch { request } => {
                plugin.blob(|out| unsafe { (functions.launch)(set, device, Slice::of(request), out) })
            }
        }
    }
}

/// Calls a function of the devices table that writes a number to its parameter; returns the number as the bytes of an
/// answer.
fn number(
    plugin: &PluginFunctions,
    function: impl FnOnce(*mut u64) -> *mut ErrorHandle,
) -> Result<Vec<u8>, SerializedError> {
    let mut number = 0;
    plugin.outcome(function(&raw mut number))?;
    wire::serialize_message(&Number { number }).map_err(|error| SerializedError::internal(error.to_string()))
}
