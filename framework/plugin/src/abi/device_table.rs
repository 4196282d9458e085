//! The binary interface of the extension `devices`. Follows the rules of [`abi`](crate::abi).

use std::mem::{offset_of, size_of};

use super::handles::{BlobHandle, ErrorHandle, Extension, Slice, TargetHandle};

/// The extension's name.
pub const DEVICES: &str = "devices";

/// The open devices of a target, which a plugin made; opaque.
#[repr(C)]
#[derive(Debug)]
pub struct DevicesHandle {
    private: [u8; 0],
}

/// Access to hardware: the struct that begins with the extension of the name [`DEVICES`].
///
/// Devices are numbered from zero within their set. Of one device no two calls are made at once; of two devices of a set
/// they may be. A set is closed before its target ends. Blobs and errors are freed by the plugin's table.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DeviceTable {
    /// Size of the whole struct, next extension, name.
    pub extension: Extension,
    /// Opens the devices of a target that this machine has; there may be none.
    pub open:
        Option<unsafe extern "C" fn(target: *const TargetHandle, out: *mut *mut DevicesHandle) -> *mut ErrorHandle>,
    /// Closes them, with all their memory and code.
    pub close: Option<unsafe extern "C" fn(devices: *mut DevicesHandle)>,
    /// What a device calls itself, UTF-8, lives as long as the set; empty past the last one.
    pub device_name: Option<unsafe extern "C" fn(devices: *const DevicesHandle, device: u32) -> Slice>,
    /// Allocates zeroed memory; gives its number.
    pub allocate: Option<
        unsafe extern "C" fn(
            devices: *const DevicesHandle,
            device: u32,
            bytes: u64,
            buffer: *mut u64,
        ) -> *mut ErrorHandle,
    >,
    /// Frees memory; a number that is none is ignored.
    pub free: Option<unsafe extern "C" fn(devices: *const DevicesHandle, device: u32, buffer: u64)>,
    /// Copies bytes into memory, from a byte of it on.
    pub write: Option<
        unsafe extern "C" fn(
            devices: *const DevicesHandle,
            device: u32,
            buffer: u64,
            offset: u64,
            bytes: Slice,
        ) -> *mut ErrorHandle,
    >,
    /// Gives so many bytes of memory, from a byte of it on, as they are.
    pub read: Option<
        unsafe extern "C" fn(
            devices: *const DevicesHandle,
            device: u32,
            buffer: u64,
            offset: u64,
            bytes: u64,
            out: *mut *mut BlobHandle,
        ) -> *mut ErrorHandle,
    >,
    /// Makes the kernels of an artifact ready; gives a number for them.
    pub load: Option<
        unsafe extern "C" fn(
            devices: *const DevicesHandle,
            device: u32,
            artifact: Slice,
            code: *mut u64,
        ) -> *mut ErrorHandle,
    >,
    /// Forgets code; a number that is none is ignored.
    pub unload: Option<unsafe extern "C" fn(devices: *const DevicesHandle, device: u32, code: u64)>,
    /// Runs a kernel to its end, and gives what is known of the run.
    pub launch: Option<
        unsafe extern "C" fn(
            devices: *const DevicesHandle,
            device: u32,
            request: Slice,
            out: *mut *mut BlobHandle,
        ) -> *mut ErrorHandle,
    >,
}

/// What `struct_size` must cover at least.
pub const REQUIRED_DEVICE_TABLE_SIZE: usize = offset_of!(DeviceTable, launch) + size_of::<usize>();

// SAFETY: as that of the plugin's table: constants, and slots that may be called from any thread.
#[allow(unsafe_code)]
unsafe impl Sync for DeviceTable {}

/// Asserts at compile time that the slots lie where they were put first, in units of a pointer.
macro_rules! places {
    ($($field:ident = $place:expr),+ $(,)?) => {
        $(const _: () = assert!(offset_of!(DeviceTable, $field) == $place * size_of::<usize>());)+
    };
}

places!(
    extension = 0,
    open = 4,
    close = 5,
    device_name = 6,
    allocate = 7,
    free = 8,
    write = 9,
    read = 10,
    load = 11,
    unload = 12,
    launch = 13,
);
