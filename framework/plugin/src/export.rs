//! The plugin's side of the boundary: the entry symbol and the C functions of the plugin's table.
//!
//! The functions serve the target factories that are registered in this shared library or program. They catch panics
//! and return them as errors, so that nothing unwinds across the boundary.

#![allow(unsafe_code)]

use super::abi::{
    ABI_MAJOR, ABI_MINOR, BlobHandle, DeviceTable, ErrorHandle, Extension, HostTable, PIECE_TABLE_NAME, PieceTable,
    PluginTable, Slice, TargetHandle,
};
use super::bytes::read_slice;
use super::devices;
use super::exported_handles::{Served, drop_handle, return_handle, target_of_handle};
use super::factory::TargetFactory;
use super::failure::{ErrorCode, SerializedError};
use super::listener::keep_host;
use super::message::{self, FamilyAnswer, FamilyRequest, Piece, PieceRequest, TargetInfo};
use super::wire;
use crate::Target;
use tilewright_kernel as kernel;
use tilewright_layout::FamilyProviders;
use tilewright_layout::families::NeutralFamilies;

/// Exports the targets that a library crate registers as a plugin. Call it once, in a crate of type `cdylib` with no
/// other content, with the name of the library crate.
///
/// ```text
/// tilewright::export_plugin!(acme_targets);
/// ```
///
/// Without a name it exports the targets of the crate itself, for a plugin of a single crate. Only that crate's own
/// tests may link it, since one library or program cannot have the entry symbol twice.
#[macro_export]
macro_rules! export_plugin {
    ($library:ident) => {
        // An unreferenced library would be left out of the image together with its registrations.
        #[allow(unused_extern_crates)]
        extern crate $library as _;
        $crate::export_plugin!();
    };
    () => {
        /// The entry symbol of the plugin; see `tilewright_plugin.h`.
        ///
        /// # Safety
        /// `host` must be null or point to a host table that lives until the process ends.
        #[allow(unsafe_code)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn tilewright_plugin_query(
            host_major: u32,
            host_minor: u32,
            host: *const $crate::abi::HostTable,
        ) -> *const $crate::abi::PluginTable {
            // SAFETY: passed on with the same contract.
            unsafe { $crate::connect_plugin_to_host(host_major, host_minor, host) }
        }
    };
}

/// The head of the chain of optional tables (devices, then pieces) that every plugin exported with `export_plugin!`
/// has.
static DEVICE_TABLE: DeviceTable = devices::serve::table(&PIECE_TABLE);
static PIECE_TABLE: PieceTable = PieceTable {
    extension: Extension {
        struct_size: size_of::<PieceTable>(),
        next: std::ptr::null(),
        name: Slice::of(PIECE_TABLE_NAME.as_bytes()),
    },
    target_pieces: Some(target_pieces),
};

static TABLE: PluginTable = PluginTable {
    struct_size: size_of::<PluginTable>(),
    extensions: &raw const DEVICE_TABLE.extension,
    abi_major: ABI_MAJOR,
    abi_minor: ABI_MINOR,
    name: Some(name),
    version: Some(version),
    architecture: Some(architecture),
    target_create: Some(target_create),
    target_destroy: Some(target_destroy),
    target_info: Some(target_info),
    resolve_family: Some(resolve_family),
    compile: Some(compile),
    blob_bytes: Some(blob_bytes),
    blob_destroy: Some(blob_destroy),
    error_code: Some(error_code),
    error_message: Some(error_message),
    error_destroy: Some(error_destroy),
};

/// The implementation of the entry symbol from [`export_plugin!`](crate::export_plugin).
///
/// # Safety
/// `host` must be null or point to a host table that lives until the process ends.
#[must_use]
pub unsafe fn connect_plugin_to_host(host_major: u32, _host_minor: u32, host: *const HostTable) -> *const PluginTable {
    if host_major != ABI_MAJOR {
        return std::ptr::null();
    }
    // SAFETY: not null, and every host's table begins with its size.
    let covered = !host.is_null() && unsafe { (&raw const (*host).struct_size).read() } >= size_of::<HostTable>();
    if covered {
        keep_host(host);
    }
    &raw const TABLE
}

extern "C" fn name() -> Slice {
    TargetFactory::all().next().map_or(Slice::EMPTY, |factory| Slice::of(factory.plugin.as_bytes()))
}

extern "C" fn version() -> Slice {
    TargetFactory::all().next().map_or(Slice::EMPTY, |factory| Slice::of(factory.version.as_bytes()))
}

extern "C" fn architecture(index: u32) -> Slice {
    let mut all = TargetFactory::all().flat_map(|factory| factory.architectures);
    all.nth(index as usize).map_or(Slice::EMPTY, |name| Slice::of(name.as_bytes()))
}

unsafe extern "C" fn target_create(description: Slice, out: *mut *mut TargetHandle) -> *mut ErrorHandle {
    let work = || {
        let description = message::read_description(read_slice(description)?)
            .map_err(|error| SerializedError::malformed("the target description", &error))?;
        let factory = TargetFactory::find(&description.architecture)
            .ok_or_else(|| SerializedError::new(ErrorCode::ARCHITECTURE, [description.architecture.as_str()]))?;
        Ok(Served((factory.create)(description)?))
    };
    // SAFETY: the host's contract.
    unsafe { return_handle(out, work) }
}

unsafe extern "C" fn target_destroy(target: *mut TargetHandle) {
    // SAFETY: the host's contract.
    unsafe { drop_handle(target.cast::<Served>()) }
}

unsafe extern "C" fn target_info(target: *const TargetHandle, out: *mut *mut BlobHandle) -> *mut ErrorHandle {
    // SAFETY: the host's contract.
    unsafe { return_handle(out, || info_bytes(target_of_handle(target)?)) }
}

unsafe extern "C" fn target_pieces(
    target: *const TargetHandle,
    request: Slice,
    out: *mut *mut BlobHandle,
) -> *mut ErrorHandle {
    // SAFETY: the host's contract.
    unsafe { return_handle(out, || pieces_bytes(target_of_handle(target)?, read_slice(request)?)) }
}

unsafe extern "C" fn resolve_family(
    target: *const TargetHandle,
    request: Slice,
    out: *mut *mut BlobHandle,
) -> *mut ErrorHandle {
    // SAFETY: the host's contract.
    unsafe { return_handle(out, || family_bytes(target_of_handle(target)?, read_slice(request)?)) }
}

unsafe extern "C" fn compile(
    target: *const TargetHandle,
    module: Slice,
    options: Slice,
    out: *mut *mut BlobHandle,
) -> *mut ErrorHandle {
    // SAFETY: the host's contract.
    unsafe {
        return_handle(out, || artifact_bytes(target_of_handle(target)?, read_slice(module)?, read_slice(options)?))
    }
}

fn info_bytes(target: &dyn Target) -> Result<Vec<u8>, SerializedError> {
    written("the target's families and instructions", &TargetInfo::of(target, &Piece::ALL)?)
}

fn pieces_bytes(target: &dyn Target, request: &[u8]) -> Result<Vec<u8>, SerializedError> {
    let PieceRequest { pieces } =
        message::read_pieces(request).map_err(|error| SerializedError::malformed("the names of pieces", &error))?;
    written("the target's pieces", &TargetInfo::of(target, &pieces)?)
}

fn family_bytes(target: &dyn Target, request: &[u8]) -> Result<Vec<u8>, SerializedError> {
    let request: FamilyRequest = wire::deserialize_message(request)
        .map_err(|error| SerializedError::malformed("the layout family request", &error))?;
    // A parent layout is of the target's own families or neutral: the plugin's side has no others.
    let all = FamilyProviders::new(vec![target.families(), &NeutralFamilies]);
    let layout = target.families().resolve(&request.spec, &request.shape, &all)?;
    written("the layout", &FamilyAnswer { layout })
}

fn artifact_bytes(target: &dyn Target, module: &[u8], options: &[u8]) -> Result<Vec<u8>, SerializedError> {
    let module = kernel::decode_module(module)?;
    let options =
        message::read_options(options).map_err(|error| SerializedError::malformed("the compile options", &error))?;
    written("the compiled code", &target.compile(&module, &options)?)
}

fn written<T: serde::Serialize>(what: &str, value: &T) -> Result<Vec<u8>, SerializedError> {
    wire::serialize_message(value).map_err(|error| SerializedError::internal(format!("{what} cannot be sent: {error}")))
}

unsafe extern "C" fn blob_bytes(blob: *const BlobHandle) -> Slice {
    // SAFETY: the host's contract; every blob is a `Vec<u8>`.
    unsafe { blob.cast::<Vec<u8>>().as_ref() }.map_or(Slice::EMPTY, |bytes| Slice::of(bytes))
}

unsafe extern "C" fn blob_destroy(blob: *mut BlobHandle) {
    // SAFETY: the host's contract.
    unsafe { drop_handle(blob.cast::<Vec<u8>>()) }
}

unsafe extern "C" fn error_code(error: *const ErrorHandle) -> u32 {
    // SAFETY: the host's contract; every error is a `Failure`.
    unsafe { error.cast::<SerializedError>().as_ref() }.map_or(0, |failure| failure.code.0)
}

unsafe extern "C" fn error_message(error: *const ErrorHandle, index: u32) -> Slice {
    // SAFETY: the host's contract.
    let failure = unsafe { error.cast::<SerializedError>().as_ref() };
    let message = failure.and_then(|failure| failure.chain.get(index as usize));
    message.map_or(Slice::EMPTY, |message| Slice::of(message.as_bytes()))
}

unsafe extern "C" fn error_destroy(error: *mut ErrorHandle) {
    // SAFETY: the host's contract.
    unsafe { drop_handle(error.cast::<SerializedError>()) }
}
