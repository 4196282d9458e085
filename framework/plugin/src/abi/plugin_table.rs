//! The tables that a host and a plugin give each other.

use std::ffi::c_void;
use std::mem::{offset_of, size_of};

use super::handles::{BlobHandle, ErrorHandle, Extension, Slice, TargetHandle};

include!("../version.rs");

/// Name of the one symbol that a plugin exports.
pub const ENTRY_SYMBOL: &str = "tilewright_plugin_query";

/// What a host offers to a plugin. It lives until the process ends; its slots may be called from
/// any thread.
#[repr(C)]
#[derive(Debug)]
pub struct HostTable {
    /// Size of the struct in bytes.
    pub struct_size: usize,
    /// First extension, or null.
    pub extensions: *const Extension,
    /// [`ABI_MAJOR`] of the host.
    pub abi_major: u32,
    /// [`ABI_MINOR`] of the host.
    pub abi_minor: u32,
    /// Passed to every slot as it is.
    pub context: *mut c_void,
    /// Takes a message; the level is one of [`Level`](crate::LogLevel), unknown ones count as the least.
    pub log: Option<unsafe extern "C" fn(context: *mut c_void, level: u32, message: Slice)>,
    /// Takes progress of a long call: so much of so much of what; a total of zero is unknown.
    pub progress: Option<unsafe extern "C" fn(context: *mut c_void, done: u64, total: u64, what: Slice)>,
}

/// What a plugin offers. It is a constant of the plugin's image.
///
/// A slot that returns an [`ErrorHandle`] returns null when all went well, and then has written
/// its `out`; otherwise it leaves `out` alone.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PluginTable {
    /// Size of the struct in bytes.
    pub struct_size: usize,
    /// First extension, or null.
    pub extensions: *const Extension,
    /// [`ABI_MAJOR`] of the plugin.
    pub abi_major: u32,
    /// [`ABI_MINOR`] of the plugin.
    pub abi_minor: u32,
    /// Name of the plugin, UTF-8, lives as long as the image.
    pub name: Option<unsafe extern "C" fn() -> Slice>,
    /// Version of the plugin, UTF-8, lives as long as the image.
    pub version: Option<unsafe extern "C" fn() -> Slice>,
    /// The architecture of this number that the plugin serves; empty past the last one.
    pub architecture: Option<unsafe extern "C" fn(index: u32) -> Slice>,
    /// Makes a target from its description. Calls are serialised by the host.
    pub target_create:
        Option<unsafe extern "C" fn(description: Slice, out: *mut *mut TargetHandle) -> *mut ErrorHandle>,
    /// Ends a target; no other call on it is running or follows.
    pub target_destroy: Option<unsafe extern "C" fn(target: *mut TargetHandle)>,
    /// Names of the families, the instruction table, and samples and spellings of the families.
    pub target_info:
        Option<unsafe extern "C" fn(target: *const TargetHandle, out: *mut *mut BlobHandle) -> *mut ErrorHandle>,
    /// The layout that a family builds.
    pub resolve_family: Option<
        unsafe extern "C" fn(
            target: *const TargetHandle,
            request: Slice,
            out: *mut *mut BlobHandle,
        ) -> *mut ErrorHandle,
    >,
    /// Code for a module.
    pub compile: Option<
        unsafe extern "C" fn(
            target: *const TargetHandle,
            module: Slice,
            options: Slice,
            out: *mut *mut BlobHandle,
        ) -> *mut ErrorHandle,
    >,
    /// The bytes of a blob, valid until it is destroyed.
    pub blob_bytes: Option<unsafe extern "C" fn(blob: *const BlobHandle) -> Slice>,
    /// Frees a blob.
    pub blob_destroy: Option<unsafe extern "C" fn(blob: *mut BlobHandle)>,
    /// The kind of the error, one of [`Code`](crate::ErrorCode).
    pub error_code: Option<unsafe extern "C" fn(error: *const ErrorHandle) -> u32>,
    /// One message of the error's chain, outermost first, UTF-8, valid until the error is
    /// destroyed; empty past the last one.
    pub error_message: Option<unsafe extern "C" fn(error: *const ErrorHandle, index: u32) -> Slice>,
    /// Frees an error.
    pub error_destroy: Option<unsafe extern "C" fn(error: *mut ErrorHandle)>,
}

/// The entry symbol's type. It is pure and allocates nothing but keeps the host's table; it
/// returns null where it cannot serve the host's major version.
pub type QueryFunction =
    unsafe extern "C" fn(host_major: u32, host_minor: u32, host: *const HostTable) -> *const PluginTable;

/// What a plugin's `struct_size` must cover at least: all of minor version 0.
pub const REQUIRED_TABLE_SIZE: usize = offset_of!(PluginTable, error_destroy) + size_of::<usize>();

// SAFETY: tables are constants; the pointers in them are to constants and functions, and the
// contract allows slots to be called from any thread.
#[allow(unsafe_code)]
unsafe impl Sync for PluginTable {}

// SAFETY: as above; `context` is only handed back to the slots that the host itself wrote.
#[allow(unsafe_code)]
unsafe impl Sync for HostTable {}

/// Asserts at compile time that fields lie where version 1.0 put them, in units of a pointer.
macro_rules! offsets {
    ($table:ty: $($field:ident = $place:expr),+ $(,)?) => {
        $(const _: () = assert!(offset_of!($table, $field) == $place);)+
    };
}

const WORD: usize = size_of::<usize>();

offsets!(HostTable:
    struct_size = 0, extensions = WORD, abi_major = 2 * WORD, abi_minor = 2 * WORD + 4,
    context = 2 * WORD + 8, log = 3 * WORD + 8, progress = 4 * WORD + 8,
);
offsets!(PluginTable:
    struct_size = 0, extensions = WORD, abi_major = 2 * WORD, abi_minor = 2 * WORD + 4,
    name = 2 * WORD + 8, version = 3 * WORD + 8, architecture = 4 * WORD + 8,
    target_create = 5 * WORD + 8, target_destroy = 6 * WORD + 8, target_info = 7 * WORD + 8,
    resolve_family = 8 * WORD + 8, compile = 9 * WORD + 8, blob_bytes = 10 * WORD + 8,
    blob_destroy = 11 * WORD + 8, error_code = 12 * WORD + 8, error_message = 13 * WORD + 8,
    error_destroy = 14 * WORD + 8,
);
