//! The tables of functions that a host and a plugin pass to each other.

use std::ffi::c_void;
use std::mem::{offset_of, size_of};

use super::handles::{BlobHandle, ErrorHandle, Extension, Slice, TargetHandle};

include!("../version.rs");

/// Name of the single symbol that a plugin exports.
pub const ENTRY_SYMBOL: &str = "tilewright_plugin_query";

/// The functions that a host passes to a plugin. The table lives until the process ends; any thread may call its
/// functions.
#[repr(C)]
#[derive(Debug)]
pub struct HostTable {
    /// Size of the struct in bytes.
    pub struct_size: usize,
    /// First optional table of the chain, or null.
    pub extensions: *const Extension,
    /// Major version of the interface that the host was built with ([`ABI_MAJOR`]).
    pub abi_major: u32,
    /// Minor version of the interface that the host was built with ([`ABI_MINOR`]).
    pub abi_minor: u32,
    /// Opaque pointer that the plugin passes unchanged to every function of this table.
    pub context: *mut c_void,
    /// Receives a log message. `level` is a number of [`LogLevel`](crate::LogLevel); an unknown one counts as the least
    /// severe.
    pub log: Option<unsafe extern "C" fn(context: *mut c_void, level: u32, message: Slice)>,
    /// Receives the progress of a long call: `done` of `total` items are finished, and the text `what` names the items.
    /// A `total` of zero means unknown.
    pub progress: Option<unsafe extern "C" fn(context: *mut c_void, done: u64, total: u64, what: Slice)>,
}

/// The table of a plugin's functions, a constant in the plugin's shared library.
///
/// A function that returns an [`ErrorHandle`] returns null on success, after it has written its result to `out`; on
/// failure it leaves `out` unwritten.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PluginTable {
    /// Size of the struct in bytes.
    pub struct_size: usize,
    /// First optional table of the chain, or null.
    pub extensions: *const Extension,
    /// Major version of the interface that the plugin was built with ([`ABI_MAJOR`]).
    pub abi_major: u32,
    /// Minor version of the interface that the plugin was built with ([`ABI_MINOR`]).
    pub abi_minor: u32,
    /// Returns the plugin's name, UTF-8, valid as long as the library is loaded.
    pub name: Option<unsafe extern "C" fn() -> Slice>,
    /// Returns the plugin's version, UTF-8, valid as long as the library is loaded.
    pub version: Option<unsafe extern "C" fn() -> Slice>,
    /// Returns the name of the plugin's architecture number `index`; empty past the last one.
    pub architecture: Option<unsafe extern "C" fn(index: u32) -> Slice>,
    /// Creates a target (one GPU model) from its serialized description. The host serialises calls.
    pub target_create:
        Option<unsafe extern "C" fn(description: Slice, out: *mut *mut TargetHandle) -> *mut ErrorHandle>,
    /// Destroys a target, when no other call on the target is running or follows.
    pub target_destroy: Option<unsafe extern "C" fn(target: *mut TargetHandle)>,
    /// Returns the target's tables: its layout families, with sample layouts and attribute syntaxes, and its
    /// instructions.
    pub target_info:
        Option<unsafe extern "C" fn(target: *const TargetHandle, out: *mut *mut BlobHandle) -> *mut ErrorHandle>,
    /// Returns the layout that a family (a named constructor of layouts, such as `blocked`) gives for parameters and a
    /// shape.
    pub resolve_family: Option<
        unsafe extern "C" fn(
            target: *const TargetHandle,
            request: Slice,
            out: *mut *mut BlobHandle,
        ) -> *mut ErrorHandle,
    >,
    /// Compiles a module of kernels (encoded kernel IR) with serialised [`CompileOptions`](crate::CompileOptions);
    /// returns a serialised [`Artifact`](crate::Artifact).
    pub compile: Option<
        unsafe extern "C" fn(
            target: *const TargetHandle,
            module: Slice,
            options: Slice,
            out: *mut *mut BlobHandle,
        ) -> *mut ErrorHandle,
    >,
    /// Returns the bytes of a blob, valid until the blob is destroyed.
    pub blob_bytes: Option<unsafe extern "C" fn(blob: *const BlobHandle) -> Slice>,
    /// Frees a blob.
    pub blob_destroy: Option<unsafe extern "C" fn(blob: *mut BlobHandle)>,
    /// Returns the kind of an error, a number of [`ErrorCode`](crate::ErrorCode).
    pub error_code: Option<unsafe extern "C" fn(error: *const ErrorHandle) -> u32>,
    /// Returns message number `index` of an error's chain, outermost first, UTF-8, valid until the error is destroyed;
    /// empty past the last one.
    pub error_message: Option<unsafe extern "C" fn(error: *const ErrorHandle, index: u32) -> Slice>,
    /// Frees an error.
    pub error_destroy: Option<unsafe extern "C" fn(error: *mut ErrorHandle)>,
}

/// The type of the function [`ENTRY_SYMBOL`], which returns the plugin's table, or null if the plugin cannot serve the
/// host's major version. The function allocates nothing and has no effect except that it keeps the pointer to the
/// host's table.
pub type QueryFunction =
    unsafe extern "C" fn(host_major: u32, host_minor: u32, host: *const HostTable) -> *const PluginTable;

/// The least valid `struct_size` of a plugin's table, in bytes: all fields of minor version 0.
pub const REQUIRED_TABLE_SIZE: usize = offset_of!(PluginTable, error_destroy) + size_of::<usize>();

// SAFETY: tables are constants with pointers to constants and functions, and the contract allows calls of the functions
// from any thread.
#[allow(unsafe_code)]
unsafe impl Sync for PluginTable {}

// SAFETY: as above; `context` is only passed to functions of the host that wrote it.
#[allow(unsafe_code)]
unsafe impl Sync for HostTable {}

/// Asserts at compile time that fields keep their offsets of version 1.0, in units of a pointer.
macro_rules! offsets {
    ($table:ty: $($field:ident = $expected:expr),+ $(,)?) => {
        $(const _: () = assert!(offset_of!($table, $field) == $expected);)+
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
