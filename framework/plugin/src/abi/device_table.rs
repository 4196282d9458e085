//! The binary interface for devices: the optional table `devices`, chained to a plugin's table. Follows the rules of
//! [`abi`](crate::abi).

use std::mem::{offset_of, size_of};

use super::handles::{BlobHandle, ErrorHandle, Extension, Slice, TargetHandle};

/// The name under which a host finds the devices table in the chain of optional tables.
pub const DEVICE_TABLE_NAME: &str = "devices";

/// A set of open devices of a target, owned by a plugin; opaque to the host.
#[repr(C)]
#[derive(Debug)]
pub struct DevicesHandle {
    private: [u8; 0],
}

/// Access to hardware: an optional table of functions, chained to a plugin's table under the name
/// [`DEVICE_TABLE_NAME`].
///
/// Devices are numbered from zero within the set of open devices of a target. Calls on one device are serialised; calls
/// on different devices of a set may be concurrent. A set is closed before its target is destroyed. The plugin's own
/// table frees the blobs and errors that these functions return.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DeviceTable {
    /// Head of the struct: its size in bytes, the next optional table, and the name [`DEVICE_TABLE_NAME`].
    pub extension: Extension,
    /// Opens the target's devices that this machine has, possibly none, as one set.
    pub open:
        Option<unsafe extern "C" fn(target: *const TargetHandle, out: *mut *mut DevicesHandle) -> *mut ErrorHandle>,
    /// Closes a set of devices and frees the memory and the code loaded on them.
    pub close: Option<unsafe extern "C" fn(devices: *mut DevicesHandle)>,
    /// Returns the name of a device, UTF-8, valid until the set is closed; empty if `device` is past the last index.
    pub device_name: Option<unsafe extern "C" fn(devices: *const DevicesHandle, device: u32) -> Slice>,
    /// Allocates zeroed device memory and returns a number for the buffer.
    pub allocate: Option<
        unsafe extern "C" fn(
            devices: *const DevicesHandle,
            device: u32,
            bytes: u64,
            buffer: *mut u64,
        ) -> *mut ErrorHandle,
    >,
    /// Frees a buffer; ignores a number that names no buffer.
    pub free: Option<unsafe extern "C" fn(devices: *const DevicesHandle, device: u32, buffer: u64)>,
    /// Copies bytes from the host into a buffer, starting at the byte `offset` of the buffer.
    pub write: Option<
        unsafe extern "C" fn(
            devices: *const DevicesHandle,
            device: u32,
            buffer: u64,
            offset: u64,
            bytes: Slice,
        ) -> *mut ErrorHandle,
    >,
    /// Returns `bytes` bytes of a buffer, starting at the byte `offset` of the buffer.
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
    /// Loads the kernels of an artifact (compiled code), which is a serialised [`Artifact`](crate::Artifact); returns a
    /// number for the loaded code.
    pub load: Option<
        unsafe extern "C" fn(
            devices: *const DevicesHandle,
            device: u32,
            artifact: Slice,
            code: *mut u64,
        ) -> *mut ErrorHandle,
    >,
    /// Unloads code; ignores a number that names no loaded code.
    pub unload: Option<unsafe extern "C" fn(devices: *const DevicesHandle, device: u32, code: u64)>,
    /// Runs a kernel of loaded code to its end. `request` is a serialised [`LaunchRequest`](crate::LaunchRequest), the
    /// returned blob a serialised [`LaunchStats`](crate::LaunchStats).
    pub launch: Option<
        unsafe extern "C" fn(
            devices: *const DevicesHandle,
            device: u32,
            request: Slice,
            out: *mut *mut BlobHandle,
        ) -> *mut ErrorHandle,
    >,
}

/// The least valid `struct_size` of a devices table, in bytes.
pub const REQUIRED_DEVICE_TABLE_SIZE: usize = offset_of!(DeviceTable, launch) + size_of::<usize>();

// SAFETY: as for the plugin's table: constants, and functions that may be called from any thread.
#[allow(unsafe_code)]
unsafe impl Sync for DeviceTable {}

/// Asserts at compile time that each function pointer keeps its offset of version 1.0, in units of a pointer.
macro_rules! assert_offsets {
    ($($field:ident = $expected:expr),+ $(,)?) => {
        $(const _: () = assert!(offset_of!(DeviceTable, $field) == $expected * size_of::<usize>());)+
    };
}

assert_offsets!(
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
