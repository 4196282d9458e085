//! A host's side in the plugin's process: finding the extension, calling its slots.

#![allow(unsafe_code)]

use std::sync::Arc;

use super::call::{DeviceCall, DeviceNames, Number};
use crate::abi::{
    BlobHandle, DEVICES, DeviceTable, DevicesHandle, ErrorHandle, Extension, REQUIRED_DEVICE_TABLE_SIZE, Slice,
    TargetHandle,
};
use crate::extensions::{broken, find_extension};
use crate::open_target::OpenTarget;
use crate::plugin_slots::{MOST_ITEMS, Slots as PluginSlots, text};
use crate::slots::slots;
use crate::{ErrorCode, PluginFailure, wire};

slots! { Slots of DeviceTable:
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

/// The extension of a plugin that has it, or why it cannot be used.
pub(crate) fn find(first: *const Extension) -> Result<Arc<Slots>, PluginFailure> {
    let Some(extension) = find_extension(first, DEVICES, REQUIRED_DEVICE_TABLE_SIZE)? else {
        let message = "the plugin has no `devices` extension: it compiles, and launches nothing";
        return Err(PluginFailure::new(ErrorCode::NO_RUNTIME, [message]));
    };
    // SAFETY: its size covers all fields that this version knows; an aligned extension is an aligned table.
    let table = unsafe { extension.cast::<DeviceTable>().read() };
    Slots::of(&table).map(Arc::new).map_err(|what| broken(&what))
}

/// An open set of devices; closed when its last call is done, and before its target ends.
pub(crate) struct OpenDevices {
    slots: Arc<Slots>,
    handle: *mut DevicesHandle,
    target: Arc<OpenTarget>,
    /// How many there are.
    count: u32,
}

// SAFETY: the interface allows calls from any thread; of one device, the proxy makes one at a time.
unsafe impl Send for OpenDevices {}
// SAFETY: as above.
unsafe impl Sync for OpenDevices {}

impl Drop for OpenDevices {
    fn drop(&mut self) {
        // SAFETY: made by `open` of the same table and closed only here.
        unsafe { (self.slots.close)(self.handle) }
    }
}

impl OpenDevices {
    /// Opens the devices of a target; also gives their names, as an answer.
    pub(crate) fn open(slots: Arc<Slots>, target: Arc<OpenTarget>) -> Result<(Self, Vec<u8>), PluginFailure> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: a slot of a checked table on a live target.
        let error = unsafe { (slots.open)(target.handle(), &raw mut handle) };
        target.slots().outcome(error)?;
        if handle.is_null() {
            return Err(PluginFailure::internal("it gave neither devices nor an error"));
        }
        let mut opened = Self { slots, handle, target, count: 0 };
        let mut names = Vec::new();
        while opened.count < MOST_ITEMS {
            // SAFETY: a slot of a checked table on a live set; the text is copied at once.
            let name = unsafe { (opened.slots.device_name)(opened.handle, opened.count) };
            if name.length == 0 {
                break;
            }
            names.push(text("a device's name", name)?);
            opened.count += 1;
        }
        let names = wire::write(&DeviceNames { names }).map_err(|error| PluginFailure::internal(error.to_string()))?;
        Ok((opened, names))
    }

    /// Makes a call of a device of the set.
    pub(crate) fn call(&self, device: u32, call: &DeviceCall) -> Result<Vec<u8>, PluginFailure> {
        if device >= self.count {
            return Err(PluginFailure::internal(format!("there is no device {device}")));
        }
        let (slots, set, plugin) = (&*self.slots, self.handle, self.target.slots());
        // SAFETY of the slots' calls below: slots of a checked table on a live set, with slices that outlive the call.
        match call {
            DeviceCall::Allocate { bytes } => {
                number(plugin, |out| unsafe { (slots.allocate)(set, device, *bytes, out) })
            }
            DeviceCall::Free { buffer } => {
                unsafe { (slots.free)(set, device, *buffer) };
                Ok(Vec::new())
            }
            DeviceCall::Write { buffer, offset, bytes } => {
                let error = unsafe { (slots.write)(set, device, *buffer, *offset, Slice::of(bytes)) };
                plugin.outcome(error).map(|()| Vec::new())
            }
            DeviceCall::Read { buffer, offset, bytes } => {
                plugin.blob(|out| unsafe { (slots.read)(set, device, *buffer, *offset, *bytes, out) })
            }
            DeviceCall::Load { artifact } => {
                number(plugin, |out| unsafe { (slots.load)(set, device, Slice::of(artifact), out) })
            }
            DeviceCall::Unload { code } => {
                unsafe { (slots.unload)(set, device, *code) };
                Ok(Vec::new())
            }
            DeviceCall::Launch { request } => {
                plugin.blob(|out| unsafe { (slots.launch)(set, device, Slice::of(request), out) })
            }
        }
    }
}

/// Calls a slot that gives a number.
fn number(plugin: &PluginSlots, slot: impl FnOnce(*mut u64) -> *mut ErrorHandle) -> Result<Vec<u8>, PluginFailure> {
    let mut number = 0;
    plugin.outcome(slot(&raw mut number))?;
    wire::write(&Number { number }).map_err(|error| PluginFailure::internal(error.to_string()))
}
