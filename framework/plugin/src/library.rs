//! A plugin's library loaded in this process: opens it, checks its table, calls its functions.

#![allow(unsafe_code)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use libloading::os::unix::{self, RTLD_LOCAL, RTLD_NOW};

use super::abi::{
    ABI_MAJOR, ABI_MINOR, BlobHandle, ENTRY_SYMBOL, ErrorHandle, Extension, PIECE_TABLE_NAME, PieceTable, PluginTable,
    QueryFunction, REQUIRED_PIECE_TABLE_SIZE, REQUIRED_TABLE_SIZE, Slice, TargetHandle, TargetPieces,
};
use super::channel::{Call, Channel};
use super::devices::library::{Functions as DeviceFunctions, OpenDevices, find};
use super::extensions::find_extension;
use super::failure::SerializedError;
use super::load_error::LoadError;
use super::message::PluginInfo;
use super::open_target::OpenTarget;
use super::plugin_functions::{Functions, MOST_ITEMS, text};
use super::{image, listener, wire};

/// The flag `RTLD_DEEPBIND` of `dlopen`: the library's symbols bind to its own dependencies first. Without it, a host
/// that exports the symbols of another LLVM would interpose them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const DEEP_BIND: std::ffi::c_int = 8;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
const DEEP_BIND: std::ffi::c_int = 0;

/// Lock held while a plugin is opened or creates a target: initialisation (such as LLVM's target registry) is not
/// thread-safe, and plugins may share it.
static INITIALISATION: Mutex<()> = Mutex::new(());

/// An open plugin library; it is never closed, since its threads may outlive any handle.
pub(super) struct Library {
    file: PathBuf,
    functions: Arc<Functions>,
    target_pieces: Option<TargetPieces>,
    abi_minor: u32,
    targets: Mutex<HashMap<u64, Arc<OpenTarget>>>,
    /// The functions of the plugin's optional table `devices`, or the reason why they are missing.
    device_functions: Result<Arc<DeviceFunctions>, SerializedError>,
    devices: Mutex<HashMap<u64, Arc<OpenDevices>>>,
}

/// Returns the function of the optional table `pieces`; `None` if the plugin lacks the table or the table violates a
/// rule.
fn pieces(first: *const Extension) -> Option<TargetPieces> {
    let extension = find_extension(first, PIECE_TABLE_NAME, REQUIRED_PIECE_TABLE_SIZE).ok()??;
    // SAFETY: its size covers all fields of this version; an aligned extension is an aligned table.
    unsafe { extension.cast::<PieceTable>().read() }.target_pieces
}

/// Returns the absolute path of a library after a check that it may be opened.
pub(super) fn checked_path(file: &Path) -> Result<PathBuf, LoadError> {
    let file = fs::canonicalize(file).map_err(|_| LoadError::NotFound { file: file.to_owned() })?;
    let not_a_library = |message: String| LoadError::NotALibrary { file: file.clone(), message };
    let metadata = fs::metadata(&file).map_err(|error| not_a_library(error.to_string()))?;
    if !metadata.is_file() {
        return Err(not_a_library("it is not a file".to_owned()));
    }
    if super::manifest::world_writable(&metadata) {
        return Err(LoadError::WorldWritable { file });
    }
    Ok(file)
}

impl Library {
    /// Opens a plugin's library and checks its table.
    pub(super) fn open(file: &Path) -> Result<Self, LoadError> {
        let file = checked_path(file)?;
        image::check(&file).map_err(|message| LoadError::NotALibrary { file: file.clone(), message })?;
        let table = {
            let _alone = INITIALISATION.lock().unwrap_or_else(PoisonError::into_inner);
            Self::table(&file)?
        };
        let broken = |message| LoadError::Broken { file: file.clone(), message };
        let functions = Arc::new(Functions::of(&table).map_err(broken)?);
        // The lower version applies; this makes a difference from minor version 1 on.
        #[allow(clippy::unnecessary_min_or_max)]
        let abi_minor = table.abi_minor.min(ABI_MINOR);
        let device_functions = find(table.extensions);
        let target_pieces = pieces(table.extensions);
        Ok(Self {
            functions,
            target_pieces,
            abi_minor,
            targets: Mutex::default(),
            device_functions,
            devices: Mutex::default(),
            file,
        })
    }

    /// Opens the library and returns its table of functions.
    fn table(file: &Path) -> Result<PluginTable, LoadError> {
        let flags = RTLD_NOW | RTLD_LOCAL | DEEP_BIND;
        // SAFETY: opening runs the library's initialisers, as the user requested by naming or installing it; the file
        // passed all checks.
        let library = unsafe { unix::Library::open(Some(file), flags) }
            .map_err(|error| LoadError::NotALibrary { file: file.to_owned(), message: error.to_string() })?;
        // SAFETY: the symbol's type is part of the interface.
        let query = unsafe { library.get::<QueryFunction>(ENTRY_SYMBOL) }.map(|symbol| *symbol);
        // Never closed, even on errors: initialisers may have started threads.
        std::mem::forget(library);
        let query = query.map_err(|_| LoadError::NoEntry { file: file.to_owned() })?;
        // SAFETY: called as the interface requires; the host's table is a static.
        let table = unsafe { query(ABI_MAJOR, ABI_MINOR, &raw const listener::HOST_TABLE) };
        Self::checked_table(file, table)
    }

    /// Copies the plugin's table after checks of its size and version.
    fn checked_table(file: &Path, table: *const PluginTable) -> Result<PluginTable, LoadError> {
        let broken = |message: String| LoadError::Broken { file: file.to_owned(), message };
        if table.is_null() {
            return Err(LoadError::Version { file: file.to_owned(), found: None });
        }
        if !table.is_aligned() {
            return Err(broken("its table is not aligned".to_owned()));
        }
        // SAFETY: every table, of any version, begins with its size.
        let size = unsafe { (&raw const (*table).struct_size).read() };
        let covers_version = size >= std::mem::offset_of!(PluginTable, abi_minor) + size_of::<u32>();
        // SAFETY: `size` covers the field.
        let major = covers_version.then(|| unsafe { (&raw const (*table).abi_major).read() });
        match major {
            Some(major) if major != ABI_MAJOR => Err(LoadError::Version { file: file.to_owned(), found: Some(major) }),
            Some(_) if size >= REQUIRED_TABLE_SIZE => {
                // SAFETY: `size` covers all fields of this version.
                Ok(unsafe { table.read() })
            }
            _ => Err(broken(format!("its table is cut off: {size} bytes, where {REQUIRED_TABLE_SIZE} are needed"))),
        }
    }

    /// Reads the plugin's name, version and architectures.
    pub(super) fn info(&self) -> Result<PluginInfo, SerializedError> {
        // SAFETY: functions of a checked table, called as the interface requires; the texts live as long as the image,
        // and are copied immediately.
        let (name, version) =
            unsafe { (text("its name", (self.functions.name)())?, text("its version", (self.functions.version)())?) };
        let mut architectures = Vec::new();
        for index in 0..MOST_ITEMS {
            // SAFETY: as above.
            let slice = unsafe { (self.functions.architecture)(index) };
            if slice.length == 0 {
                break;
            }
            architectures.push(text("an architecture", slice)?);
        }
        if architectures.len() == MOST_ITEMS as usize {
            return Err(SerializedError::internal("it lists architectures without end"));
        }
        if name.is_empty() || architectures.is_empty() {
            return Err(SerializedError::internal(
                "it names no architectures, or not itself: no targets are registered in it",
            ));
        }
        Ok(PluginInfo { name, version, abi_minor: self.abi_minor, architectures })
    }

    fn create(&self, target: u64, description: &[u8]) -> Result<Vec<u8>, SerializedError> {
        let mut handle = std::ptr::null_mut();
        let error = {
            let _alone = INITIALISATION.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: a function of a checked table, called as the interface requires.
            unsafe { (self.functions.target_create)(Slice::of(description), &raw mut handle) }
        };
        self.functions.outcome(error)?;
        if handle.is_null() {
            return Err(SerializedError::internal("it gave neither a target nor an error"));
        }
        let opened = OpenTarget { functions: Arc::clone(&self.functions), handle };
        self.targets.lock().unwrap_or_else(PoisonError::into_inner).insert(target, Arc::new(opened));
        Ok(Vec::new())
    }

    fn target(&self, target: u64) -> Result<Arc<OpenTarget>, SerializedError> {
        let targets = self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        targets.get(&target).cloned().ok_or_else(|| SerializedError::internal(format!("there is no target {target}")))
    }

    /// Calls a function of the plugin's table, which returns a blob, on the target with the number `target`; returns
    /// the bytes of the blob.
    fn blob(
        &self,
        target: u64,
        function: impl FnOnce(&Functions, *const TargetHandle, *mut *mut BlobHandle) -> *mut ErrorHandle,
    ) -> Result<Vec<u8>, SerializedError> {
        let target = self.target(target)?;
        self.functions.blob(|out| function(&self.functions, target.handle, out))
    }

    fn open_devices(&self, target: u64, devices: u64) -> Result<Vec<u8>, SerializedError> {
        let functions = self.device_functions.clone()?;
        let (opened, names) = OpenDevices::open(functions, self.target(target)?)?;
        self.devices.lock().unwrap_or_else(PoisonError::into_inner).insert(devices, Arc::new(opened));
        Ok(names)
    }

    fn devices(&self, devices: u64) -> Result<Arc<OpenDevices>, SerializedError> {
        let all = self.devices.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&devices).cloned().ok_or_else(|| SerializedError::internal(format!("there are no devices {devices}")))
    }
}

impl Channel for Library {
    fn file(&self) -> &Path {
        &self.file
    }

    fn call(&self, call: Call) -> Result<Vec<u8>, SerializedError> {
        // SAFETY of the calls below: functions of a checked table, called on live handles with slices that outlive the
        // call.
        match &call {
            Call::Describe => {
                wire::serialize_message(&self.info()?).map_err(|error| SerializedError::internal(error.to_string()))
            }
            Call::Create { target, description } => self.create(*target, description),
            Call::Destroy { target } => {
                self.targets.lock().unwrap_or_else(PoisonError::into_inner).remove(target);
                Ok(Vec::new())
            }
            Call::Info { target, request } => self.blob(*target, |functions, handle, out| match self.target_pieces {
                Some(pieces) => unsafe { pieces(handle, Slice::of(request), out) },
                None => unsafe { (functions.target_info)(handle, out) },
            }),
            Call::Resolve { target, request } => self.blob(*target, |functions, handle, out| unsafe {
                (functions.resolve_family)(handle, Slice::of(request), out)
            }),
            Call::Compile { target, module, options } => self.blob(*target, |functions, handle, out| unsafe {
                (functions.compile)(handle, Slice::of(module), Slice::of(options), out)
            }),
            Call::OpenDevices { target, devices } => self.open_devices(*target, *devices),
            Call::CloseDevices { devices } => {
                self.devices.lock().unwrap_or_else(PoisonError::into_inner).remove(devices);
                Ok(Vec::new())
            }
            Call::Device { devices, device, call } => self.devices(*devices)?.call(*device, call),
        }
    }
}
